package jsontree

import "testing"

// TestMarshalKeepsWhatWasRead: members in their order, numbers as they were spelt, texts without the escapes of HTML.
func TestMarshalKeepsWhatWasRead(t *testing.T) {
	const text = `{"b":[1,2.50,-3e7,true,null,{}],"a":"<\"é\\n>","":[]}`
	n, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := n.MarshalJSON()
	if err != nil || string(got) != text {
		t.Errorf("%s %v, want %s", got, err, text)
	}
	n, err = Parse(`[+1, 007, // seven
		'x']`)
	if err == nil {
		t.Errorf("%+v for a text in wrong quotation marks", n)
	}
	if n, err = Parse(`[+1, 007, ]`); err == nil {
		t.Errorf("%+v for a number that begins with +", n)
	}
	if n, err = Parse(`[007, -0.10, ]`); err != nil {
		t.Fatal(err)
	}
	if got, _ := n.MarshalJSON(); string(got) != `[7,-0.10]` {
		t.Errorf("%s", got)
	}
}

// TestParseUpTo counts all values.
func TestParseUpTo(t *testing.T) {
	const text = `{"a": [1, 2]}`
	if _, err := ParseUpTo(text, 4); err != nil {
		t.Error(err)
	}
	if n, err := ParseUpTo(text, 3); err == nil || err.Error() != "found too many values" {
		t.Errorf("%+v %v", n, err)
	}
}

// TestParseBare reads the key that az writes.
func TestParseBare(t *testing.T) {
	const text = `{"properties": {"mode": "Incremental", template: {"a": 1}}}`
	n, err := ParseBare(text, 100)
	if err != nil || n.Get("properties").Get("template").Get("a") == nil {
		t.Errorf("%+v %v", n, err)
	}
	if _, err := Parse(text); err == nil {
		t.Error("Parse takes it too")
	}
}
