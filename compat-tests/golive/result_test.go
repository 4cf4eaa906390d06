package golive

import (
	"regexp"
	"slices"
	"strings"
)

// verdict is the line that a test binary prints for each test and subtest.
var verdict = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// result is what one top level test and its subtests came to.
type result struct {
	failed  []string // the innermost ones: a test is not listed for the failure of its subtest
	skipped []string
}

// parseResult reads the output of one top level test. A process that ends badly, or without a word of its test, has failed as
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

// notPassed are all that did not pass.
func (r result) notPassed() []string { return slices.Concat(r.failed, r.skipped) }
