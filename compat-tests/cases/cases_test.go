package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func list(t *testing.T) *List {
	t.Helper()
	l, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTheListIsWhole(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(root, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	l := list(t)
	used := make(map[string]bool)
	id := regexp.MustCompile(`^[a-z]+\.[a-z]+$`)
	for _, section := range l.Sections {
		for _, c := range section.Cases {
			if !id.MatchString(c.ID) || c.What == "" {
				t.Errorf("%q %q: want an id such as send.batch, and what it is", c.ID, c.What)
			}
			for _, rule := range c.Rules {
				if !strings.Contains(string(rules), "| "+rule+" |") && !strings.HasPrefix(rule, "DEC-") {
					t.Errorf("%s names %s, which docs/rules.md does not list", c.ID, rule)
				}
			}
			for _, reason := range c.Excluded {
				used[reason] = true
			}
		}
	}
	for reason := range l.Reasons {
		if !used[reason] {
			t.Errorf("nothing is left out because of %q", reason)
		}
	}
}

// TestEveryClaimIsOfAKnownBehaviour refuses a misspelt id, for the suites of all languages and without running them.
func TestEveryClaimIsOfAKnownBehaviour(t *testing.T) {
	l := list(t)
	claims, err := Claims(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range claims {
		c, known := l.Find(claim.ID)
		if !known {
			t.Errorf("%s:%d claims %q, which cases.txt does not list", claim.File, claim.Line, claim.ID)
		}
		if reason := c.Excluded[claim.Column]; reason != "" {
			t.Errorf("%s:%d claims %s, which can't be: %s", claim.File, claim.Line, claim.ID, l.Reasons[reason])
		}
	}
}

// TestNoWitnessVanished compares the claims with what the last whole run proved. A claim that is new must have been run.
func TestNoWitnessVanished(t *testing.T) {
	claims, err := Claims(root)
	if err != nil {
		t.Fatal(err)
	}
	proven, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	claimed, shown := make(map[[3]string]bool), make(map[[3]string]bool)
	for _, claim := range claims {
		claimed[[3]string{claim.Column, claim.ID, claim.File}] = true
	}
	for _, proof := range proven.Proofs {
		key := [3]string{l.of(proof.Column), proof.ID, proof.File}
		shown[key] = true
		if !claimed[key] {
			t.Errorf("%s of %s was proven in %s, which does not claim it any more", proof.ID, proof.Column, proof.File)
		}
	}
	for _, claim := range claims {
		if !shown[[3]string{claim.Column, claim.ID, claim.File}] {
			t.Errorf("%s:%d claims %s; run the suite and merge its notes (docs/parity.md says how)", claim.File, claim.Line, claim.ID)
		}
	}
}

// TestThePageIsUpToDate does not ask for the lines in the links: they move with every change of a suite.
func TestThePageIsUpToDate(t *testing.T) {
	lines := regexp.MustCompile(`#L\d+`)
	want, err := Page(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(PageFile(root))
	if err != nil || lines.ReplaceAllString(string(got), "") != lines.ReplaceAllString(want, "") {
		t.Errorf("docs/parity.md is not what would be generated (%v); run go run ./compat-tests/cases/parity", err)
	}
}

// TestEveryTrapHasItsTest counts the traps, so that none gets lost, and looks for their tests.
func TestEveryTrapHasItsTest(t *testing.T) {
	traps, err := Traps()
	if err != nil {
		t.Fatal(err)
	}
	tests, err := testFunctions(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, trap := range traps {
		seen[trap.ID] = true
		if len(trap.Tests) == 0 {
			t.Errorf("%s has no test", trap.ID)
		}
		for _, test := range trap.Tests {
			if tests[test].file == "" {
				t.Errorf("%s names %s, which is not there", trap.ID, test)
			}
		}
	}
	for group, count := range map[string]int{"A": 40, "B": 21} {
		for n := range count {
			if id := fmt.Sprint(group, n+1); !seen[id] {
				t.Errorf("%s is missing", id)
			}
		}
	}
}

func TestClaimsOfEachLanguage(t *testing.T) {
	for source, want := range map[string][]string{
		`	proves(t, "send.batch", "send.large")`:               {"send.batch", "send.large"},
		`	provesAnywhere(t, "send.batch")`:                     {"send.batch"},
		`test("a", proves("send.batch"), async () => {`:        {"send.batch"},
		"@bus.proves(\n    \"send.batch\", \"send.large\",\n)": {"send.batch", "send.large"},
		`@Proves("send.batch")`:                                {"send.batch"},
		`@Proves({"send.batch", "send.large"})`:                {"send.batch", "send.large"},
		`func proves(t *testing.T, ids ...string) {`:           nil,
	} {
		var got []string
		for _, claim := range claimsIn(call, "go", "f", source) {
			got = append(got, claim.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s claims %q, want %q", source, got, want)
		}
	}
}

// The oldest releases prove the behaviours of their column that they are asked for, each with a version.
func TestTheOldestReleasesProveTheirPart(t *testing.T) {
	l, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	proven, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range l.Oldest {
		if version := proven.Versions[o.ID]; version == "" || version == proven.Versions[o.Of] {
			t.Errorf("%s is version %q, %s %q", o.ID, version, o.Of, proven.Versions[o.Of])
		}
		if ids := proven.ids(o.ID); len(ids) < 100 {
			t.Errorf("%s proves %d behaviours", o.ID, len(ids))
		}
	}
}

func TestCompareTellsWhatGotWorse(t *testing.T) {
	proof := func(column, id string) Proof { return Proof{Column: column, ID: id, File: "f", Test: "T"} }
	saved := &Proven{Versions: map[string]string{"go": "1", "js": "2", "dotnet": "3"},
		Proofs: []Proof{proof("dotnet", "a.a"), proof("go", "a.a"), proof("go", "b.b"), proof("js", "a.a")}}
	run := &Proven{Versions: map[string]string{"go": "9"}, Proofs: []Proof{proof("go", "a.a"), proof("go", "c.c")}}
	want := []string{
		"go has a witness of c.c that the page lacks: T in f", "go has no longer its witness of b.b: T in f",
		"go is version 9, the page says 1", "the suite of js did not run",
	}
	if got := saved.Compare(run, "dotnet"); !reflect.DeepEqual(got, want) {
		t.Errorf("faults %q, want %q", got, want)
	}
	if got := saved.Compare(saved); got != nil {
		t.Errorf("a run that proves the same has faults %q", got)
	}
}

func TestNotesAreWrittenWhenATestHasPassed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Directory, dir)
	t.Run("passes", func(t *testing.T) { Note(t, "go", "1", "f", "send.batch", "send.large") })
	t.Run("skips", func(t *testing.T) {
		Note(t, "go", "1", "f", "send.single")
		t.SkipNow()
	})
	got, err := ReadNotes(dir)
	if err != nil {
		t.Fatal(err)
	}
	test := t.Name() + "/passes"
	want := &Proven{Versions: map[string]string{"go": "1"}, Proofs: []Proof{
		{Column: "go", ID: "send.batch", File: "f", Test: test}, {Column: "go", ID: "send.large", File: "f", Test: test}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("notes are %+v, want %+v", got, want)
	}
}

func TestTheListRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a.b | c":                                   "before the first section",
		"## S\na.b | c\na.b | d":                    "twice",
		"## S\na.b | c | | go why":                  "unknown reason",
		"reason why | so\n## S\na.b | c | | go why": "unknown column",
		"nonsense":                                  "is no behaviour",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
