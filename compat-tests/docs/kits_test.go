package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// programOfKit is a program of docs/kits.md. Its first line is a comment with the file that runs.
var programOfKit = regexp.MustCompile("(?ms)^```(\\w+)\n(?:#|//) (\\S+)\n(.*?)^```$")

// stepsOfKits lists the calls that each program makes, in this order, in lower case and without underscores.
var stepsOfKits = []struct {
	name string
	code *regexp.Regexp
}{
	{"start with the queue orders", regexp.MustCompile(`(?:start\w*\(|@minibus\().*orders`)},
	{"connect the SDK", regexp.MustCompile(`connectionstring`)},
	{"send an order", regexp.MustCompile(`sendmessages?(?:async)?\(`)},
	{"find it dead-lettered for a reason", regexp.MustCompile(
		`reason.*deadletters\(|deadletters\((?s:.{0,99}?)reason|waitformessageasync\(.*\$deadletterqueue.*reason`)},
	{"schedule another one", regexp.MustCompile(`schedulemessages?|scheduledenqueuetime`)},
	{"advance the clock by an hour", regexp.MustCompile(`advance\w*\(.*(?:1h|time\.hour|fromhours\(1\))`)},
	{"wait until the program is done", regexp.MustCompile(`waitfor\w*\(.*idle|waitforidle`)},
}

// TestTheKitsHaveOneExample compares the programs of the page with the files that run, and their steps with each other.
func TestTheKitsHaveOneExample(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	languages := make(map[string]bool)
	for _, found := range programOfKit.FindAllStringSubmatch(harness.ReadPage(t, "docs/kits.md"), -1) {
		language, path, code := found[1], found[2], found[3]
		languages[language] = true
		file, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			t.Error(err)
			continue
		}
		if !in(bare(code), []string{string(file)}) {
			t.Errorf("%s has another program than the page in %s", path, language)
		}
		rest := strings.ReplaceAll(strings.ToLower(code), "_", "")
		for _, step := range stepsOfKits {
			at := step.code.FindStringIndex(rest)
			if at == nil {
				t.Errorf("the program in %s does not %s where the others do", language, step.name)
				break
			}
			rest = rest[at[1]:]
		}
	}
	if len(languages) != 5 {
		t.Errorf("the page has programs in %v", languages)
	}
}

// TestTheKitsHaveTheirVerbs looks up each name of the table in the sources of its kit.
func TestTheKitsHaveTheirVerbs(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{
		"JavaScript": strings.Join(files(t, root, ".ts", "packaging/npm"), ""),
		"Python":     strings.Join(files(t, root, ".py", "packaging/python/minibus"), ""),
		"Java":       strings.Join(files(t, root, ".java", "packaging/java/kit/src/main"), ""),
		"Go":         strings.Join(files(t, root, ".go", "sbtest"), ""),
		".NET":       strings.Join(files(t, root, ".cs", "packaging/dotnet/src/Minibus.Testing"), ""),
	}
	_, table, _ := strings.Cut(harness.ReadPage(t, "docs/kits.md"), "\n| To |")
	rows := strings.Split(strings.TrimSpace(strings.SplitN(table, "\n\n", 2)[0]), "\n")
	languages := strings.Split(strings.Trim(rows[0], "| "), "|")
	verbs := 0
	for _, row := range rows[2:] {
		for i, cell := range strings.Split(strings.Trim(row, "|"), "|")[1:] {
			language := strings.TrimSpace(languages[i])
			for _, name := range regexp.MustCompile("`(?:[\\w()]+\\.)?(\\w+)`").FindAllStringSubmatch(cell, -1) {
				verbs++
				if !regexp.MustCompile(`\b` + name[1] + `\b`).MatchString(sources[language]) {
					t.Errorf("the kit for %s has no %s", language, name[1])
				}
			}
		}
	}
	if verbs < 100 {
		t.Errorf("the table has %d verbs", verbs)
	}
}
