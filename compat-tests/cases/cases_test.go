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

// The oldest releases have a version of their own, and leave out only what the newest proves.
func TestTheOldestReleasesProveTheirPart(t *testing.T) {
	l := list(t)
	claims, err := Claims(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range l.Oldest {
		newest := l.Columns[slices.IndexFunc(l.Columns, func(c Column) bool { return c.ID == o.Of })]
		if o.Version == "" || o.Version == newest.Version {
			t.Errorf("%s is version %q, %s %q", o.ID, o.Version, o.Of, newest.Version)
		}
		ids := make(map[string]bool)
		for _, c := range claims {
			if c.Column == o.Of {
				ids[c.ID] = true
			}
		}
		for _, id := range o.Without {
			if !ids[id] {
				t.Errorf("%s leaves out %s, which %s does not prove", o.ID, id, o.Of)
			}
			delete(ids, id)
		}
		if len(ids) < 100 {
			t.Errorf("%s proves %d behaviours", o.ID, len(ids))
		}
	}
}

func TestCheckTellsWhatIsMissingAndWhatIsNew(t *testing.T) {
	l := &List{
		Columns: []Column{{ID: "go", Version: "1"}, {ID: "js", Version: "2"}, {ID: "dotnet", Version: "3"}, {ID: "azure"}},
		Oldest:  []Oldest{{ID: "go-oldest", Of: "go", Version: "0", Without: []string{"b.b"}}},
	}
	claim := func(column, id string) Claim { return Claim{Column: column, ID: id, File: "f"} }
	claims := []Claim{claim("go", "a.a"), claim("go", "b.b"), claim("go", "b.b"), claim("js", "a.a"), claim("dotnet", "a.a")}
	proof := func(column, id, test string) Proof { return Proof{Column: column, ID: id, File: "f", Test: test} }
	whole := &Proven{
		Versions: map[string]string{"go": "1", "js": "2", "dotnet": "3", "go-oldest": "0"},
		Proofs: []Proof{proof("go", "a.a", "T"), proof("go", "b.b", "T"), proof("go", "b.b", "U"), proof("js", "a.a", "T"),
			proof("dotnet", "a.a", "T"), proof("go-oldest", "a.a", "T")},
	}
	for _, oldest := range []bool{false, true} {
		if wrong := l.Check(claims, whole, oldest, ""); wrong != nil {
			t.Errorf("a whole run lacks %q", wrong)
		}
	}
	run := &Proven{
		Versions: map[string]string{"go": "9", "go-oldest": "0"},
		Proofs:   []Proof{proof("go", "b.b", "T"), proof("go", "c.c", "T"), proof("go-oldest", "b.b", "T")},
	}
	want := []string{
		"go does not prove a.a: 0 of 1 tests in f passed", "go does not prove b.b: 1 of 2 tests in f passed",
		"go is version 9, cases.txt says 1", "go proves c.c in f, where no claim of it was found",
		"js: its suite did not run",
		"go-oldest does not prove a.a", "go-oldest proves b.b, which cases.txt leaves out",
	}
	if got := l.Check(claims, run, false, "dotnet"); !reflect.DeepEqual(got, want) {
		t.Errorf("found %q, want %q", got, want)
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
