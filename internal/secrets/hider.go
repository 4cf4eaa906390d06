package secrets

import (
	"cmp"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hidden stands where a secret was.
const hidden = "***"

// shortest is the length of the shortest secret that is looked for by its value: a shorter one is part of too many
// words.
const shortest = 4

// shapes match secrets that nobody told a Hider: the key of a connection string, which may have any character but a
// semicolon and so ends with that, the line or the text; the same in a URL; the signature of a token; a web token, of
// which only the signature is one if no word says what it is.
// The text before them stays readable.
var shapes = regexp.MustCompile(`(?i)(\bsharedaccesskey\s*=\s*)[^;\r\n]+|` +
	`((?:\b|%3f|%26|%3b)sharedaccesskey(?:%20|\+)*%3d)[^&\s;"]+|` +
	`((?:\b|%3f|%26)sig(?:=|%3d)|\bbearer(?: |\+|%20)+)[^&\s;"']+|` +
	`(\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.)[\w-]+`)

// Hider hides secrets: the ones that it knows, however they are written, and what has the shape of one. Many goroutines
// may use it. Nil knows none.
type Hider struct{ known *strings.Replacer }

// New returns a Hider that knows these secrets. Empty and very short ones are left out.
func New(known ...string) *Hider {
	var all []string
	for _, secret := range known {
		if len(secret) >= shortest {
			all = append(all, spellings(secret)...)
		}
	}
	slices.SortFunc(all, func(a, b string) int { // the longest first: it may contain others
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	var pairs []string
	for _, s := range slices.Compact(all) {
		pairs = append(pairs, s, hidden)
	}
	return &Hider{strings.NewReplacer(pairs...)}
}

// spellings returns a secret as it is, and as it stands in a quoted text, in JSON, in a URL and in XML.
func spellings(secret string) []string {
	inner := func(quoted string) string { return quoted[1 : len(quoted)-1] }
	all := []string{secret, inner(strconv.Quote(secret)), inner(strconv.QuoteToASCII(secret)),
		inner(string(encoded(secret))),
		url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret), xml.Replace(secret)}
	if text, err := json.Marshal(secret); err == nil {
		all = append(all, inner(string(text)))
	}
	return all
}

var xml = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// Text returns text without secrets.
func (h *Hider) Text(text string) string {
	if h != nil {
		text = h.known.Replace(text)
	}
	return shapes.ReplaceAllString(text, "${1}${2}${3}${4}"+hidden)
}
