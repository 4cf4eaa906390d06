package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile("^#{1,6} +(.+)$")
	named   = regexp.MustCompile(`<a id="([^"]+)">`)
	lineOf  = regexp.MustCompile(`^L[0-9]+$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestPagesLinkToWhatExists follows every relative link of every page, to the file and to the heading in it. In a source file a link names
// a line, which moves with every change, so it does not count.
func TestPagesLinkToWhatExists(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(prose(t, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			toLine := filepath.Ext(target) != ".md" && lineOf.MatchString(anchor)
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			} else if anchor != "" && !toLine && !slices.Contains(anchors(t, target), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// pages returns the Markdown pages in the repository's root and the directories in it.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.md", "*/*.md"} {
		more, err := filepath.Glob(filepath.Join(moduleRoot(t), pattern))
		if err != nil {
			t.Fatalf("find the pages: %v", err)
		}
		found = append(found, more...)
	}
	if len(found) < 10 {
		t.Fatalf("found %d pages only", len(found))
	}
	return found
}

// prose returns a page without its code.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("read a page: %v", err)
	}
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case !fenced && !strings.HasPrefix(line, "    "):
			b.WriteString(line)
		}
	}
	return b.String()
}

// anchors returns the names that a forge gives to the headings of a page: lower case, hyphens for spaces, no punctuation. A page may also
// name a place itself.
func anchors(t *testing.T, page string) []string {
	t.Helper()
	var names []string
	for line := range strings.SplitSeq(prose(t, page), "\n") {
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			name := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
			names = append(names, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return names
}
