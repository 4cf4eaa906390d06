// Package oldest runs the suite of compat-tests/go with the oldest release of the SDK that knows the emulator's flag.
package oldest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// release is the oldest one. It takes the flag with the host localhost only; 1.7.1 takes any host.
const release = "v1.7.0"

const patience = 15 * time.Minute

const (
	noToken = "the release settles by the received message, not by its lock token alone"
	nothing = "the first receive after the deletion returns nothing, without an error"
)

// without lists the tests that the release can't pass, with reasons.
var without = map[string]string{
	"TestLOCK7_SecondSettlementIsLockLost":         noToken,
	"TestLOCK9_LOCK11_SettleFromAnotherConnection": noToken,
	"TestLOCK10_DC9_LockOutlivesItsLink":           noToken,
	"TestERR_TheQueueOfAReceiverIsDeleted":         nothing,
}

// tries is how often a test may fail less once. A receive of this release that ends without a message leaves a goroutine behind, which releases
// messages that come later. The next receive stops it, in the middle of a release too: then the message stays locked for the whole lock, and a
// test that expects it fails. That takes a message right between the two, one time in about fifteen.
const tries = 3

// run runs the tests that need no server of their own: those that compat-tests/verify runs in any namespace, and that the release can pass.
func run(t *testing.T, root, mod string) {
	t.Helper()
	tests, err := cases.Anywhere(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, test := range tests {
		if without[test.Name] == "" {
			names = append(names, test.Name)
		}
	}
	for try := 1; len(names) > 0; try++ {
		out, err := suite(t, root, mod, names)
		if err == nil {
			return
		}
		names = nil
		for _, failed := range failure.FindAllSubmatch(out, -1) {
			names = append(names, string(failed[1]))
		}
		if try == tries || len(names) == 0 {
			t.Fatalf("run the suite: %v\n%s", err, out)
		}
		t.Logf("again: %v\n%s", names, out)
	}
}

// failure finds the names of the tests that failed, without those of their parts.
var failure = regexp.MustCompile(`(?m)^--- FAIL: ([^ /]+) `)

// suite runs tests with the release.
func suite(t *testing.T, root, mod string, names []string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-timeout", "14m", "-modfile", mod, "-tags", "oldest",
		"-run", "^("+strings.Join(names, "|")+")$", "./compat-tests/go")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), harness.GoFlags("-mod=mod"), "MINIBUS_GO_MOD="+mod)
	return cmd.CombinedOutput()
}

// modFile writes a go.mod that differs from the repository's in the release of the SDK.
func modFile(t *testing.T, root string) (path string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatalf("read %s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatalf("write %s: %v", name, err)
		}
	}
	path = filepath.Join(dir, "go.mod")
	require := "-require=github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus@" + release
	if out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", require, path).CombinedOutput(); err != nil {
		t.Fatalf("require the release: %v\n%s", err, out)
	}
	return path
}

// TestOldestGoSDK runs those tests. The library for AMQP under the SDK is the one of go.mod.
func TestOldestGoSDK(t *testing.T) {
	harness.NeedNightly(t, "to run the oldest release of the Go client")
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	run(t, root, modFile(t, root))
}
