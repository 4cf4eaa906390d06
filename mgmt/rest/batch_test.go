package rest

import (
	"runtime"
	"strings"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func TestParseBatch(t *testing.T) { // management-rest 7.1
	messages, err := ParseBatch([]byte(`[{"Body":"first","BrokerProperties":{"Label":"M1","TimeToLiveTimeSpan":"0.00:00:40"}},
		{"Body":"","BrokerProperties":{"Label":"M2"},"UserProperties":{"Priority":"Low","n":3,"big":5000000000,"f":1.0,"b":true,"none":null,"When":"Tue, 30 Jun 2026 20:51:21 GMT"}}]`), 0)
	if err != nil || len(messages) != 2 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	m, err := message.Scan(messages[0])
	if err != nil {
		t.Fatal(err)
	}
	info, err := m.Info()
	label, _ := m.Field(message.PropertySubject).TextOf()
	if body, _ := bodyOf(&m); err != nil || info.TTL != 40_000 || label != "M1" || string(body) != "first" {
		t.Errorf("%+v %q %q %v", info, label, body, err)
	}
	if m, err = message.Scan(messages[1]); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"Priority": "Low", "n": int32(3), "big": int64(5_000_000_000), "f": 1.0, "b": true, "none": nil,
		"When": "Tue, 30 Jun 2026 20:51:21 GMT"} {
		if got, ok := m.ApplicationProperty(name); !ok || got != want {
			t.Errorf("%s: %T %v, want %v", name, got, got, want)
		}
	}
}

func TestParseBatch_Refuses(t *testing.T) {
	for text, want := range map[string]string{
		``: "not a JSON array", `{}`: "not a JSON array", `[1]`: "not a JSON array", `[{"Body":"x"}`: "not a JSON array", `null x`: "not a JSON array",
		`null`: "not a JSON array", `[{"Body":"x"}] x`: "something follows", `[{"Body":"x"}]]`: "not a JSON array", `[{"Body":"x"},]`: "not a JSON array",
		`[{"Body":"x"}}`: "not a JSON array", `[{"Body":"x"} {"Body":"x"}]`: "not a JSON array",
		`[{}]`: "Message 1 of the batch: It has no 'Body'", `[{"body":"x"}]`: "no 'Body'", `[{"Body":"x"},{"Body":1}]`: "Message 2 of the batch: Its 'Body' is not a string",
		`[{"Body":"x","BrokerProperties":"y"}]`: "'BrokerProperties' is not an object", `[{"Body":"x","UserProperties":[]}]`: "'UserProperties' is not an object",
		`[{"Body":"x","UserProperties":{"a":{}}}]`: `property "a" is neither`, `[{"Body":"x","UserProperties":{"a":[1]}}]`: "neither",
		`[{"Body":"x","BrokerProperties":{"TimeToLive":-1}}]`: "must be positive", "[{\"Body\":\"\xff\"}]": "not valid UTF-8",
		strings.Repeat("[", 100_000): "not a JSON array", `[{"Body":"x","UserProperties":{"a":1e999}}]`: "property",
	} {
		if _, err := ParseBatch([]byte(text), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// TestParseBatch_CostsLittleMoreThanItsLength: a document of a quarter of a million objects is not parsed as a whole.
func TestParseBatch_CostsLittleMoreThanItsLength(t *testing.T) {
	document := []byte("[" + strings.Repeat(`{"":0},`, 300_000) + `{"":0}]`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ParseBatch(document, 0); err == nil {
		t.Error("objects without a body were taken for messages")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > uint64(4*len(document)) {
		t.Errorf("%d bytes for a document of %d", used, len(document))
	}
}

func TestIsBatch(t *testing.T) {
	for text, want := range map[string]bool{
		"application/vnd.microsoft.servicebus.json": true, "Application/VND.Microsoft.ServiceBus.JSON; charset=utf-8": true,
		"application/vnd.microsoft.servicebus.json;": true, "application/json": false, "": false, "x; application/vnd.microsoft.servicebus.json": false,
	} {
		if got := IsBatch(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestBodies: the HTTP form of each kind of AMQP body (management-rest 7.2).
func TestBodies(t *testing.T) {
	section := func(code byte, v any) []byte {
		b, err := amqp.AppendValue(amqp.AppendDescriptor(nil, code), v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, tt := range map[string]struct {
		raw  []byte
		want string
		kind string
	}{
		"none":        {nil, "", ""},
		"data":        {section(codeData, []byte("x")), "x", ""},
		"two data":    {append(section(codeData, []byte("x")), section(codeData, []byte("y"))...), "xy", ""},
		"string":      {section(codeValue, "text"), "text", ""},
		"binary":      {section(codeValue, []byte{0, 1}), "\x00\x01", ""},
		"symbol":      {section(codeValue, amqp.Symbol("s")), "s", ""},
		"null":        {section(codeValue, nil), "", ""},
		"number":      {section(codeValue, int64(5)), "5", typeJSON},
		"bool":        {section(codeValue, true), "true", typeJSON},
		"map":         {section(codeValue, amqp.Map{{Key: "a", Value: amqp.List{1.5, nil}}, {Key: int32(2), Value: noon}}), `{"2":"2026-06-30T20:51:21Z","a":[1.5,null]}`, typeJSON},
		"sequences":   {append(section(codeSequence, amqp.List{"a"}), section(codeSequence, amqp.List{[]byte("b"), amqp.UUID{}})...), `["a","Yg==","00000000-0000-0000-0000-000000000000"]`, typeJSON},
		"empty list":  {section(codeSequence, amqp.List{}), `[]`, typeJSON},
		"empty value": {section(codeValue, amqp.List{}), `[]`, typeJSON},
		"array":       {section(codeValue, amqp.Array{Code: amqp.CodeLong, Items: []any{int64(1)}}), `[1]`, typeJSON},
		"bad string":  {[]byte("\x00\x53\x77\xa1\x02\xff\xfe"), "\xff\xfe", ""},
		"bad symbol":  {[]byte("\x00\x53\x77\xa3\x01\xff"), "\xff", ""},
		"bad boolean": {[]byte("\x00\x53\x77\x56\x07"), "\x00\x53\x77\x56\x07", typeBytes},
		"bad list":    {[]byte("\x00\x53\x77\xc0\x02\x07\x40"), "\x00\x53\x77\xc0\x02\x07\x40", typeBytes},
		"bad item":    {[]byte("\x00\x53\x76\xc0\x04\x01\xa1\x01\xff"), "\x00\x53\x76\xc0\x04\x01\xa1\x01\xff", typeBytes},
		"bad second":  {[]byte("\x00\x53\x76\x45\x00\x53\x76\xc0\x02\x07\x40"), "\x00\x53\x76\x45\x00\x53\x76\xc0\x02\x07\x40", typeBytes},
	} {
		m, err := message.Scan(tt.raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if body, kind := bodyOf(&m); string(body) != tt.want || kind != tt.kind {
			t.Errorf("%s: %q of type %q, want %q of type %q", name, body, kind, tt.want, tt.kind)
		}
	}
}
