package atom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// toUTF8 converts a document to UTF-8 if its byte order mark or else the charset of the content type tells its
// encoding [RFC 7303 3], and reports whether they do. It ignores unknown charsets. Without a mark it recognises
// UTF-16 by the zero byte beside the first character.
func toUTF8(text []byte, charset string) (out []byte, known bool, err error) {
	for _, m := range []struct {
		begin string
		cut   int
		order binary.ByteOrder // nil: UTF-8
	}{
		{"\xEF\xBB\xBF", 3, nil}, {"\xFE\xFF", 2, binary.BigEndian}, {"\xFF\xFE", 2, binary.LittleEndian},
		{"\x00<", 0, binary.BigEndian}, {"<\x00", 0, binary.LittleEndian},
	} {
		if bytes.HasPrefix(text, []byte(m.begin)) {
			if out = text[m.cut:]; m.order != nil {
				out, err = fromUTF16(out, m.order)
			}
			return out, true, err
		}
	}
	switch encodingOf(charset) {
	case asUTF8:
		return text, true, nil
	case asLatin1:
		return fromLatin1(text), true, nil
	}
	return text, false, nil
}

// declared decodes the rest of a document by the encoding in its declaration. encoding/xml calls it for encodings
// other than UTF-8.
func declared(charset string, rest io.Reader) (io.Reader, error) {
	switch encodingOf(charset) {
	case asUTF8:
		return rest, nil
	case asLatin1:
		text, err := io.ReadAll(rest)
		return bytes.NewReader(fromLatin1(text)), err
	case asUTF16: // toUTF8 would have recognised it
		return nil, fmt.Errorf("the document declares the encoding %q, but is not in it", charset)
	}
	return nil, fmt.Errorf("the encoding %q is not served, only utf-8, utf-16, us-ascii and iso-8859-1", clip(charset))
}

// encoding says how to read a document.
type encoding int

const (
	unknownEncoding encoding = iota
	asUTF8
	asUTF16
	asLatin1
)

// encodingOf returns the encoding of a name, in any case, or of a common short name.
func encodingOf(name string) encoding {
	switch strings.ToLower(name) {
	case "utf-8", "utf8", "us-ascii", "ascii": // UTF-8 has the same characters as ASCII
		return asUTF8
	case "utf-16", "utf-16le", "utf-16be", "utf16":
		return asUTF16
	case "iso-8859-1", "latin1":
		return asLatin1
	}
	return unknownEncoding
}

func fromLatin1(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for _, b := range text {
		out = utf8.AppendRune(out, rune(b))
	}
	return out
}

func fromUTF16(text []byte, order binary.ByteOrder) ([]byte, error) {
	if len(text)%2 != 0 {
		return nil, errors.New("a document in UTF-16 has an even number of bytes")
	}
	out := make([]byte, 0, len(text))
	for ; len(text) > 0; text = text[2:] {
		r := rune(order.Uint16(text))
		if utf16.IsSurrogate(r) {
			if len(text) < 4 {
				return nil, errors.New("a character of UTF-16 is cut off")
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(text[2:]))); r == utf8.RuneError {
				return nil, errors.New("half of a character of UTF-16 has no other half")
			}
			text = text[2:]
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}
