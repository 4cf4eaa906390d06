package config

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16Of encodes with a byte order mark.
func utf16Of(s string, big bool) []byte {
	var b []byte
	for _, u := range append([]uint16{0xFEFF}, utf16.Encode([]rune(s))...) {
		if hi, lo := byte(u>>8), byte(u); big {
			b = append(b, hi, lo)
		} else {
			b = append(b, lo, hi)
		}
	}
	return b
}

// A misread name would be a different one, so files that are not text are refused, with the place.
func TestFilesThatAreNoTextAreRefusedWithThePlace(t *testing.T) {
	const head = "{\"UserConfig\":\r\n{\"Namespaces\": [{\"Queues\": [{\"Name\": \"q\", \"Properties\": {\"UserMetadata\": \"ä"
	const tail = "\"}}]}]}}"
	broken16 := func(big bool, unit ...byte) string {
		return string(utf16Of(head, big)) + string(unit) + string(utf16Of(tail, big)[2:])
	}
	for name, tt := range map[string]struct{ text, want string }{
		"Latin-1":               {head + "\xE4" + tail, "c.json:2:76: error: found the byte 0xE4, which is no UTF-8 there (byte 93 of the file); save the file as UTF-8; where"},
		"with a mark of UTF-8":  {"\uFEFF" + head + "\xE4" + tail, "c.json:2:76: error: found the byte 0xE4, which is no UTF-8 there (byte 96 of the file)"},
		"a comment":             {"// \xFC\n" + head + tail, "c.json:1:4: error: found the byte 0xFC"},
		"behind the end":        {head + tail + "\n\x80", "c.json:3:1: error: found the byte 0x80"},
		"cut":                   {head + tail + "\xE2\x82", "found the byte 0xE2"},
		"a surrogate":           {head + "\xED\xA0\x80" + tail, "found the byte 0xED"},
		"too long":              {head + "\xC0\x80" + tail, "found the byte 0xC0"},
		"half, little-endian":   {broken16(false, 0x00, 0xD8), "c.json:2:76: error: found 0xD800, half of a character of UTF-16 (byte 185 of the file); save the file as UTF-8"},
		"half, big-endian":      {broken16(true, 0xDC, 0x00), "c.json:2:76: error: found 0xDC00, half of a character of UTF-16 (byte 185 of the file)"},
		"half, behind a whole":  {broken16(true, 0xD8, 0x3D, 0xDE, 0x00, 0xD8, 0x3D), "c.json:2:77: error: found 0xD83D, half of a character of UTF-16 (byte 189 of the file)"},
		"an odd byte":           {string(utf16Of(head+tail, false)) + "x", "found half of a character of UTF-16 at the end (byte 201 of the file)"},
		"UTF-16 without a mark": {string(utf16Of(head+tail, false)[2:]), "c.json:1:2: error: found a zero character"},
		"UTF-32":                {"\xFF\xFE\x00\x00{\x00\x00\x00", "c.json:1:1: error: found a zero character"},
		"a zero character":      {head + "\x00" + tail, "c.json:2:76: error: found a zero character; save the file as UTF-8"},
	} {
		topology, report := Parse("c.json", []byte(tt.text), ProfileRelaxed)
		if err := report.Err(); topology != nil || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"UTF-8": head + tail, "with a mark": "\uFEFF" + head + tail, "U+FFFD itself": head + "\uFFFD" + tail,
		"UTF-16": string(utf16Of(head+"\uFFFD\U0001F600"+tail, true)),
	} {
		if _, report := Parse("c.json", []byte(text), ProfileRelaxed); report.Err() != nil {
			t.Errorf("%s: %v", name, report.Err())
		}
	}
}
