package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"minibus/compat-tests/cases"
)

// report collects what the tests saw, and prints it as they end.
type report struct {
	out     io.Writer
	hide    *strings.Replacer
	verbose bool
	saw     map[string][]string // of the tests that run, by name
	piece   map[string]string   // of a line whose end has not come, by test
	tests   []cases.SeenTest
	noise   []string // what no test said
}

// framework matches the lines that package testing adds by itself.
var framework = regexp.MustCompile(`^(=== |\s*--- |PASS$|FAIL$|ok\s)`)

func (r *report) event(e event) {
	if r.saw == nil {
		r.saw, r.piece = make(map[string][]string), make(map[string]string)
	}
	name, sub, isSub := strings.Cut(e.Test, "/")
	switch {
	case e.Action == "output" && !strings.HasSuffix(e.Output, "\n"): // a long line comes in pieces
		r.piece[e.Test] += e.Output
	case e.Action == "output":
		e.Output = r.piece[e.Test] + e.Output
		delete(r.piece, e.Test)
		line := strings.TrimRight(r.hide.Replace(e.Output), "\n")
		if strings.TrimSpace(line) == "" || framework.MatchString(line) {
			return
		}
		if isSub {
			line = sub + ": " + strings.TrimSpace(line)
		}
		if name == "" {
			r.noise = append(r.noise, line)
		} else {
			r.saw[name] = append(r.saw[name], strings.TrimSpace(line))
		}
	case !isSub && name != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
		r.end(name, e)
	}
}

// end prints a test that has ended, and what it saw.
func (r *report) end(name string, e event) {
	test := cases.SeenTest{Name: name, OK: e.Action == "pass", Skipped: e.Action == "skip", Seconds: e.Elapsed, Saw: r.saw[name]}
	r.tests = append(r.tests, test)
	mark := "ok  "
	if !test.OK {
		mark = strings.ToUpper(e.Action)
	}
	fmt.Fprintf(r.out, "%s %5.1f s  %s\n", mark, test.Seconds, name)
	if r.verbose || !test.OK {
		for _, line := range test.Saw {
			fmt.Fprintf(r.out, "             %s\n", line)
		}
	}
}

// judge says of each behaviour whether all its tests passed. A test that was skipped or did not end says nothing.
func judge(tests []cases.Test, ran []cases.SeenTest) []cases.SeenCase {
	var all []cases.SeenCase
	for _, test := range tests {
		at := slices.IndexFunc(ran, func(s cases.SeenTest) bool { return s.Name == test.Name })
		if at < 0 || ran[at].Skipped {
			continue
		}
		for _, id := range test.IDs {
			i := slices.IndexFunc(all, func(c cases.SeenCase) bool { return c.ID == id })
			if i < 0 {
				i = len(all)
				all = append(all, cases.SeenCase{ID: id, OK: true})
			}
			all[i].OK = all[i].OK && ran[at].OK
			all[i].Tests = append(all[i].Tests, test.Name)
		}
	}
	slices.SortFunc(all, func(a, b cases.SeenCase) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// summary prints each behaviour, and fails unless all were seen.
func (r *report) summary(tests []cases.Test, seen []cases.SeenCase) error {
	list, err := cases.Cases()
	if err != nil {
		return err
	}
	fmt.Fprintln(r.out)
	failed := 0
	for _, c := range seen {
		mark := "ok  "
		if !c.OK {
			mark = "FAIL"
			failed++
		}
		about, _ := list.Find(c.ID)
		fmt.Fprintf(r.out, "%s %-22s %s\n", mark, c.ID, about.What)
	}
	fmt.Fprintf(r.out, "%d behaviours seen, %d not as expected; %d of %d tests ended.\n", len(seen)-failed, failed, len(r.tests), len(tests))
	if failed > 0 || len(r.tests) < len(tests) {
		for _, line := range r.noise {
			fmt.Fprintln(r.out, line)
		}
		return fmt.Errorf("%d behaviours are not as expected, %d tests did not end", failed, len(tests)-len(r.tests))
	}
	return nil
}

// write writes what was seen.
func write(path string, seen cases.Seen) error {
	text, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write what was seen: %w", err)
	}
	return nil
}
