package control_test

import (
	"regexp"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
)

// TestControlAPIShowsMalformedMessages with a note, and their neighbours as usual.
func TestControlAPIShowsMalformedMessages(t *testing.T) {
	a := controlAPI(t)
	const all = inDefault + "work/messages"
	a.queueWith("work", emulator.QueueOptions{})
	nested := "\x40"
	for range 40 {
		nested = "\xc0" + string(rune(len(nested)+1)) + "\x01" + nested
		if len(nested) > 120 {
			break
		}
	}
	values := []string{"\xa1\x02\xff\xfe", "\xa3\x02\xff\xfe", "\x56\x07", nested, "\xd0\x00\x00\x00\x04\xff\xff\xff\xff", "\xf0\x00\x00\x00\x05\xff\xff\xff\xff\x40", "\xd1\x00\x00\x00\x05\x00\x00\x00\x01\x40", "\x73\x00\x11\x00\x00"}
	a.bus.sendRaw("work", []byte("\x00\x53\x75\xa0\x04good"))
	for _, v := range values {
		properties := "\x02\xa1\x01a" + v
		a.bus.sendRaw("work", []byte("\x00\x53\x74\xc1"+string([]byte{byte(len(properties))})+properties+"\x00\x53\x75\xa0\x03bad"))
	}
	a.bus.sendRaw("work", []byte("\x00\x53\x77\x73\x00\x11\x00\x00"))
	a.bus.sendRaw("work", []byte("\x00\x53\x75\xa0\x06second"))
	for _, w := range []string{a.as("root", "GET", all, "").Body.String(), a.as("root", "POST", inDefault+"work/receive", `{"max":20}`).Body.String()} {
		if strings.Count(w, `"malformed":[{"section":"applicationProperties","error":"`) < 6 || strings.Count(w, `"section":"body"`) != 1 || !strings.Contains(w, `"body":"good"`) ||
			!strings.Contains(w, `"body":"bad"`) || !strings.Contains(w, `"body":"second"`) {
			t.Errorf("malformed messages among others are shown as %s", w)
		}
	}
	wants(t, a.as("root", "GET", all+"/9", ""), 200, `"malformed":[{"section":"applicationProperties","error":"`, `"bytesBase64":"AFN0wQkCoQFhcwARAAA="`, `"bytes":14`)
	wants(t, a.as("root", "GET", all+"/10", ""), 200, `"section":"body"`)
	wants(t, a.as("root", "GET", all+"/10/body", ""), 200)
	wants(t, a.as("root", "POST", all, `{"body":"x","malformed":[{"section":"body","error":"e","bytesBase64":"","bytes":0}]}`), 400, "malformed: the message is not whole")
}

// TestControlAPIRefusesWhatItWouldMiss in a body or a query: the second of two members or arguments of one name,
// names in another case, and bytes that are no text.
func TestControlAPIRefusesWhatItWouldMiss(t *testing.T) {
	a := controlAPI(t)
	a.queueWith("work", emulator.QueueOptions{})
	const messages, faults, matches, namespaces = inDefault + "work/messages", control.Prefix + "namespaces/$default/faults", inDefault + "work/match", control.Prefix + "namespaces"
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", messages, `{"body":"a","body":"b"}`, `found \"body\" twice in one object`},
		{"POST", messages, `[{"body":"a"},{"applicationProperties":{"x":1,"\u0078":2}}]`, `found \"x\" twice`},
		{"POST", messages, `{"Body":"a"}`, `unknown field \"Body\", did you mean body?`},
		{"POST", messages, "{\"body\":\"\xff\"}", "not UTF-8"},
		{"POST", messages, `{"body":"\ud83d"}`, "half of a surrogate pair"},
		{"POST", messages, `{"priority":300}`, `priority: found 300; allowed: a whole number from 0 to 255`},
		{"POST", messages, `{"applicationProperties":5}`, `found a number; allowed: an object`},
		{"POST", matches, `{"message":{},"message":{}}`, `found \"message\" twice`},
		{"POST", matches, `{"message":{"body":1,"body":2}}`, `found \"body\" twice`},
		{"POST", faults, `{"kind":"throttle","kind":"drop"}`, `found \"kind\" twice`},
		{"POST", faults, `{"Kind":"throttle"}`, `body.Kind: unexpected property`},
		{"POST", faults, `{"kind":"throttle","count":99999999999999999999}`, `count: found 99999999999999999999; allowed: a whole number from`},
		{"POST", namespaces, `{"name":"abcdef","name":"bcdefg"}`, `found \"name\" twice`},
		{"PUT", inDefault + "new", `{"Properties":{"LockDuration":"PT1M","LockDuration":"PT2M"}}`, `found the key \"LockDuration\" a second time; leave one of them out`},
		{"GET", messages + "?limit=1&limit=2", "", `The query has \"limit\" more than once`},
		{"GET", messages + "?text=%zz", "", `The query of the request can't be read`},
		{"DELETE", messages + "?sequenceNumbers=1&sequenceNumbers=2", "", `A list is one argument with commas`},
	} {
		w := a.as("root", c.method, c.path, c.body)
		wants(t, w, 400, c.want)
		if strings.Contains(w.Body.String(), "Go ") {
			t.Errorf("%s %s speaks of Go: %s", c.path, c.body, w.Body)
		}
	}
	if n := len(a.bus.broker.Namespaces()); n != 2 {
		t.Errorf("%d namespaces", n)
	}
	wants(t, a.as("root", "GET", messages, ""), 200, `"items":[]`)
	wants(t, a.as("root", "GET", faults, ""), 200, `"items":[]`)
	wants(t, a.as("root", "POST", messages, `{"body":"\ud83d\ude00","applicationProperties":{"a":1,"A":2}}`), 201)
	wants(t, a.as("root", "GET", messages+"?properties=true", ""), 200, `"body":"😀"`, `"A":2`, `"a":1`)
}

// TestControlAPIRefusesUnknownQueries of every operation, as the document says.
func TestControlAPIRefusesUnknownQueries(t *testing.T) {
	a := controlAPI(t)
	parameter := regexp.MustCompile(`\{[a-zA-Z]+\}`)
	for template, methods := range a.paths {
		path := parameter.ReplaceAllString(strings.ReplaceAll(template, "{namespace}", "orders"), "1")
		for method, o := range methods {
			if path == control.DocumentPath {
				continue
			}
			for query, want := range map[string]string{"?unlike=1": "query.unlike: unknown query parameter", "?unlike=1&unlike=1": "more than once"} {
				body := ""
				if o.RequestBody.Content != nil {
					body = "{}"
				}
				wants(t, a.as("root", method, path+query, body), 400, want)
			}
		}
	}
}
