package mgmt

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"minibus/emulator"
)

const batchType = "application/vnd.microsoft.servicebus.json"

// TestQUO5_MessageSizesOverHTTP: Minibus refuses a message that is too large with 403, and does not read it to its end.
func TestQUO5_MessageSizesOverHTTP(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	b.makeQueue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 10 << 10})
	b.post("q", strings.Repeat("x", 250<<10))
	for name, n := range map[string]int{"just above": 262_144 - 10, "announced": 262_145, "far above": 20 << 20} {
		w := b.do("POST", "/q/messages", strings.Repeat("x", n))
		if wants(t, w, 403, "SubCode=40300.", "exceeds the limit of 262144 bytes"); t.Failed() {
			t.Fatal(name)
		}
	}
	body := &endless{}
	r := httptest.NewRequest(http.MethodPost, "/q/messages", body)
	r.ContentLength = -1
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	wants(t, w, 403, "exceeds the limit")
	if body.read > 1<<20 {
		t.Errorf("%d bytes were read", body.read)
	}
	body = &endless{}
	r = httptest.NewRequest(http.MethodPost, "/q/messages", body)
	r.ContentLength = 1 << 40
	w = httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	wants(t, w, 403, "exceeds the limit")
	if body.read > 0 {
		t.Errorf("%d bytes were read of a body that was announced as too large", body.read)
	}
	b.wantCounts("q", 1, 0)

	large := strings.Repeat("0123456789abcdef", 9<<16)
	b.post("large", large)
	if w := b.do("DELETE", "/large/messages/head", ""); w.Code != 200 || w.Body.String() != large {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
}

// TestBatches: all or none, up to the size of one message (QUO-6, QUO-14).
func TestBatches(t *testing.T) {
	b := newBus(t, emulator.ProfileStandard)
	b.makeQueue("q", emulator.QueueOptions{})
	b.makeQueue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 10 << 10})
	send := func(queue, document string, status int, texts ...string) {
		t.Helper()
		wants(t, b.do("POST", "/"+queue+"/messages", document, "Content-Type", batchType+"; charset=utf-8", "Custom", "ignored"), status, texts...)
	}
	send("q", `[]`, 201)
	send("q", `[{"Body":"first","BrokerProperties":{"Label":"M1"}},{"Body":"second","UserProperties":{"caseKept":3}}]`, 201)
	w := b.do("DELETE", "/q/messages/head", "")
	if wants(t, w, 200, "first"); brokerProperties(t, w)["Label"] != "M1" || w.Header().Get("Custom") != "" {
		t.Errorf("%v", w.Header())
	}
	w = b.do("DELETE", "/q/messages/head", "")
	if wants(t, w, 200, "second"); fmt.Sprint(exactly(w.Header(), "caseKept")) != "[3]" {
		t.Errorf("%v", w.Header())
	}
	send("q", `[{"Body":"a"},{"Label":"b"}]`, 400, "SubCode=40000. Message 2 of the batch: It has no 'Body'.")
	part := `{"Body":"` + strings.Repeat("x", 100<<10) + `"}`
	send("q", `[`+part+`,`+part+`]`, 201)
	send("q", `[`+part+`,`+part+`,`+part+`]`, 403, "exceeds the limit of 262144 bytes")
	send("q", `[`+strings.TrimSuffix(strings.Repeat(`{"Body":""},`, 4501), ",")+`]`, 400, "4501 messages")
	send("q", strings.Repeat(" ", 1<<20), 403, "exceeds the limit")
	send("large", `[`+strings.TrimSuffix(strings.Repeat(part+",", 11), ",")+`]`, 403, "exceeds the limit of 1048576 bytes")
	b.wantCounts("q", 2, 0)
	b.wantCounts("large", 0, 0)
	for range 2 * maxLargeBatches { // each gives its slot back, even a refused one
		send("large", `[`+part+`,{}]`, 400, "Message 2 of the batch")
		send("large", `[`+part+`]`, 201)
	}
	b.wantCounts("large", 2*maxLargeBatches, 0)
	b.makeQueue("sessions", emulator.QueueOptions{RequiresSession: true})
	send("sessions", `[{"Body":"a","BrokerProperties":{"SessionId":"s"}},{"Body":"b"}]`, 400, "The SessionId was not set on a message")
	b.wantCounts("sessions", 0, 0)
}

// TestHostileSends: each gets a clear error, and nothing is stored.
func TestHostileSends(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	for name, headers := range map[string][]string{
		"deep":              {"BrokerProperties", strings.Repeat(`{"a":`, 10_000)},
		"deep array":        {"BrokerProperties", `{"a":` + strings.Repeat("[", 20_000)},
		"bad utf-8":         {"BrokerProperties", "{\xff}"},
		"bad utf-8 in type": {"Content-Type", "a/\xff"},
		"type not ascii":    {"Content-Type", "text/ü"},
		"deep batch":        {"Content-Type", batchType},
	} {
		w := b.do("POST", "/q/messages", strings.Repeat("[", 100_000), headers...)
		if wants(t, w, 400, "SubCode=40000."); t.Failed() || w.Body.Len() > 1024 {
			t.Fatalf("%s: %s", name, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/q/messages", strings.NewReader("x"))
	r.Header["Brokerproperties"] = []string{`{"Label":"a"}`, `{"Label":"b"}`}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	wants(t, w, 400, "BrokerProperties is not a JSON object")
	wants(t, b.do("POST", "/q/messages", "x", "Big", strings.Repeat("x", 65<<10)), 403, "SubCode=40300. The size quota for this stream (65536) has been exceeded.")
	wants(t, b.do("POST", "/q/messages/head", strings.Repeat("x", 100_000)), 400, "must have none")
	b.wantCounts("q", 0, 0)
}

// TestLatin1HeadersComeBackAsUTF8, over the wire: net/http passes their bytes on as they are.
func TestLatin1HeadersComeBackAsUTF8(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nBrokerProperties: {\"Label\":\"gr\xfcn\"}\r\nstra\xdfe: no name\r\n\r\n")
		c.answer(400) // not a valid header name
		c = s.connect(t)
		c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nBrokerProperties: {\"Label\":\"gr\xfcn\"}\r\nFarbe: \"gr\xfcn\"\r\n\r\n")
		c.answer(201)
		c.send("DELETE /q/messages/head HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
		h, _ := c.answer(200)
		if h.Get("Farbe") != `"grün"` || !strings.Contains(h.Get("BrokerProperties"), `"Label":"gr\u00fcn"`) {
			t.Errorf("%q", h)
		}
	})
}

// TestBodiesThatCannotBeDecoded: the broker never decodes a body, so it stores them, and a receive returns their
// bytes. Locks and failed deliveries work as for any message.
func TestBodiesThatCannotBeDecoded(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{MaxDeliveryCount: 2})
	for _, tt := range []struct{ raw, body, kind string }{
		{"\x00\x53\x77\xc0\x02\x07\x40", "\x00\x53\x77\xc0\x02\x07\x40", "application/octet-stream"},
		{"\x00\x53\x73\xc0\x0a\x07\x40\x40\x40\x40\x40\x40\xa3\x01t\x00\x53\x76\xc0\x04\x01\xa1\x01\xff", "\x00\x53\x76\xc0\x04\x01\xa1\x01\xff", "t"},
		{"\x00\x53\x77\xa1\x01\xff", "\xff", "text/plain; charset=utf-8"},
	} {
		shows := func(w *httptest.ResponseRecorder, status int) {
			t.Helper()
			if got := w.Header().Get("Content-Type"); w.Code != status || w.Body.String() != tt.body || got != tt.kind {
				t.Errorf("%q: %d %q of type %s", tt.raw, w.Code, w.Body, got)
			}
		}
		b.sendRaw("q", []byte(tt.raw))
		for count := 1.0; count <= 2; count++ {
			w := b.do("POST", "/q/messages/head", "")
			shows(w, 201)
			if got := brokerProperties(t, w)["DeliveryCount"]; got != count {
				t.Errorf("%q: delivery %v, want %v", tt.raw, got, count)
			}
			wants(t, b.do("PUT", location(t, w), ""), 200)
		}
		b.wantCounts("q", 0, 1)
		shows(b.do("DELETE", "/q/$deadletterqueue/messages/head", ""), 200)
	}
}

// TestHeaderBombs: net/http refuses them before the handler runs.
func TestHeaderBombs(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		for _, head := range []string{strings.Repeat("a: b\r\n", 20_000), "a: " + strings.Repeat("x", 100_000) + "\r\n"} {
			c := s.connect(t)
			go func() { _, _ = io.WriteString(c, "POST /q/messages HTTP/1.1\r\nHost: h\r\n"+head+"\r\n") }()
			c.answer(431)
			_ = c.Close()
			synctest.Wait()
		}
		s.wantCounts("q", 0, 0)
	})
}

// TestBodiesShareMemory: the memory for bodies of all connections together is bounded.
func TestBodiesShareMemory(t *testing.T) {
	used := &counter{n: maxReading - 100_000}
	b := &body{r: &endless{}, used: used}
	if _, err := b.read(nil, 50_000_000, -1); !errors.Is(err, errBusy) {
		t.Errorf("%v", err)
	}
	b.release()
	used.Add(200_000)
	if _, err := (&body{r: strings.NewReader("small"), used: used}).read(nil, 50_000_000, 5); err != nil {
		t.Errorf("a small body, while large ones use up everything: %v", err)
	}
	used.Add(-200_000)
	if used.n != maxReading-100_000 {
		t.Errorf("%d bytes are in use", used.n)
	}
	b = &body{r: strings.NewReader("hello"), used: used}
	if got, err := b.read([]byte("x"), 5, 5); string(got) != "xhello" || err != nil || cap(got) > 8 {
		t.Errorf("%q %v, room for %d", got, err, cap(got))
	}
}

// counter counts without a lock.
type counter struct{ n int64 }

func (c *counter) Add(n int64) int64 { c.n += n; return c.n }

// TestPropertiesThatHeadersCannotSay: the answer omits them and is otherwise unchanged.
func TestPropertiesThatHeadersCannotSay(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	b.makeQueue("q", emulator.QueueOptions{})
	w := b.do("POST", "/q/messages", `[{"Body":"x","UserProperties":{"Content-Length":"1000","Transfer-Encoding":"chunked","Set-Cookie":"a=b","Location":"http://evil/",`+
		`"two words":1,"a:b":1,"ü":1,"split":"a\r\nSet-Cookie: c=d","null":null,"good":1}}]`, "Content-Type", batchType)
	wants(t, w, 201)
	w = b.do("DELETE", "/q/messages/head", "")
	wants(t, w, 200, "x")
	want := []string{"BrokerProperties", "Content-Type", "Server", "good", "split"} // and no other, of which old clients would make properties
	for name, values := range w.Header() {
		if strings.ContainsAny(values[0], "\r\n") || !strings.Contains(strings.Join(want, " "), name) {
			t.Errorf("%s: %v", name, values)
		}
	}
	if len(w.Header()) != len(want) {
		t.Errorf("%v", w.Header())
	}
}
