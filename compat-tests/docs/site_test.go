package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

var sitePage = regexp.MustCompile(`<a href="([\w-]+)/" class="md-nav__link`)

// TestSite builds the docs site as the release does. A page that is not listed, and a link or an anchor that leads
// nowhere, is an error there.
func TestSite(t *testing.T) {
	harness.NeedAll(t, "to build the docs site with Python")
	all := pages(t)
	out := t.TempDir()
	cmd := exec.Command(harness.Python(t, "packaging/site"), "-m", "mkdocs", "build", "--strict", "--quiet",
		"--config-file", "packaging/site/mkdocs.yml", "--site-dir", out)
	cmd.Env = append(os.Environ(), "NO_MKDOCS_2_WARNING=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	index, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, page := range sitePage.FindAllStringSubmatch(string(index), -1) {
		listed[page[1]] = true
	}
	for name := range all {
		page, ok := strings.CutPrefix(strings.TrimSuffix(name, ".md"), "docs/")
		if ok && !strings.Contains(page, "/") && page != "README" && !listed[page] {
			t.Errorf("the navigation of the site lacks %s", name)
		}
	}
}
