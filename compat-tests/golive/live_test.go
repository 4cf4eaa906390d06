// Package golive runs the live tests of the Go SDK against the built binary: they show how the SDK's authors expect
// the service to behave. The tests come from the module cache, unchanged. They need a namespace of the
// Standard tier, one of the Premium tier, policies and an identity, and get all of it through their environment.
//
//	MINIBUS_COMPAT=all go test ./compat-tests/golive
//	MINIBUS_COMPAT=all go test ./compat-tests/golive -run 'TestGoSDK/admin/TestAdminClient_UpdateQueue'
//
// CONTRIBUTING.md lists the tests that do not pass, with reasons. Any other failed or skipped test is an error, and so is
// an untrue line there.
package golive

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

const (
	// workers is how many tests run at once. Most of them wait: for locks to expire, for retries of the SDK.
	workers = 10
	// testTime is longer than the slowest test takes.
	testTime = 4 * time.Minute
)

// policyTests lists the tests about what a key may not do. They run against servers that check tokens; all others run against servers
// that accept any, since they come with an identity.
var policyTests = map[string]bool{
	"TestAdminClient_LackPermissions_Queue": true, "TestAdminClient_LackPermissions_Subscription": true,
	"TestAdminClient_LackPermissions_Topic": true, "TestClientUnauthorizedCreds": true, "TestReceiverUnauthorizedCreds": true,
	"TestNewClientUsingSharedAccessSignature": true,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == delayTransfers {
		fmt.Fprintln(os.Stderr, runInjector(os.Args[2:]))
		os.Exit(1)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(workers)); err != nil {
		panic(err) // the flag is the testing package's
	}
	harness.Main(m)
}

// TestGoSDK runs every test of every package of the SDK in its own process, so that a panic costs one test.
func TestGoSDK(t *testing.T) {
	harness.NeedAll(t, "to run the Go SDK's own tests")
	suites := buildSuites(t)
	l := &lab{known: readExceptions(t), identity: managedIdentity(t), free: make(chan *namespaces, workers)}
	for range workers {
		l.free <- startNamespaces(t, l.identity, "any")
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			for _, test := range s.tests {
				t.Run(test, func(t *testing.T) {
					t.Parallel()
					l.run(t, s, test)
				})
			}
		})
	}
	reportMissing(t, suites, l.known)
}

// lab holds what the tests share.
type lab struct {
	known    exceptions
	identity []string         // variables that lead to an identity
	free     chan *namespaces // namespaces that no test is using
}

// run runs one test of the SDK and compares the result with the known exceptions.
func (l *lab) run(t *testing.T, s suite, test string) {
	binary := s.binary
	var n *namespaces
	if policyTests[test] {
		n, binary = startNamespaces(t, l.identity, "sas"), cmp.Or(s.keyed, binary)
	} else {
		n = <-l.free
		defer func() { l.free <- n }()
	}
	before := len(n.standard.Log())
	output, r := execute(t, binary, s.dir, test, n.environment)
	known, got := l.known.of(s.name, test), r.notPassed()
	for _, name := range known {
		if !slices.Contains(got, name) && !l.known.mayPass(s.name, name) {
			t.Errorf("%s passes: take it out of %s", name, exceptionsFile)
		}
	}
	got = slices.DeleteFunc(got, func(name string) bool { return slices.Contains(known, name) })
	if len(got) > 0 {
		t.Errorf("did not pass: %s\n%s\nlog of minibus meanwhile:\n%s", strings.Join(got, ", "), output, n.standard.Log()[before:])
	}
}

// execute runs one test in its own process.
func execute(t *testing.T, binary, dir, test string, environment []string) (string, result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run", "^"+test+"$")
	cmd.Dir, cmd.Env = dir, environment
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run the SDK's test: %v", err)
	}
	return string(output), parseResult(test, string(output), err == nil)
}

// reportMissing reports exceptions for tests that the SDK does not have.
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
