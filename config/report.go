package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity ranks findings.
type Severity uint8

// The severities, mildest first.
const (
	Note    Severity = iota // accepted; worth one line in the log
	Warning                 // accepted, but may not do what the author expects
	Error                   // the file cannot be used
)

// String returns the word in front of a finding.
func (s Severity) String() string {
	return [...]string{"note", "warning", "error"}[s]
}

// Finding is one remark about a configuration file.
type Finding struct {
	Severity Severity
	File     string
	Line     int    // from 1; 0 when the remark is about the file as a whole
	Column   int    // from 1, in characters
	Path     string // JSON path such as $.UserConfig.Namespaces[0].Queues[2].Properties.LockDuration
	Found    string // what is there
	Allowed  string // what may be there; may be empty
	Fix      string // what to do; may be empty
}

// String renders the finding on one line: file:line:column: severity: path: found; allowed; fix.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	fmt.Fprintf(&b, ": %s: ", f.Severity)
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Found)
	if f.Allowed != "" {
		b.WriteString("; allowed: " + f.Allowed)
	}
	if f.Fix != "" {
		b.WriteString("; " + f.Fix)
	}
	return b.String()
}

// maxFindings is how many findings of a severity a report keeps. A generator's mistake may repeat itself a thousand
// times, and a screenful of it is enough.
const maxFindings = 25

// Report collects the findings of one file.
type Report struct {
	Findings []Finding // by severity, worst first, then in file order
	Omitted  int       // findings beyond maxFindings, counted but not kept

	counts [Error + 1]int
}

func (r *Report) add(f Finding) {
	r.counts[f.Severity]++
	if r.counts[f.Severity] > maxFindings {
		r.Omitted++
		return
	}
	r.Findings = append(r.Findings, f)
}

// Count returns how many findings of the severity there were, kept or not.
func (r *Report) Count(s Severity) int { return r.counts[s] }

// Err returns nil, or one error with every error finding on its own line.
func (r *Report) Err() error {
	if r.counts[Error] == 0 {
		return nil
	}
	var lines []string
	for _, f := range r.Findings {
		if f.Severity == Error {
			lines = append(lines, f.String())
		}
	}
	if more := r.counts[Error] - len(lines); more > 0 {
		lines = append(lines, "and "+plural(more, "more error"))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// sort puts the worst first and keeps the order of the file within a severity.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
