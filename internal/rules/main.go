package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	complete, err := report(os.Stdout, *root, flag.Args())
	if err != nil {
		fmt.Fprintf(os.Stderr, "rules: %v\n", err)
		os.Exit(2)
	}
	if !complete {
		os.Exit(1)
	}
}

// report prints the list and reports whether every claimed rule has a test. With filters (groups or
// ids) it prints only the rules that match one, but the result still covers all rules.
func report(out io.Writer, root string, filters []string) (complete bool, err error) {
	tests, err := scanTests(root)
	if err != nil {
		return false, err
	}
	claims, err := readClaims(filepath.Join(root, "docs", "rules.md"))
	if err != nil {
		return false, err
	}
	without := missing(claims, tests)
	ids := slices.Concat(slices.Collect(maps.Keys(tests)), without)
	slices.SortFunc(ids, compareIDs)
	for _, id := range ids {
		if !matches(id, filters) {
			continue
		}
		proof := strings.Join(tests[id], " ")
		if proof == "" {
			proof = "NO TEST"
		}
		fmt.Fprintf(out, "%-9s %s\n", id, proof)
	}
	claimedCount := 0
	for _, c := range claims {
		if c.claimed() {
			claimedCount++
		}
	}
	fmt.Fprintf(out, "\n%d rules have tests; %d of %d claimed rules have none\n", len(tests), len(without),
		claimedCount)
	return len(without) == 0, nil
}

func matches(id string, filters []string) bool {
	group, _, _ := strings.Cut(id, "-")
	return len(filters) == 0 || slices.Contains(filters, group) || slices.Contains(filters, id)
}
