package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// citation matches one or several sections of the notes from which Minibus was written: "management-rest 7.1, 7.2".
var citation = regexp.MustCompile(`(amqp-data-plane|management-rest|drop-in) (\d+(?:\.\d+)?(?:, \d+(?:\.\d+)?)*)`)

// TestCitedSectionsAreExplained wants a line in docs/rules.md for each section that a comment cites, since readers do not have the
// notes.
func TestCitedSectionsAreExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "rules.md"))
	if err != nil {
		t.Fatalf("read the rules: %v", err)
	}
	cited := 0
	for _, p := range loadPackages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatalf("read source: %v", err)
			}
			for _, m := range citation.FindAllStringSubmatch(string(source), -1) {
				for number := range strings.SplitSeq(m[2], ", ") {
					cited++
					if section := m[1] + " " + number; !strings.Contains(string(page), "\n| "+section+" |") {
						t.Errorf("%s/%s cites %s, which docs/rules.md does not explain", p.path(), name, section)
					}
				}
			}
		}
	}
	if cited == 0 {
		t.Error("found no citation")
	}
}
