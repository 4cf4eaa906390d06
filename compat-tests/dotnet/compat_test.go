// Package dotnet runs the suite of the .NET SDK, whose sources are beside this file, against the built binary.
package dotnet

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// program is the suite, compiled.
type program struct {
	path    string
	current bool // it is made of these sources, not of earlier ones
}

// suite returns the program. MINIBUS_DOTNET_SDK names one. Without it the sources are built where .NET is installed, and
// elsewhere the program beside the repository is taken.
func suite(t *testing.T) program {
	t.Helper()
	harness.NeedAll(t, "to run the .NET clients")
	if path := os.Getenv("MINIBUS_DOTNET_SDK"); path != "" {
		return program{path: existing(t, path)}
	}
	if dotnet, err := exec.LookPath("dotnet"); err == nil {
		return program{build(t, dotnet), true}
	}
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return program{path: existing(t, filepath.Join(root, "..", "shared", "dotnet-sdk", "dotnet-sdk"))}
}

func existing(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no .NET, and no suite of its SDK: %v", err)
	}
	return path
}

// build compiles the sources. It needs the .NET SDK 10 and the package registry.
func build(t *testing.T, dotnet string) string {
	t.Helper()
	out := t.TempDir()
	if text, err := exec.Command(dotnet, "publish", "-c", "Release", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("build the suite: %v\n%s", err, text)
	}
	return filepath.Join(out, "dotnet-sdk"+harness.Exe)
}

// checked are the flags of a server that checks tokens.
var checked = []string{"--auth", "sas", "--root-key", "SAS_KEY_VALUE"}

// mended are tests that could fail without a fault in earlier sources, and can't in these.
var mended = []string{
	"The_lock_is_renewed_while_the_handler_works",              // allowed 7.5 s for a renewal, and allows 15
	"Two_receivers_share_a_queue_and_no_message_comes_twice",   // one could take all before the other was connected
	"A_link_ends_with_its_token_and_comes_back_with_a_new_one", // a send could meet the end of its link
	// The SDK could release messages that came just after a receive, so that others came first.
	"Five_hundred_sends_at_once_are_received_each_once_and_in_order",
}

var (
	failed = regexp.MustCompile(`(?m)^failed (\w+)`)
	// Earlier sources gave a test 30 seconds; in these it has two minutes.
	timedOut = regexp.MustCompile(`TimeoutException: Test '(\w+)' timed out after 00:00:30`)
)

// run runs the suite, or the part of it that the filter names, against a server with these flags that can be restarted.
// It returns what the suite printed. In a program of earlier sources, those that fail of the mended tests, or for want of
// time, run once more.
func (p program) run(t *testing.T, serverArgs, environ []string, filter string) string {
	t.Helper()
	dir := t.TempDir()
	c := harness.StartControlled(t, harness.Options{CADir: dir, Args: serverArgs})
	environ = slices.Concat(c.Server().Environ(), c.Environ(), environ, []string{"SSL_CERT_FILE=" + c.Server().CA()})
	args := []string{"--progress", "off", "--no-ansi", "--output", "Detailed", "--results-directory", dir, "--treenode-filter"}
	out, err := harness.Output(environ, p.path, append(args, filter)...)
	t.Log(out)
	if err == nil {
		return out
	}
	failures := failed.FindAllStringSubmatch(out, -1)
	again := slices.Clone(mended)
	for _, f := range timedOut.FindAllStringSubmatch(out, -1) {
		again = append(again, f[1])
	}
	unknown := slices.ContainsFunc(failures, func(f []string) bool { return !slices.Contains(again, f[1]) })
	if p.current || unknown || len(failures) == 0 {
		t.Error(err)
		return out
	}
	for _, f := range failures {
		out += harness.Run(t, environ, p.path, append(args, "/*/*/*/"+f[1])...)
	}
	return out
}

// everything is the filter for all tests. Where the namespace under test is not the only one, it leaves out the test with a
// host that names none.
func everything() string {
	if os.Getenv("MINIBUS_COMPAT_NAMESPACE") != "" {
		return "/*/*/*/(!The_namespaces_own_name*)"
	}
	return "/**"
}

// TestDotNetSDK drives Azure.Messaging.ServiceBus. Two more servers run beside the one that has everything that
// the suite asks for: one that checks no tokens, as that of a user who sets nothing, and one for the renewal of a
// token, which takes minutes of waiting.
func TestDotNetSDK(t *testing.T) {
	sdk := suite(t)
	checks := []string{"MINIBUS_CHECKS_TOKENS=1"}
	t.Run("Everything", func(t *testing.T) {
		t.Parallel()
		t.Cleanup(harness.Lock443(t))
		noteFurther(t, sdk.run(t, append([]string{"--extra-ports", "443"}, checked...), checks, everything()))
	})
	t.Run("TokensUnchecked", func(t *testing.T) {
		t.Parallel()
		sdk.run(t, nil, nil, "/*/*/CredentialTests/*")
	})
	t.Run("Renewal", func(t *testing.T) {
		t.Parallel()
		sdk.run(t, checked, append(checks, "MINIBUS_NIGHTLY=1"), "/*/*/CredentialTests/A_token_is_renewed*")
	})
}
