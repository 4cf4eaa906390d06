package strictjson

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4,"b":"a"}],"A":5}`: "",
		`["a","a",{"x":["y","y"],"y":"x"}]`:                       "",
		`{"a":"\"a\":","b":"\\","c":"{\"c\":"}`:                   "",
		`{"a":1,"a":2}`:                                           `found "a" twice in one object`,
		`{"a":1,"\u0061":2}`:                                      `found "a" twice`,
		`{"a":{"b":1,"c":[],"b":2}}`:                              `found "b" twice`,
		`[{"a":[{}],"a":2}]`:                                      `found "a" twice`,
		"{\"a\":\"\xff\"}":                                        "not UTF-8",
		`"\ud83d\ude00 \\ud83d \u00e4"`:                           "",
		`"\ud83d"`:                                                "half of a surrogate pair",
		`"\ud83dx\ude00"`:                                         "half of a surrogate pair",
		`"\uDE00"`:                                                "half of a surrogate pair",
		`"\ud83d\ud83d"`:                                          "half of a surrogate pair",
		`}}]`:                                                     "",
		`{"a`:                                                     "",
		`"a\`:                                                     "",
		`,"a","a"`:                                                "",
		``:                                                        "",
	} {
		if err := Check([]byte(text)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Check(%s) = %v, want %q", text, err, want)
		}
	}
}

func TestDecode(t *testing.T) {
	type inner struct {
		Whole uint8 `json:"whole"`
	}
	type outer struct {
		Text  string         `json:"text,omitempty"`
		Count int            `json:"count"`
		Share float64        `json:"share"`
		Yes   bool           `json:"yes"`
		Bytes []byte         `json:"bytes"`
		List  []string       `json:"list"`
		Inner *inner         `json:"inner"`
		Any   map[string]any `json:"any"`
		Addr  netip.Addr     `json:"addr"`
	}
	var good outer
	if err := Decode([]byte(` {"text":"x","count":-1,"any":{"Text":5.0,"text":1}}`), &good); err != nil || good.Any["Text"] != json.Number("5.0") || good.Count != -1 {
		t.Errorf("Decode = %v, %+v", err, good)
	}
	for text, want := range map[string]string{
		`{"Text":"x"}`:            `unknown field "Text", did you mean text?`,
		`{"txt":"x"}`:             `near line 1, column 11: unknown field "txt"`,
		"{\n\"ä\":}":              "near line 2, column 5: invalid character '}' looking for beginning of value",
		`{"text":"x","text":"y"}`: `found "text" twice in one object`,
		`{"text":5}`:              `text: found a number; allowed: a text`,
		`{"text":[]}`:             `text: found an array; allowed: a text`,
		`{"count":"x"}`:           `count: found a text; allowed: a whole number from -9223372036854775808 to 9223372036854775807`,
		`{"count":1.5}`:           `count: found 1.5; allowed: a whole number`,
		`{"share":1e400}`:         `share: found 1e400; allowed: a number up to 1.8e+308`,
		`{"yes":{}}`:              `yes: found an object; allowed: true or false`,
		`{"bytes":true}`:          `bytes: found true or false; allowed: a text in base64`,
		`{"list":{}}`:             `list: found an object; allowed: an array`,
		`{"inner":{"whole":300}}`: `inner.whole: found 300; allowed: a whole number from 0 to 255`,
		`{"inner":"x"}`:           `inner: found a text; allowed: an object`,
		`{"addr":5}`:              `addr: found a number; allowed: a text`,
		`"x"`:                     `found a text; allowed: an object`,
		`{} {}`:                   "more than one JSON document",
		`{`:                       "unexpected EOF",
	} {
		if err := DecodeText([]byte(text), new(outer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("DecodeText(%s) = %v, want %q", text, err, want)
		}
		if err := Decode([]byte(text), new(outer)); err == nil || strings.Contains(err.Error(), "line") {
			t.Errorf("Decode(%s) = %v", text, err)
		}
	}
}
