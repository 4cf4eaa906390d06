package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeText turns the bytes of a file into text: UTF-8 with or without a byte order mark, or UTF-16 with one (as
// Windows shells write on redirection). It refuses anything else, with the place, since a misread name or key would
// be a different one.
func decodeText(data []byte) (text string, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		text, err = decodeUTF16(data, func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 })
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		text, err = decodeUTF16(data, func(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) })
	default:
		text, err = decodeUTF8(data)
	}
	if i := strings.IndexByte(text, 0); i >= 0 && err == nil {
		err = zero(text[:i])
	}
	return text, err
}

// zero returns the error for a NUL character, which JSON never has but UTF-16 and UTF-32 have everywhere.
func zero(before string) error {
	return badText(before, "found a zero character", "save the file as UTF-8: it may be UTF-16 or UTF-32 without its mark")
}

func decodeUTF8(data []byte) (string, error) {
	rest := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	for i := 0; i < len(rest); {
		r, n := utf8.DecodeRune(rest[i:])
		if r == 0 {
			return "", zero(string(rest[:i]))
		}
		if r == utf8.RuneError && n == 1 {
			return "", badText(string(rest[:i]), fmt.Sprintf("found the byte 0x%02X, which is no UTF-8 there (byte %d of the file)", rest[i], len(data)-len(rest)+i+1),
				"save the file as UTF-8; where it is in Windows-1252, iconv -f WINDOWS-1252 -t UTF-8 does so")
		}
		i += n
	}
	return string(rest), nil
}

// decodeUTF16 decodes a file after its byte order mark.
func decodeUTF16(data []byte, unit func([]byte) uint16) (string, error) {
	const cure = "save the file as UTF-8"
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, unit(data[i:]))
	}
	text := utf16.Decode(units)
	at := 0 // index of the next unit of 16 bits
	for i, r := range text {
		if n := utf16.RuneLen(r); r != utf8.RuneError || units[at] == utf8.RuneError {
			at += n
			continue
		}
		return "", badText(string(text[:i]), fmt.Sprintf("found 0x%04X, half of a character of UTF-16 (byte %d of the file)", units[at], 2*at+3), cure)
	}
	if len(data)%2 != 0 {
		return "", badText(string(text), fmt.Sprintf("found half of a character of UTF-16 at the end (byte %d of the file)", len(data)), cure)
	}
	return string(text), nil
}

// badText returns an error at the end of the text before it.
func badText(before, found, cure string) error {
	p := parser{src: before, line: 1, column: 1}
	for p.off < len(p.src) {
		p.next()
	}
	return &syntaxError{pos: p.pos(), text: found, cure: cure}
}
