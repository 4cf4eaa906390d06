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
// Of sections that are equally good, those of the page come first that has more of the words.
func search(query string) []hit {
	if len(query) > maxQuery {
		query = query[:maxQuery]
	}
	query = plain(query)
	wanted := strings.Fields(query)
	if len(wanted) == 0 {
		return nil
	}
	for i, word := range wanted {
		if len(word) > 3 && !strings.HasSuffix(word, "ss") {
			wanted[i] = strings.TrimSuffix(word, "s") // the singular finds the plural too
		}
	}
	var hits []hit
	total := make(map[string]int)
	for name, p := range pages() {
		if name == index {
			continue // each of its lines is the link to a page, which has the words itself
		}
		for _, s := range p.sections {
			n := score(p, s, wanted)
			switch {
			case n > 0 && (name == "rules" || name == "parity"):
				n = 1 // tables of everything, for contributors
			case n > 0 && plain(s.Heading) == query:
				n += 10
			case n > 0 && plain(s.Heading) == query+"s":
				n += 2
			}
			if n > 0 {
				total[name] += n
				h := hit{Page: name, Title: p.Title, section: s, score: n}
				h.Before, h.Match, h.After = extract(s.text, wanted)
				hits = append(hits, h)
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.score-a.score, total[b.Page]-total[a.Page],
			cmp.Compare(a.Page, b.Page), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(len(hits), maxHits)]
}

// plain is a text as it is compared: "Dead-letter" is "dead letter".
func plain(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(text), "-", " ")), " ")
}

// score is 0 if a word is missing.
func score(p *page, s section, wanted []string) int {
	heading, body := plain(s.Heading), strings.ToLower(s.text)
	weight := 20
	if s.level == 1 {
		heading += " " + p.Name
		weight = 40 // the page is about it
	}
	sum := 0
	for _, word := range wanted {
		// "port" is in the heading "Ports", and not in "Export".
		n := min(strings.Count(body, word), 5) + weight*strings.Count(" "+heading, " "+word)
		if n == 0 && !strings.Contains(plain(p.Title), word) {
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
