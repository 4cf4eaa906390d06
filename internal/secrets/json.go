package secrets

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// keyMembers are the members of objects that are keys, in lower case.
var keyMembers = map[string]bool{"primarykey": true, "secondarykey": true}

// between matches what JSON does not have between its texts.
var between = regexp.MustCompile(`[^\s{}\[\],:0-9+\-.eEtrufalsn]`)

// JSON returns JSON documents without secrets: it hides them in each name and text as those are before they are
// encoded. All else stays as it is, the order of members too. What is not JSON is taken for text.
func (h *Hider) JSON(documents []byte) []byte {
	var out bytes.Buffer
	key := false // the next text is one
	for rest := documents; len(rest) > 0; {
		begin := bytes.IndexByte(rest, '"')
		if begin < 0 {
			begin = len(rest)
		}
		if between.Match(rest[:begin]) {
			return []byte(h.Text(string(documents)))
		}
		if begin == len(rest) {
			out.Write(rest)
			break
		}
		end := endOfText(rest[begin:])
		var text string
		if end < 0 || json.Unmarshal(rest[begin:begin+end], &text) != nil {
			return []byte(h.Text(string(documents)))
		}
		literal, after := rest[begin:begin+end], rest[begin+end:]
		out.Write(rest[:begin])
		isName := bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":"))
		shown := h.Text(text)
		if key && !isName && text != "" {
			shown = hidden
		}
		key = isName && keyMembers[strings.ToLower(text)]
		if shown != text {
			literal = encoded(shown)
		}
		out.Write(literal)
		rest = after
	}
	return out.Bytes()
}

// endOfText returns where a text in JSON ends, behind its second quotation mark; less than 0: nowhere.
func endOfText(literal []byte) int {
	for i := 1; i < len(literal); i++ {
		switch literal[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

func encoded(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // memory
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
