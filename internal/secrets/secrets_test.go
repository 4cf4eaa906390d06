package secrets

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
)

// odd is a key with all that ends a text somewhere.
const odd = `k"e\y&w'i t<h>=+/ä%`

func TestTextHidesAKnownSecretHoweverItIsWritten(t *testing.T) {
	h := New("", "abc", odd)
	asJSON, _ := json.Marshal(odd)
	for _, text := range []string{odd, fmt.Sprintf("%q", odd), fmt.Sprintf("%+q", odd), string(asJSON), url.QueryEscape(odd), url.PathEscape(odd), html.EscapeString(odd)} {
		if got := h.Text("an <" + text + "> b abc"); strings.Contains(got, "y") || !strings.HasPrefix(got, "an <") || !strings.HasSuffix(got, "> b abc") {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
}

func TestTextHidesWhatHasTheShapeOfASecret(t *testing.T) {
	h := New()
	for text, want := range map[string]string{
		"sr=a&sig=abc%3d&se=1": "sr=a&sig=***&se=1", "/q%3Fsig%3Dabc": "/q%3Fsig%3D***", "Bearer eyJ.a.b": "Bearer ***",
		"entity eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln-_ is none": "entity eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.*** is none",
		"SharedAccessKey=abc=;x":                                     "SharedAccessKey=***;x",
		"Endpoint=sb://h;sharedaccesskey = " + odd + ";a=b":          "Endpoint=sb://h;sharedaccesskey = ***;a=b",
		"SharedAccessKey=" + odd + "\nnext":                          "SharedAccessKey=***\nnext",
		"?c=SharedAccessKey%3D" + url.QueryEscape(odd) + "'&b=1":     "?c=SharedAccessKey%3D***&b=1",
		"the design=x of q; SharedAccessKeyName=root is a policy.":   "the design=x of q; SharedAccessKeyName=root is a policy.",
	} {
		if got := h.Text(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestJSONHidesSecretsBeforeTheyAreEncoded(t *testing.T) {
	connection := "Endpoint=sb://h;SharedAccessKey=" + odd + ";x"
	document := func(v any) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		return b.String()
	}
	for _, c := range []struct{ text, want string }{
		{document(map[string]any{"z": connection, "a": 1.5}), `{"a":1.5,"z":"Endpoint=sb://h;SharedAccessKey=***;x"}` + "\n"},
		{`{"z": 1, "PrimaryKey" : "` + "a" + `", "secondaryKey":"", "n": {"primaryKey": "b", "k": "c"}}`,
			`{"z": 1, "PrimaryKey" : "***", "secondaryKey":"", "n": {"primaryKey": "***", "k": "c"}}`},
		{document([]any{odd, "\u003c"}), "[\"***\",\"<\"]\n"},
		{`{"n":12345678901234567890}` + "\n" + document(connection), `{"n":12345678901234567890}` + "\n\"Endpoint=sb://h;SharedAccessKey=***;x\"\n"},
		{`no JSON "SharedAccessKey=abc`, `no JSON "SharedAccessKey=***`},
		{"SharedAccessKey=abc;x", "SharedAccessKey=***;x"},
		{"[true, null, -1.5E+2]", "[true, null, -1.5E+2]"},
		{"", ""},
	} {
		if got := string(New(odd).JSON([]byte(c.text))); got != c.want {
			t.Errorf("%s is shown as %s, want %s", c.text, got, c.want)
		}
	}
	inner := document(connection) // JSON in a text in JSON
	if got := string(New().JSON([]byte(document(inner)))); strings.Contains(got, "i t<h") {
		t.Errorf("%s", got)
	}
}
