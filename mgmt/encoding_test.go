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
		"us-ascii, short name":         {"", document("ascii", "green"), "green"},
		"us-ascii, short name by type": {atom + "ASCII", document("", "green"), "green"},
		"utf-8, short name":            {"", document("UTF8", more), more},
		"utf-8, short name by type":    {atom + "utf8", document("iso-8859-1", more), more},
		"latin-1, short name":          {"", latin1(document("latin1", umlauts)), umlauts},
		"latin-1, short name by type":  {atom + "latin1", latin1(document("", umlauts)), umlauts},
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
		b := newBus(t, emulator.ProfileRelaxed)
		w := b.do(http.MethodPut, "/q", tt.body, "Content-Type", tt.contentType)
		if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), "<UserMetadata>"+tt.want+"</UserMetadata>") {
			t.Errorf("%s: %d %.300s", name, w.Code, w.Body)
		}
	}
}

// A document that declares UTF-16 and has one byte per character contradicts itself.
func TestDocumentsNotInTheEncodingThatTheyDeclare(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	for _, encoding := range []string{"utf-16", "UTF-16", "utf-16le", "UTF-16BE", "utf16"} {
		w := b.do(http.MethodPut, "/q", `<?xml version="1.0" encoding="`+encoding+`"?>`+queueEntry(""))
		want := "the document declares the encoding \"" + encoding + "\", but is not in it"
		if text := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(text, want) || strings.Contains(text, "not served") {
			t.Errorf("%s: %d %.400s", encoding, w.Code, text)
		}
	}
}

// An error about XML that can't be read repeats only the beginning of what is wrong.
func TestErrorsAboutDocumentsAreShort(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	long := strings.Repeat("a", 500_000)
	for name, body := range map[string]string{
		"encoding": `<?xml version="1.0" encoding="` + long + `"?><entry/>`, "version": `<?xml version="` + long + `"?><entry/>`,
		"not closed": "<" + long + ">", "another end": "<a></" + long + ">", "entity": "<a>&" + long + ";</a>", "attribute": "<a " + long + "/>",
		"quotes": `<?xml version="1.0" encoding="` + strings.Repeat("\x01", 100_000) + `"?><entry/>`,
	} {
		w := b.do(http.MethodPut, "/q", body)
		if w.Code != http.StatusBadRequest || w.Body.Len() > 1500 || !strings.Contains(w.Body.String(), "could not be read") {
			t.Errorf("%s: %d, %d bytes: %.600s", name, w.Code, w.Body.Len(), w.Body)
		}
	}
}
