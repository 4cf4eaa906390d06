package docs

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// generated are the pages that programs write or read line by line, for contributors.
var generated = map[string]bool{"docs/rules.md": true, "docs/parity.md": true}

// The measures of a page. A quoted line of the log has any length.
const (
	cellWords     = 20
	sentenceWords = 35
	headingWords  = 8
	lineColumns   = 160
)

// retired are words that readers had to read twice, each with what to write instead.
var retired = map[string]string{
	`cures?|cured`:                    "fix",
	`strikes?|suffers?`:               "hits",
	`mend|mends|mended|mending`:       "edit, fix",
	`spoilt`:                          "invalid",
	`as (?:it|they) stands?`:          "browse",
	`typing errors?`:                  "typo",
	`truth values?`:                   "boolean",
	`tells? of`:                       "describes",
	`beside`:                          "besides, next to",
	`anew`:                            "again, reset",
	`at rest`:                         "idle",
	`to be had|be had`:                "available",
	`what it is called`:               "its name",
	`leads? (?:to|elsewhere|nowhere)`: "points at",
	`leaves? itself out`:              "is skipped",
	`there is none`:                   "no ...",
	`of one's own`:                    "separate",
	`nothing like it`:                 "Minibus only",
	`out of this project's reach`:     "Not tested",
	`life of (?:a|the|one) message`:   "history",
	`(?:the|an|own|local) authority|authority's|authorities`: "CA certificate",
}

var (
	retiredPattern  = make(map[*regexp.Regexp]string)
	indentedPattern = regexp.MustCompile(`(?m)^(?:    |\t).*$`)
	targetPattern   = regexp.MustCompile(`\]\([^)\n]*\)`)
	sentencePattern = regexp.MustCompile(`[.!?:]["')*]*(?:\s+|$)`)
	itemPattern     = regexp.MustCompile(`(?m)^\s*(?:[-*]|\d+\.) +|^> ?`)
	riddlePattern   = regexp.MustCompile(`(?i)^(?:one|ways|the same|how it|what it|what is left|beside|around|else|others?)\b|\bstands?$|\band back$|\bfresh\b|, and\b`)
	logPattern      = regexp.MustCompile("(?ms)^```log\n.*?^```$")
)

func init() {
	for words, better := range retired {
		retiredPattern[regexp.MustCompile(`(?i)\b(?:`+words+`)\b`)] = better
	}
}

// TestTheFormOfPages holds what a reader needs to find a thing and to read it once.
func TestTheFormOfPages(t *testing.T) {
	for name, page := range pages(t) {
		switch dir := path.Dir(name); {
		case generated[name]:
		case dir == "docs" || dir == "docker" || dir == "clients" || name == "README.md":
			for _, fault := range faultsOfForm(page) {
				t.Errorf("%s: %s", name, fault)
			}
		}
	}
}

// TestEveryPageIsReachable wants each page of docs in docs/README.md, and that one in README.md.
func TestEveryPageIsReachable(t *testing.T) {
	all := pages(t)
	for name := range all {
		if path.Dir(name) == "docs" && name != "docs/README.md" && !strings.Contains(all["docs/README.md"], "]("+path.Base(name)+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
	if !strings.Contains(all["README.md"], "](docs/README.md)") {
		t.Error("README.md does not link docs/README.md")
	}
}

// faultsOfForm returns what is wrong with the form of a page.
func faultsOfForm(page string) (list []string) {
	for line := range strings.Lines(logPattern.ReplaceAllString(page, "")) {
		if n := utf8.RuneCountInString(targetPattern.ReplaceAllString(strings.TrimSuffix(line, "\n"), "]")); n > lineColumns {
			list = append(list, "a line has "+strconv.Itoa(n)+" columns: "+line)
		}
	}
	text := targetPattern.ReplaceAllString(indentedPattern.ReplaceAllString(prose(page), ""), "]")
	for expression, better := range retiredPattern {
		if found := expression.FindString(text); found != "" {
			list = append(list, "the word "+found+": write "+better)
		}
	}
	var paragraphs strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
			title := strings.TrimSpace(strings.TrimLeft(line, "# "))
			if riddlePattern.MatchString(title) || len(strings.Fields(title)) > headingWords {
				list = append(list, "the heading "+title+": write what a reader would search for")
			}
			line = "\n"
		case strings.HasPrefix(line, "|"):
			for cell := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, " "), "|") {
				if n := len(strings.Fields(cell)); n > cellWords {
					list = append(list, "a cell has "+strconv.Itoa(n)+" words: "+cell)
				}
			}
			line = "\n"
		case itemPattern.MatchString(line):
			line = "\n" + itemPattern.ReplaceAllString(line, "")
		}
		paragraphs.WriteString(line)
	}
	for paragraph := range strings.SplitSeq(paragraphs.String(), "\n\n") {
		for _, sentence := range sentencePattern.Split(paragraph, -1) {
			if n := len(strings.Fields(sentence)); n > sentenceWords {
				list = append(list, "a sentence has "+strconv.Itoa(n)+" words: "+strings.Join(strings.Fields(sentence), " "))
			}
		}
	}
	return list
}

// TestTheFormFindsFaults has a page for each rule that it breaks.
func TestTheFormFindsFaults(t *testing.T) {
	long := strings.Repeat("word ", sentenceWords+1)
	for page, want := range map[string]int{
		"# Clock and reset\n\nSend a message. Then [browse](messages.md) it.\n": 0,
		"# Messages as they stand\n":                                2, // the heading and the word in it
		"A " + long + ".\n":                                         2, // the line, too
		strings.ReplaceAll(long, "d w", "d\nw") + "\n":              1,
		"* " + strings.ReplaceAll(long, "d w", "d\n  w") + "\n":     1,
		strings.Replace(long, "word word", "word. word", 1) + ".\n": 1,
		"One.\n" + strings.Repeat("word ", sentenceWords) + "\n":    1,
		"| a | " + strings.Repeat("w ", cellWords+1) + "|\n":        1,
		"| a | " + strings.Repeat("w ", cellWords) + "|\n":          0,
		"The cure.\n": 1,
		"The `cure` of the JSON.\n\n    minibus cure\n":             0,
		"Trust the authority.\n":                                    1,
		strings.Repeat("x", lineColumns+1) + "\n":                   1,
		"[x](" + strings.Repeat("x", lineColumns) + ")\n":           0,
		"```log\n" + strings.Repeat("x", lineColumns+1) + "\n```\n": 0,
		"    " + strings.Repeat("x", lineColumns) + "\n":            1,
		"# Keys, and who may use them\n":                            1,
	} {
		if found := faultsOfForm(page); len(found) != want {
			t.Errorf("%.80q: %q, want %d", page, found, want)
		}
	}
}
