package cases

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestVerifyAsksForAllThatCanBeSeen compares the tests that compat-tests/verify runs with the reasons of its column.
func TestVerifyAsksForAllThatCanBeSeen(t *testing.T) {
	tests, err := Anywhere(root)
	if err != nil {
		t.Fatal(err)
	}
	l := list(t)
	asked := make(map[string]bool)
	for _, test := range tests {
		for _, id := range test.IDs {
			asked[id] = true
		}
	}
	for _, section := range l.Sections {
		for _, c := range section.Cases {
			switch reason := c.Excluded[SeenColumn]; {
			case asked[c.ID] && reason != "":
				t.Errorf("%s is asked for, and can't be: %s", c.ID, l.Reasons[reason])
			case !asked[c.ID] && reason == "":
				t.Errorf("no test that runs anywhere claims %s; cases.txt gives no reason", c.ID)
			}
		}
	}
}

// TestWhatWasSeenWasSeenOnAzure looks at the files that people sent.
func TestWhatWasSeenWasSeenOnAzure(t *testing.T) {
	files, err := seenFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	l := list(t)
	for _, file := range files {
		if !slices.Contains(azures, file.Domain) || file.Date == "" || !strings.Contains(file.path, "/"+file.Date) {
			t.Errorf("%s is of %q on %q; want a domain of Azure, and a name that begins with the date", file.path, file.Domain, file.Date)
		}
		for _, c := range file.Cases {
			if _, known := l.Find(c.ID); !known {
				t.Errorf("%s speaks of %s, which cases.txt does not list", file.path, c.ID)
			}
		}
	}
}

func TestTheColumnShowsWhatWasSeenLast(t *testing.T) {
	file := func(path, date string, ok bool) seenFile {
		return seenFile{path: path, text: []byte("{\n\"id\": \"a.a\""), Seen: Seen{Date: date, Tier: "Standard", Cases: []SeenCase{{ID: "a.a", OK: ok}}}}
	}
	files := []seenFile{file("one", "2026-01-01", true), file("two", "2026-02-01", false)}
	cell := [2]string{SeenColumn, "a.a"}
	got := seenWitnesses(files)
	if want := map[[2]string]witness{cell: {file: "two", line: 2, differs: true}}; !reflect.DeepEqual(got, want) {
		t.Errorf("cells %+v, want %+v", got, want)
	}
	r := renderer{list: &List{Sections: []Section{{Cases: []Case{{ID: "a.a"}}}}}, witnesses: got}
	if shown := r.cell(Case{ID: "a.a"}, SeenColumn); shown != "[✗](../two#L2)" {
		t.Errorf("the cell is %s", shown)
	}
	if proven, _, empty := r.count(SeenColumn); proven != 0 || empty != 0 {
		t.Errorf("%d proven and %d empty, want a difference to be neither", proven, empty)
	}
	if got := seenVersion(files); got != "Standard 2026-01-01, Standard 2026-02-01" {
		t.Errorf("seen: %s", got)
	}
}

func TestAnywhereFindsTheTestsAndTheirBehaviours(t *testing.T) {
	source := "func TestA(t *testing.T) {\n\tprovesAnywhere(t, \"a.a\",\n\t\t\"b.b\")\n\tproves(t, \"c.c\")\n}\n\nfunc TestB(t *testing.T) {\n\tproves(t, \"d.d\")\n}\n\n" +
		"func helper(t *testing.T) {\n\tprovesAnywhere(t, \"e.e\")\n}\n"
	if got, want := anywhereIn(source), []Test{{Name: "TestA", IDs: []string{"a.a", "b.b"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, want %+v", got, want)
	}
}
