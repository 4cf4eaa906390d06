package manual

import (
	"cmp"
	"slices"
	"strings"
)

// hit is a section that has all words of a query.
type hit struct {
	Page, Title string
	section
	Before, Match, After string // an extract of the text

	score int
}

// Limits of a search.
const (
	maxHits   = 30
	maxQuery  = 200
	aroundHit = 120 // bytes of text on each side
)

// search returns the best sections for a query. A word in a title or a heading counts more than one in the text.
func search(query string) []hit {
	if len(query) > maxQuery {
		query = query[:maxQuery]
	}
	wanted := strings.Fields(strings.ToLower(query))
	if len(wanted) == 0 {
		return nil
	}
	var hits []hit
	for name, p := range pages() {
		for _, s := range p.sections {
			n := score(p.Title, s, wanted)
			if name == "rules" || name == "parity" {
				n = min(n, 1) // tables of everything, for contributors
			}
			if n > 0 {
				h := hit{Page: name, Title: p.Title, section: s, score: n}
				h.Before, h.Match, h.After = extract(s.text, wanted)
				hits = append(hits, h)
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.score-a.score, cmp.Compare(a.Page, b.Page), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(len(hits), maxHits)]
}

// score is 0 if a word is missing.
func score(title string, s section, wanted []string) int {
	title, heading, body := strings.ToLower(title), strings.ToLower(s.Heading), strings.ToLower(s.text)
	sum := 0
	for _, word := range wanted {
		n := min(strings.Count(body, word), 5) + 20*strings.Count(heading, word)
		if s.level == 1 {
			n *= 2 // the page is about it
		}
		if n == 0 && !strings.Contains(title, word) {
			return 0
		}
		sum += n
	}
	return sum
}

// extract returns the text around the first word that is found in it.
func extract(body string, wanted []string) (before, match, after string) {
	for _, word := range wanted {
		i := strings.Index(strings.ToLower(body), word)
		if i < 0 || i+len(word) > len(body) {
			continue
		}
		before, after = body[:i], body[i+len(word):]
		if len(before) > aroundHit {
			_, before, _ = strings.Cut(before[len(before)-aroundHit:], " ") // begins with a whole word
		}
		return before, body[i : i+len(word)], beginning(after, aroundHit)
	}
	return "", "", beginning(body, 2*aroundHit)
}

// beginning returns the whole words at the beginning of a text.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:max(0, strings.LastIndexByte(text[:most], ' '))] + " …"
}
