package rest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"minibus/internal/amqp/message"
	"minibus/mgmt/rest"
)

// FuzzBrokerProperties: the headers of a send are refused, or make a message that the broker can read
// and a receive can show; the shown headers make the same message again.
func FuzzBrokerProperties(f *testing.F) {
	for _, s := range [][2]string{
		{`{}`, `"a \"b\""`}, {``, `12`}, {`{"Label":"M1","TimeToLive":40}`, `true`},
		{`{"MessageId":"ü","SessionId":"s","PartitionKey":"s","ViaPartitionKey":"v"}`, `"Tue, 30 Jun 2026 20:51:21 GMT"`},
		{`{"ScheduledEnqueueTimeUtc":"Tue, 30 Jun 2026 20:51:21 GMT","TimeToLiveTimeSpan":"1.02:03:04.5"}`, `-1.5e300`},
		{`{"To":"\ud83d\ude00\u0000","ReplyTo":null,"ReplyToSessionId":"","CorrelationId":"x","ContentType":"a/b"}`, `9223372036854775808`},
		{`{"TimeToLive":1e400}`, `"`}, {`{"TimeToLive":922337203685.47754}`, "\xff"}, {`[`, `""`}, {`{"a":[[[[{}]]]]}`, `007`},
	} {
		f.Add(s[0], "Name", s[1])
	}
	f.Fuzz(func(t *testing.T, broker, name, value string) {
		raw, ok := encode(t, http.Header{rest.HeaderBrokerProperties: {broker}, name: {value}})
		if !ok {
			return
		}
		first, broker2 := show(t, raw)
		again, ok := encode(t, first)
		if !ok {
			t.Fatalf("%v is refused", first)
		}
		second, broker3 := show(t, again)
		if !reflect.DeepEqual(first, second) || broker2 != broker3 {
			t.Errorf("%v became %v", first, second)
		}
	})
}

// encode makes a message from headers.
func encode(t *testing.T, h http.Header) ([]byte, bool) {
	t.Helper()
	m, err := rest.FromHeaders(h, nil)
	if err != nil {
		return nil, false
	}
	raw, err := m.AppendHead(nil, 1_772_359_200_000)
	if err != nil {
		return nil, false
	}
	start := len(raw)
	raw = append(rest.BeginData(raw), "body"...)
	rest.EndData(raw, start)
	return raw, true
}

// show returns the headers of an answer, with BrokerProperties under the name that net/http would give a request's.
func show(t *testing.T, raw []byte) (http.Header, string) {
	t.Helper()
	m, err := message.Scan(raw)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	if _, err := m.Info(); err != nil {
		t.Fatalf("info: %v", err)
	}
	h := http.Header{}
	if body := (rest.Received{Raw: raw}).Headers(h); string(body) != "body" {
		t.Fatalf("%q", body)
	}
	name := rest.BrokerProperties
	text := h[name][0]
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			t.Fatalf("%q is no header", text)
		}
	}
	if !json.Valid([]byte(text)) {
		t.Fatalf("%s is no JSON", text)
	}
	delete(h, name)
	h[rest.HeaderBrokerProperties] = []string{text}
	if h.Get("Content-Type") == "text/plain; charset=utf-8" {
		delete(h, "Content-Type")
	}
	return h, text
}

// FuzzBatch: a batch is refused, or its messages can be read.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`[{"Body":"first","BrokerProperties":{"Label":"M1","TimeToLiveTimeSpan":"0.00:00:40"}},{"Body":"second","UserProperties":{"Priority":"Low","n":3,"x":null,"f":1.5,"b":true}}]`))
	f.Add([]byte("\xEF\xBB\xBF[]"))
	f.Add([]byte(`[{"Body":"\ud800"}]`))
	f.Fuzz(func(t *testing.T, document []byte) {
		messages, err := rest.ParseBatch(document, 0)
		if err != nil {
			return
		}
		for _, raw := range messages {
			m, err := message.Scan(raw)
			if err != nil {
				t.Fatalf("scan: %v", err)
			}
			if _, err := m.Info(); err != nil {
				t.Fatalf("info: %v", err)
			}
			_ = rest.Received{Raw: raw}.Headers(http.Header{})
		}
	})
}

// FuzzReceived: every message of an AMQP client can be shown, and no header breaks the answer.
func FuzzReceived(f *testing.F) {
	raw, _ := encode(&testing.T{}, http.Header{"Name": {"1"}, rest.HeaderBrokerProperties: {`{"Label":"x","TimeToLive":3}`}})
	f.Add(raw)
	f.Add([]byte("\x00\x53\x77\xc0\x05\x02\x54\x01\x54\x02"))
	f.Add([]byte("\x00\x53\x76\xc0\x05\x02\x54\x01\x54\x02"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := message.Scan(raw)
		if err != nil {
			return
		}
		if _, err := m.Info(); err != nil {
			return // the broker does not store such a message
		}
		h := http.Header{}
		_ = rest.Received{Raw: raw, Token: "t"}.Headers(h)
		for name, values := range h {
			if len(values) != 1 || bytes.ContainsAny([]byte(name+values[0]), "\r\n\x00") {
				t.Errorf("%q: %q", name, values)
			}
		}
	})
}
