package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Tool returns the path of a program at the version that .ci/tool pins. It is compiled if it is not in the user's cache yet.
func Tool(t testing.TB, name string) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	defer Lock(t, filepath.Join(os.TempDir(), "minibus-tool-"+name+".lock"))()
	cmd := exec.Command(filepath.Join(root, ".ci", "tool"), name)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("compile %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}
