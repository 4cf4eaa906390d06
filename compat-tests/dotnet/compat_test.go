// Package dotnet runs the suite of the .NET SDK, whose sources are beside this file, against the built binary.
package dotnet

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// suite returns the path of the suite as a program. MINIBUS_DOTNET_SDK names one. Without it the sources are built
// where .NET is installed, and elsewhere the program beside the repository is taken.
func suite(t *testing.T) string {
	t.Helper()
	harness.NeedAll(t, "to run the .NET clients")
	if path := os.Getenv("MINIBUS_DOTNET_SDK"); path != "" {
		return existing(t, path)
	}
	if dotnet, err := exec.LookPath("dotnet"); err == nil {
		return build(t, dotnet)
	}
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return existing(t, filepath.Join(root, "..", "shared", "dotnet-sdk", "dotnet-sdk"))
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

// run runs the suite, or the part of it that the filter names, against a server with these flags that can be
// restarted. It returns what the suite printed.
func run(t *testing.T, program string, serverArgs, environ []string, filter string) string {
	t.Helper()
	dir := t.TempDir()
	c := harness.StartControlled(t, harness.Options{CADir: dir, Args: serverArgs})
	environ = slices.Concat(c.Server().Environ(), c.Environ(), environ, []string{"SSL_CERT_FILE=" + c.Server().CA()})
	return harness.Run(t, environ, program,
		"--progress", "off", "--no-ansi", "--output", "Detailed", "--results-directory", dir, "--treenode-filter", filter)
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
	program := suite(t)
	checks := []string{"MINIBUS_CHECKS_TOKENS=1"}
	t.Run("Everything", func(t *testing.T) {
		t.Parallel()
		t.Cleanup(harness.Lock443(t))
		noteFurther(t, run(t, program, append([]string{"--extra-ports", "443"}, checked...), checks, everything()))
	})
	t.Run("TokensUnchecked", func(t *testing.T) {
		t.Parallel()
		run(t, program, nil, nil, "/*/*/CredentialTests/*")
	})
	t.Run("Renewal", func(t *testing.T) {
		t.Parallel()
		run(t, program, checked, append(checks, "MINIBUS_NIGHTLY=1"), "/*/*/CredentialTests/A_token_is_renewed*")
	})
}
