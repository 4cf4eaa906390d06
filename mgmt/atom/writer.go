package atom

import (
	"strconv"
	"strings"
)

// writer appends XML. encoding/xml can't write what clients need: Go's client searches the raw document for texts, so
// quotes must not be escaped, and JavaScript's depends on prefixes and on where they are declared.
type writer struct{ b []byte }

// open begins an element; attrs are names and values in turn.
func (w *writer) open(name string, attrs ...string) {
	w.tag(name, attrs)
	w.b = append(w.b, '>')
}

func (w *writer) tag(name string, attrs []string) {
	w.b = append(append(w.b, '<'), name...)
	for i := 0; i+1 < len(attrs); i += 2 {
		w.b = append(append(append(w.b, ' '), attrs[i]...), `="`...)
		w.escape(attrs[i+1], true)
		w.b = append(w.b, '"')
	}
}

func (w *writer) close(name string) { w.b = append(append(append(w.b, "</"...), name...), '>') }

func (w *writer) empty(name string, attrs ...string) {
	w.tag(name, attrs)
	w.b = append(w.b, "/>"...)
}

func (w *writer) text(name, value string, attrs ...string) {
	w.open(name, attrs...)
	w.escape(value, false)
	w.close(name)
}

// optional writes an element, or nothing for the empty text.
func (w *writer) optional(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *writer) bool(name string, v bool)     { w.text(name, strconv.FormatBool(v)) }
func (w *writer) int(name string, v int64)     { w.text(name, strconv.FormatInt(v, 10)) }
func (w *writer) span(name string, v TimeSpan) { w.text(name, v.String()) }
func (w *writer) time(name string, ms int64)   { w.text(name, formatTime(ms)) }

// escape writes character data. It replaces control characters that XML can't contain.
func (w *writer) escape(s string, attribute bool) {
	for _, r := range s {
		switch {
		case r == '&':
			w.b = append(w.b, "&amp;"...)
		case r == '<':
			w.b = append(w.b, "&lt;"...)
		case r == '>':
			w.b = append(w.b, "&gt;"...)
		case r == '\r':
			w.b = append(w.b, "&#xD;"...)
		case attribute && strings.ContainsRune("\"\n\t", r):
			w.b = append(w.b, "&#"+strconv.Itoa(int(r))+";"...)
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF:
			w.b = append(w.b, "\uFFFD"...)
		default:
			w.b = append(w.b, string(r)...)
		}
	}
}
