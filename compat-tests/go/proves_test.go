package compat

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"minibus/compat-tests/cases"
)

// proves says which behaviours of compat-tests/cases a test proves of the SDK, once it has passed.
func proves(t *testing.T, ids ...string) {
	t.Helper()
	_, file, _, _ := runtime.Caller(1)
	note(t, file, ids)
}

// provesAnywhere is proves of a test that needs no server of its own. compat-tests/verify runs it in any namespace.
func provesAnywhere(t *testing.T, ids ...string) {
	t.Helper()
	_, file, _, _ := runtime.Caller(1)
	note(t, file, ids)
}

func note(t *testing.T, file string, ids []string) {
	t.Helper()
	cases.Note(t, column, sdkVersion(t), path.Join("compat-tests/go", filepath.Base(file)), ids...)
}

var sdk = regexp.MustCompile(`sdk/messaging/azservicebus (\S+)`)

// sdkVersion is the version of the SDK that go.mod names, or the file that MINIBUS_GO_MOD names. A test's binary does not know its modules.
func sdkVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(cmp.Or(os.Getenv("MINIBUS_GO_MOD"), "../../go.mod"))
	if err != nil {
		t.Fatalf("read the version of the SDK: %v", err)
	}
	found := sdk.FindSubmatch(text)
	if found == nil {
		t.Fatal("go.mod does not name the SDK")
	}
	return string(found[1])
}
