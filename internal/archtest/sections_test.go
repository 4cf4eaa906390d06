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

// decision matches the id of a decision, in a comment or in the name of a test.
var decision = regexp.MustCompile(`DEC-?(\d+)`)

// TestCitedDecisionsAreExplained wants a heading in docs/design/decisions.md for each decision that a source names.
func TestCitedDecisionsAreExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "design", "decisions.md"))
	if err != nil {
		t.Fatalf("read the decisions: %v", err)
	}
	cited := make(map[string]bool)
	for _, p := range loadPackages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatalf("read source: %v", err)
			}
			for _, m := range decision.FindAllStringSubmatch(string(source), -1) {
				if !cited[m[1]] && !strings.Contains(string(page), "\n### DEC-"+m[1]+": ") {
					t.Errorf("%s/%s names DEC-%s, which docs/design/decisions.md does not explain", p.path(), name, m[1])
				}
				cited[m[1]] = true
			}
		}
	}
	if len(cited) < 20 {
		t.Errorf("found %d decisions", len(cited))
	}
}

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
