package golive

import (
	"regexp"
	"slices"
	"strings"
)

// verdict is the line that a test binary prints for each test and subtest.
var verdict = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// result holds the outcome of one top level test and its subtests.
type result struct {
	failed  []string // the innermost ones: a test is not listed because its subtest failed
	skipped []string
}

// parseResult reads the output of one top level test. A process that fails, or whose output does not name its test, has failed as
// a whole.
func parseResult(name, output string, ended bool) result {
	var failed []string
	var r result
	found := false
	for _, match := range verdict.FindAllStringSubmatch(output, -1) {
		found = found || match[2] == name
		switch match[1] {
		case "FAIL":
			failed = append(failed, match[2])
		case "SKIP":
			r.skipped = append(r.skipped, match[2])
		}
	}
	if len(failed) == 0 && (!ended || !found) {
		failed = []string{name}
	}
	for _, outer := range failed {
		inner := func(other string) bool { return strings.HasPrefix(other, outer+"/") }
		if !slices.ContainsFunc(failed, inner) {
			r.failed = append(r.failed, outer)
		}
	}
	return r
}

// notPassed returns all tests that did not pass.
func (r result) notPassed() []string { return slices.Concat(r.failed, r.skipped) }
