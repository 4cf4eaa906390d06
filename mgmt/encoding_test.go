package mgmt

import (
	"encoding/binary"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"minibus/emulator"
)

// latin1 and utf16Of encode a text as some clients do.
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func utf16Of(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// TestDocumentsInTheEncodingsOfClients: the byte order mark, else the content type, else the declaration names the encoding.
func TestDocumentsInTheEncodingsOfClients(t *testing.T) {
	const atom = "application/atom+xml;type=entry;charset="
	document := func(encoding, text string) string {
		if encoding != "" {
			encoding = `<?xml version="1.0" encoding="` + encoding + `"?>`
		}
		return encoding + queueEntry("<UserMetadata>"+text+"</UserMetadata>")
	}
	const umlauts, more = "grün", "grün 😀 €"
	for name, tt := range map[string]struct{ contentType, body, want string }{
		"utf-8":                        {atom + "utf-8", document("", more), more},
		"utf-8, declared":              {"", document("UTF-8", more), more},
		"utf-8, mark":                  {"", "\xef\xbb\xbf" + document("utf-8", more), more},
		"utf-8, mark and other type":   {atom + "iso-8859-1", "\xef\xbb\xbf" + document("", more), more},
		"us-ascii":                     {"", document("us-ascii", "green"), "green"},
		"us-ascii, upper case":         {"", document("US-ASCII", "green"), "green"},
		"us-ascii, by type":            {atom + "us-ascii", document("", "green"), "green"},
		"us-ascii that is more":        {"", document("us-ascii", more), more},
		"latin-1, declared":            {"", latin1(document("ISO-8859-1", umlauts)), umlauts},
		"latin-1, by type":             {atom + `"ISO-8859-1"`, latin1(document("", umlauts)), umlauts},
		"latin-1, type and document":   {atom + "iso-8859-1", latin1(document("iso-8859-1", umlauts)), umlauts},
		"type before document":         {atom + "utf-8", document("iso-8859-1", more), more},
		"utf-16, mark":                 {"", utf16Of("\ufeff"+document("utf-16", more), binary.LittleEndian), more},
		"utf-16, mark, other order":    {"", utf16Of("\ufeff"+document("", more), binary.BigEndian), more},
		"utf-16, mark and type":        {atom + "utf-16", utf16Of("\ufeff"+document("UTF-16", more), binary.LittleEndian), more},
		"utf-16, no mark":              {atom + "utf-16", utf16Of(document("utf-16", more), binary.LittleEndian), more},
		"utf-16, no mark, other":       {"", utf16Of(document("utf-16", more), binary.BigEndian), more},
		"utf-16be, by type":            {atom + "utf-16be", utf16Of(document("", more), binary.BigEndian), more},
		"an unknown type says nothing": {atom + "x-unknown", document("", more), more},
		"a type that can't be read":    {"application/atom+xml;;charset", document("", more), more},
	} {
		b := newBus(t, emulator.LimitsRelaxed)
		w := b.do(http.MethodPut, "/q", tt.body, "Content-Type", tt.contentType)
		if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), "<UserMetadata>"+tt.want+"</UserMetadata>") {
			t.Errorf("%s: %d %.300s", name, w.Code, w.Body)
		}
	}
}
