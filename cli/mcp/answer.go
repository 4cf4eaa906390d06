package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"minibus/internal/printable"
)

// What an assistant gets at most, in bytes: of one text, such as a body, and of an answer. It would pay for more and
// understand less.
const (
	mostText   = 4 << 10
	mostAnswer = 64 << 10
)

// shown returns an answer of the API as an assistant gets it. An assistant passes on what it reads, and needs no key
// to use the tools.
func (o *Options) shown(text []byte) string {
	if len(text) == 0 {
		return "done"
	}
	if !utf8.Valid(text) {
		text = []byte("base64 " + base64.StdEncoding.EncodeToString(text))
	}
	text = shortened(o.Hider.JSON(text))
	if len(text) <= mostAnswer {
		return string(text)
	}
	return printable.Cut(string(text), mostAnswer) +
		fmt.Sprintf("\n... The answer has %d bytes, of which these are the first. Ask for less: fewer items with "+
			"limit, a filter, or one entity.", len(text))
}

// shortened cuts the long texts in JSON.
func shortened(text []byte) []byte {
	if len(text) <= mostText {
		return text
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(shorter(v)) != nil {
		return text
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func shorter(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > mostText {
			return printable.Cut(v, mostText) + fmt.Sprintf("... (cut: %d bytes in all)", len(v))
		}
	case []any:
		for i := range v {
			v[i] = shorter(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = shorter(v[key])
		}
	}
	return v
}
