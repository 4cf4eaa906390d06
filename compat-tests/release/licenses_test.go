package release

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// thirdParty is the file with the licences of what others wrote.
const thirdParty = "THIRD-PARTY-LICENSES.txt"

// namesModules fails unless a text has each module that the linker put into a binary.
func namesModules(t *testing.T, text string, binary []byte) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if !strings.Contains(text, "\n"+m.Path+" "+m.Version+"\n") {
			t.Errorf("%s does not have %s %s", thirdParty, m.Path, m.Version)
		}
	}
	if len(info.Deps) == 0 || !strings.Contains(text, "\nThe standard library of Go\n") {
		t.Errorf("%s does not have the standard library; the binary has %d modules", thirdParty, len(info.Deps))
	}
}

// TestLicenses_OfAllModules makes the file with the tool that releases and the image use.
func TestLicenses_OfAllModules(t *testing.T) {
	file := filepath.Join(t.TempDir(), thirdParty)
	command(t, root(t), nil, "go", "-C", "packaging/licenses", "run", ".", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(harness.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	namesModules(t, string(text), binary)
	for _, has := range []string{"github.com/inconshreveable/mousetrap ", "SQLite", "Apache License", "preact 1", "MIT License"} {
		if !strings.Contains(string(text), has) {
			t.Errorf("%s does not have %q", thirdParty, has)
		}
	}
}

// TestLicenses_OfTheExplorer finds a package of the explorer that explorer.txt does not have in its version.
func TestLicenses_OfTheExplorer(t *testing.T) {
	kept, err := os.ReadFile(filepath.Join(root(t), "packaging/licenses/explorer.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root(t), "mgmt/ui/package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	packages := 0
	for path, p := range lock.Packages {
		if path == "" || p.Dev {
			continue
		}
		packages++
		if name := strings.TrimPrefix(path, "node_modules/") + " " + p.Version; !strings.Contains(string(kept), "\n"+name+"\n") {
			t.Errorf("explorer.txt does not have %s: run npm ci in mgmt/ui, then go -C packaging/licenses run . -explorer explorer.txt", name)
		}
	}
	if got := strings.Count(string(kept), strings.Repeat("=", 78)+"\n") / 2; got != packages {
		t.Errorf("explorer.txt has %d packages, the explorer %d", got, packages)
	}
}
