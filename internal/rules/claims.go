package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A claim is one line of the tables of docs/rules.md.
type claim struct {
	id     string
	status string // "claimed", or the reason why it is not
}

// claimed reports whether a test must name the rule.
func (c claim) claimed() bool { return c.status == "claimed" }

// claimRow is a row such as `| LOCK-4 | claimed | renew sets now + duration |`.
var claimRow = regexp.MustCompile(`^\|\s*([A-Z]+-R?\d+)\s*\|\s*([^|]+?)\s*\|`)

// readClaims reads the tables of docs/rules.md. A duplicate id is an error.
func readClaims(path string) ([]claim, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open list of claims: %w", err)
	}
	defer file.Close()
	var claims []claim
	seen := make(map[string]bool)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		m := claimRow.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if seen[m[1]] {
			return nil, fmt.Errorf("%s lists %s twice", path, m[1])
		}
		seen[m[1]] = true
		claims = append(claims, claim{id: m[1], status: m[2]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read list of claims: %w", err)
	}
	return claims, nil
}

// missing returns the claimed rules that no test names.
func missing(claims []claim, tests map[string][]string) []string {
	var ids []string
	for _, c := range claims {
		if c.claimed() && len(tests[c.id]) == 0 {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// compareIDs orders ids by group, then by number.
func compareIDs(a, b string) int {
	groupA, numberA := splitID(a)
	groupB, numberB := splitID(b)
	order := func(group string) int { return slices.Index(groups, strings.TrimSuffix(group, "-R")) }
	return cmp.Or(cmp.Compare(order(groupA), order(groupB)), cmp.Compare(groupA, groupB), cmp.Compare(numberA, numberB))
}

// splitID splits DLQ-R1 into "DLQ-R" and 1, LOCK-4 into "LOCK" and 4.
func splitID(id string) (group string, number int) {
	cut := strings.IndexAny(id, "0123456789")
	if cut < 0 {
		return id, 0
	}
	number, err := strconv.Atoi(id[cut:])
	if err != nil {
		return id, 0
	}
	return strings.TrimSuffix(id[:cut], "-"), number
}
