package mgmt

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"minibus/emulator"
)

// TestHostileBodies: each gets a clear error, and nothing is created.
func TestHostileBodies(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	bomb := `<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY c "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>` + queueEntry("<UserMetadata>&c;</UserMetadata>")
	external := `<!DOCTYPE b SYSTEM "file:///etc/passwd">` + queueEntry("")
	for name, body := range map[string]string{
		"empty":            "",
		"text":             "hello",
		"json":             `{"a":1}`,
		"bomb":             bomb,
		"external":         external,
		"unknown entity":   queueEntry("<UserMetadata>&nbsp;</UserMetadata>"),
		"deep":             strings.Repeat("<a>", 100_000),
		"deep and closed":  queueEntry(strings.Repeat("<a>", 40) + strings.Repeat("</a>", 40)),
		"wide":             queueEntry(strings.Repeat("<a/>", 30_000)),
		"not closed":       `<entry><content type="application/xml"><QueueDescription>`,
		"wrong end":        `<entry><content></entry></content>`,
		"wrong prefix":     `<a:entry xmlns:a="x"></entry>`,
		"two roots":        queueEntry("") + queueEntry(""),
		"text behind":      queueEntry("") + "x",
		"no content":       `<entry/>`,
		"empty content":    `<entry><content/></entry>`,
		"another thing":    entry("EventHubDescription", ""),
		"a subscription":   entry("SubscriptionDescription", ""),
		"bad utf-8":        queueEntry("<UserMetadata>\xff\xfe</UserMetadata>"),
		"bad utf-8 in tag": "<entry><\xff/></entry>",
		"utf-16, it says":  `<?xml version="1.0" encoding="utf-16"?>` + queueEntry(""),
		"utf-16, odd":      "\xff\xfe<\x00a",
		"utf-16, half":     "\xfe\xff\x00<\x00a\x00>\xd8\x00\x00<\x00/\x00a\x00>",
		"another encoding": `<?xml version="1.0" encoding='windows-1252'?>` + queueEntry(""),
		"control":          queueEntry("<UserMetadata>\x01</UserMetadata>"),
		"control by code":  queueEntry("<UserMetadata>&#x1;</UserMetadata>"),
	} {
		w := b.do("PUT", "/q", body)
		if wants(t, w, 400, "<Code>400</Code>", "SubCode=40000. "); t.Failed() {
			t.Fatal(name)
		}
		if w.Body.Len() > 1024 {
			t.Errorf("%s: the answer has %d bytes", name, w.Body.Len())
		}
	}
	if n := len(b.ns.Entities().Queues()); n != 0 {
		t.Errorf("%d queues were created", n)
	}
}

// endless is a body without end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestHugeBodiesAreCutOff(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	body := &endless{}
	r := httptest.NewRequest(http.MethodPut, "/q", io.MultiReader(strings.NewReader(`<entry><content>`), body))
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	wants(t, w, 413, "<Code>413</Code>", "more than 1048576 bytes")
	if body.read > 4<<20 {
		t.Errorf("%d bytes were read", body.read)
	}
}

// TestTolerantBodies: Minibus understands the bodies of clients of all languages.
func TestTolerantBodies(t *testing.T) {
	const sb, xsi = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect", "http://www.w3.org/2001/XMLSchema-instance"
	for name, body := range map[string]string{
		"bom and declaration": "\xEF\xBB\xBF" + `<?xml version="1.0" encoding="utf-8"?>` + "\r\n" + queueEntry("<MaxDeliveryCount>7</MaxDeliveryCount>"),
		"python": `<ns0:entry xmlns:ns0="http://www.w3.org/2005/Atom"><ns0:content type="application/xml"><ns1:QueueDescription xmlns:ns1="` + sb +
			`"><ns1:MaxDeliveryCount>7</ns1:MaxDeliveryCount></ns1:QueueDescription></ns0:content></ns0:entry>`,
		"javascript": `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><entry xmlns="http://www.w3.org/2005/Atom"><updated>2026-03-01T10:00:00.000Z</updated>` +
			"\n  " + `<content type="application/xml">` + "\n    " + `<QueueDescription xmlns="` + sb + `" xmlns:i="` + xsi + `">` + "\n      " +
			`<MaxDeliveryCount>7</MaxDeliveryCount>` + "\n" + `</QueueDescription></content></entry>`,
		"java": `<?xml version='1.0' encoding='UTF-8'?><entry xmlns="http://www.w3.org/2005/Atom"><id></id><title type="text"/><author><name/></author>` +
			`<content type="application/xml"><wstxns1:QueueDescription xmlns:wstxns1="` + sb + `"><wstxns1:MessageCount>0</wstxns1:MessageCount>` +
			`<wstxns1:MaxDeliveryCount> 7 </wstxns1:MaxDeliveryCount></wstxns1:QueueDescription></content></entry>`,
		"nil":          queueEntry(`<LockDuration i:nil="true"/><MaxDeliveryCount>7</MaxDeliveryCount>`),
		"comments":     queueEntry(`<!-- a --><MaxDeliveryCount>7<!-- b --></MaxDeliveryCount><?go on?>`),
		"out of order": queueEntry(`<UserMetadata>x</UserMetadata><EnableExpress>false</EnableExpress><MaxDeliveryCount>7</MaxDeliveryCount>`),
	} {
		b := newBus(t, emulator.ProfileRelaxed)
		if wants(t, b.do("PUT", "/q", body), 201, "<MaxDeliveryCount>7<", "<LockDuration>PT1M<"); t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestTextsComeBackAsTheyWere, escapes and all.
func TestTextsComeBackAsTheyWere(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	const text = `a &lt;b&gt; &amp;amp; "q" 'p' ü 😀&#xD;` + "\n\tend"
	for range 2 {
		wants(t, b.do("PUT", "/q", queueEntry("<UserMetadata>"+text+"</UserMetadata>")), 201, "<UserMetadata>"+text+"</UserMetadata>")
		wants(t, b.do("DELETE", "/q", ""), 200)
	}
	w := b.do("GET", "/q?api-version=%22%3E%3Cscript%3E", "")
	if bytes.Contains(w.Body.Bytes(), []byte("<script>")) {
		t.Error(w.Body)
	}
	w = b.do("PUT", "/%3Cscript%3E", queueEntry(""))
	wants(t, w, 400, "&lt;script&gt;")
	lacks(t, w, "<script>")
}
