package atom

import "testing"

func TestForwardPath(t *testing.T) {
	for in, want := range map[string][2]string{
		"":                           {"", ""},
		"q":                          {"q", "q"},
		"/a/b/":                      {"a/b", "/a/b/"},
		"sb://host/q":                {"q", "sb://host/q"},
		"SB://HOST:5672/A/b":         {"A/b", "sb://host:5672/A/b"},
		"https://h/a%2Fb?x#y":        {"a/b", "https://h/a%2Fb?x#y"},
		"sb://host":                  {"", "sb://host"},
		"sb://host?q":                {"", "sb://host?q"},
		"a/b://c":                    {"a/b://c", "a/b://c"},
		"://x/y":                     {":/" + "/x/y", "://x/y"},
		"  sb://h/q\n":               {"q", "sb://h/q"},
		"sb://h/%zz":                 {"%zz", "sb://h/%zz"},
		"amqps://h:5671//q/":         {"q", "amqps://h:5671//q/"},
		"http://[::1]:5300/topic.1/": {"topic.1", "http://[::1]:5300/topic.1/"},
	} {
		if path, shown := forwardPath(in); path != want[0] || shown != want[1] {
			t.Errorf("%q: %q %q", in, path, shown)
		}
	}
	if got := shownForward("new", "sb://h/old"); got != "new" {
		t.Errorf("a text that is out of date is shown: %s", got)
	}
}

func TestMessageOfAnError(t *testing.T) {
	for want, e := range map[string]Error{
		"SubCode=40000. Bad Request. ":                                   {SubCode: 40000, Text: "Bad Request. "},
		"x.\r\nParameter name: P. ":                                      {Text: "x.", Parameter: "P"},
		"SubCode=40000. x.\r\nParameter name: P\r\nActual value was 1. ": {SubCode: 40000, Text: "x.", Parameter: "P", Actual: "1"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestVersions(t *testing.T) {
	for v, want := range map[Version][2]bool{
		"": {true, true}, "2013-10": {false, false}, "2017-04": {false, false}, "2021-05": {true, false}, "2024-05": {true, true},
		"2030-01-01": {true, true}, "latest": {true, true}, "1": {true, true},
	} {
		if got := [2]bool{v.has(version2021), v.has(version2024)}; got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}
