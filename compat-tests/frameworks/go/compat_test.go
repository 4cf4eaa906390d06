// Package gofw runs Go frameworks that build on Service Bus against the built binary. Each has a directory and a Go module of its own: this
// package compiles its tests there and tells them where Minibus is.
package gofw

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// shop has the entities of the programs: a topic with one subscription.
func shop(t *testing.T) *harness.Server {
	t.Helper()
	config := harness.WriteTopology(t,
		nil,
		[]harness.Topic{{Name: "orders", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "billing"}}}}})
	return harness.Start(t, harness.Options{Config: config, CADir: t.TempDir()})
}

// settings are the variables that docs/go.md tells users to set.
func settings(s *harness.Server) []string {
	return []string{"SERVICEBUS_CONNECTION_STRING=" + s.ConnectionString(), "SSL_CERT_FILE=" + s.CA()}
}

// alone are variables for the go command in a module that belongs to no workspace.
var alone = []string{"GOWORK=off", harness.GoFlags("-mod=readonly")}

// goTest runs tests of the module in dir and returns what they print. It does not vet other people's code, which takes a minute.
func goTest(t *testing.T, environ []string, dir string, args ...string) string {
	t.Helper()
	return harness.Run(t, append(environ, alone...), "go", append([]string{"-C", dir, "test", "-count=1", "-vet=off", "-v"}, args...)...)
}

// goTool runs the go command in the module in dir and returns what it prints. It may take long: it may compile much.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), alone...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out)
}

// TestGoCloud runs a program that uses gocloud.dev/pubsub.
func TestGoCloud(t *testing.T) {
	harness.NeedAll(t, "to run Go frameworks")
	goTest(t, settings(shop(t)), "gocloud", ".")
}

// TestGoCloudConformance runs the tests that the framework's authors run against Azure, for both modes of receiving. They make their own
// entities. One skips itself: a message that is deleted when it is received can't be given back.
func TestGoCloudConformance(t *testing.T) {
	harness.NeedAll(t, "to run Go frameworks")
	out := goTest(t, settings(shop(t)), "gocloud", "gocloud.dev/pubsub/azuresb", "-run", "TestConformance", "-record")
	if skipped := verdicts(out, "SKIP"); !slices.Equal(skipped, []string{"TestConformanceWithAutodelete/TestNack"}) {
		t.Errorf("skipped: %q", skipped)
	}
	if passed := verdicts(out, "PASS"); len(passed) < 33 {
		t.Errorf("%d tests passed, want at least 33: %q", len(passed), passed)
	}
}

// verdicts returns the tests of a go test's output that ended so.
func verdicts(output, verdict string) []string {
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^\s*--- `+verdict+`: (\S+)`).FindAllStringSubmatch(output, -1) {
		names = append(names, match[1])
	}
	return names
}
