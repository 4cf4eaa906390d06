// Package golive runs the live tests that ship with the Go SDK against the built binary: the SDK's authors' own idea of
// how the service behaves. The tests are taken from the module cache and not changed; they need a namespace of the
// Standard tier, one of the Premium tier, policies and an identity, and get all of it through their environment.
//
//	MINIBUS_COMPAT=all go test ./compat-tests/golive
//	MINIBUS_COMPAT=all go test ./compat-tests/golive -run 'TestGoSDK/admin/TestAdminClient_UpdateQueue'
//
// What does not pass stands in docs/sdk-tests.md with its reason. Whatever else fails or is skipped is an error, and so is
// a line there that has become untrue.
package golive

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

const (
	// workers is how many tests run at once. Most of them wait: for locks to expire, for retries of the SDK.
	workers = 10
	// testTime is more than the slowest test takes.
	testTime = 4 * time.Minute
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "10"); err != nil {
		panic(err) // the flag is the testing package's
	}
	code := m.Run()
	harness.Cleanup()
	os.Exit(code)
}

// TestGoSDK runs every test of every package of the SDK in a process of its own, so that a panic costs one test.
func TestGoSDK(t *testing.T) {
	if os.Getenv("MINIBUS_COMPAT") != "all" {
		t.Skip("set MINIBUS_COMPAT=all to run the Go SDK's own tests")
	}
	suites := buildSuites(t)
	known := readExceptions(t)
	free := make(chan *namespaces, workers)
	cli := azureCLI(t)
	for range workers {
		free <- startNamespaces(t, cli)
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			for _, test := range s.tests {
				t.Run(test, func(t *testing.T) {
					t.Parallel()
					n := <-free
					defer func() { free <- n }()
					runTest(t, s, test, known.of(s.name, test), n)
				})
			}
		})
	}
	reportMissing(t, suites, known)
}

// runTest runs one test of the SDK and compares what did not pass with what is known not to.
func runTest(t *testing.T, s suite, test string, known []string, n *namespaces) {
	t.Helper()
	before := len(n.standard.Log())
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, "-test.v", "-test.run", "^"+test+"$")
	cmd.Dir, cmd.Env = s.dir, n.environment
	output, err := cmd.CombinedOutput()
	status, err := exitStatus(err)
	if err != nil {
		t.Fatal(err)
	}
	got := parseResult(test, string(output), status).notPassed()
	unexpected := false
	for _, name := range got {
		if !slices.Contains(known, name) {
			unexpected = true
			t.Errorf("%s did not pass", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(got, name) {
			t.Errorf("%s passes: take it out of %s", name, exceptionsFile)
		}
	}
	if unexpected {
		t.Logf("its output:\n%s\nlog of minibus meanwhile:\n%s", output, n.standard.Log()[before:])
	}
}

// reportMissing finds exceptions for tests that the SDK does not have.
func reportMissing(t *testing.T, suites []suite, known exceptions) {
	t.Helper()
	for _, s := range suites {
		for _, test := range s.tests {
			for _, name := range known.of(s.name, test) {
				delete(known, s.name+" "+name)
			}
		}
	}
	for key := range known {
		t.Errorf("%s: the SDK has no test %s", exceptionsFile, key)
	}
}
