package golive

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// exceptionsFile has the table of tests that do not pass, with the reasons.
const exceptionsFile = "../../CONTRIBUTING.md"

// exceptionRow is a row of that table: package, test, reason.
var exceptionRow = regexp.MustCompile("(?m)^\\| ([a-z/]+) \\| `(Test[^`]+)` \\| (.+) \\|$")

// exceptions maps "package test" to the reason.
type exceptions map[string]string

func readExceptions(t *testing.T) exceptions {
	t.Helper()
	text, err := os.ReadFile(exceptionsFile)
	if err != nil {
		t.Fatalf("read the exceptions: %v", err)
	}
	list := exceptions{}
	for _, row := range exceptionRow.FindAllStringSubmatch(string(text), -1) {
		list[row[1]+" "+row[2]] = row[3]
	}
	return list
}

// mayPass reports whether the reason of a test says at its beginning that the test passes on some days.
func (e exceptions) mayPass(suite, test string) bool {
	return strings.HasPrefix(e[suite+" "+test], "at times: ")
}

// of returns the exceptions among a top level test and its subtests.
func (e exceptions) of(suite, test string) []string {
	var names []string
	for key := range e {
		name, found := strings.CutPrefix(key, suite+" ")
		if found && (name == test || strings.HasPrefix(name, test+"/")) {
			names = append(names, name)
		}
	}
	return names
}
