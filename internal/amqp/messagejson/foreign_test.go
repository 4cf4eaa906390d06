package messagejson_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
)

// encodedAt is when the messages of these tests are encoded.
var encodedAt = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// read reads a JSON message, encodes it, and lets go-amqp read it.
func read(t *testing.T, text string) *goamqp.Message {
	t.Helper()
	m, err := messagejson.Read([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	raw, err := m.Encode(encodedAt)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var out goamqp.Message
	if err := out.UnmarshalBinary(raw); err != nil {
		t.Fatalf("%s: go-amqp can't read % x: %v", text, raw, err)
	}
	return &out
}

// TestValuesAreOfTheirType: go-amqp reads the values of application properties that the JSON names.
func TestValuesAreOfTheirType(t *testing.T) {
	for text, want := range map[string]any{
		`null`:                                   nil,
		`true`:                                   true,
		`"text"`:                                 "text",
		`"é €"`:                                  "é €",
		`5`:                                      int64(5),
		`-9007199254740993`:                      int64(-9007199254740993),
		`0.5`:                                    0.5,
		`1e3`:                                    1000.0,
		`{"null":null}`:                          nil,
		`{"boolean":false}`:                      false,
		`{"byte":-128}`:                          int8(-128),
		`{"short":-32768}`:                       int16(-32768),
		`{"int":5}`:                              int32(5),
		`{"int":-2147483648}`:                    int32(math.MinInt32),
		`{"long":"-9223372036854775808"}`:        int64(math.MinInt64),
		`{"ubyte":255}`:                          uint8(255),
		`{"ushort":65535}`:                       uint16(65535),
		`{"uint":4294967295}`:                    uint32(math.MaxUint32),
		`{"uint":0}`:                             uint32(0),
		`{"ulong":"18446744073709551615"}`:       uint64(math.MaxUint64),
		`{"ulong":0}`:                            uint64(0),
		`{"float":1.5}`:                          float32(1.5),
		`{"float":"+Inf"}`:                       float32(math.Inf(1)),
		`{"double":2}`:                           2.0,
		`{"double":"-Inf"}`:                      math.Inf(-1),
		`{"string":"s"}`:                         "s",
		`{"symbol":"s"}`:                         "s", // as go-amqp has them
		`{"binary":"AP8="}`:                      []byte{0, 255},
		`{"timestamp":"2026-03-01T10:00:00.5Z"}`: time.Date(2026, 3, 1, 10, 0, 0, 5e8, time.UTC),
		`{"timestamp":"2026-03-01T11:00:00+01:00"}`:          time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
		`{"timestamp":-1}`:                                   time.UnixMilli(-1).UTC(),
		`{"uuid":"00112233-4455-6677-8899-aabbccddeeff"}`:    goamqp.UUID{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff},
		`{"uuid":"00112233445566778899AABBCCDDEEFF"}`:        goamqp.UUID{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff},
		`{"list":[1,"a",{"int":2},null]}`:                    []any{int64(1), "a", int32(2), nil},
		`{"array":{"type":"int","values":[1,-2]}}`:           []int32{1, -2},
		`{"array":{"type":"string","values":["a","b"]}}`:     []string{"a", "b"},
		`{"array":{"type":"ulong","values":[7]}}`:            []uint64{7},
		`{"array":{"type":"boolean","values":[true,false]}}`: []bool{true, false},
	} {
		m := read(t, `{"applicationProperties":{"v":`+text+`}}`)
		got := m.ApplicationProperties["v"]
		if at, isTime := got.(time.Time); isTime {
			got = at.UTC()
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: go-amqp reads %#v, want %#v", text, got, want)
		}
	}
}

// TestSectionsAreWhereTheyBelong: go-amqp finds each property of the JSON in its section.
func TestSectionsAreWhereTheyBelong(t *testing.T) {
	m := read(t, `{"messageId":"id","correlationId":{"ulong":7},"userId":{"binary":"dQ=="},"to":"t","subject":"s","replyTo":"r",
		"contentType":"text/plain","contentEncoding":"gzip","creationTime":"2026-03-01T09:00:00Z","absoluteExpiryTime":"2026-03-02T09:00:00Z",
		"sessionId":"sess","groupSequence":3,"replyToSessionId":"rs","durable":true,"priority":9,"firstAcquirer":true,
		"partitionKey":"pk","scheduledEnqueueTime":"2026-03-01T11:00:00Z","annotations":{"x":1},"deliveryAnnotations":{"d":true},
		"footer":{"f":{"symbol":"z"}},"body":"text","sequenceNumber":5,"state":"active","lockToken":"x","sizeBytes":1}`)
	if h := m.Header; h == nil || !h.Durable || h.Priority != 9 || !h.FirstAcquirer || h.TTL != 0 || h.DeliveryCount != 0 {
		t.Errorf("header: %+v", h)
	}
	p := m.Properties
	if p == nil {
		t.Fatal("no properties")
	}
	for name, c := range map[string][2]any{
		"message-id":           {p.MessageID, "id"},
		"correlation-id":       {p.CorrelationID, uint64(7)},
		"user-id":              {string(p.UserID), "u"},
		"to":                   {*p.To, "t"},
		"subject":              {*p.Subject, "s"},
		"reply-to":             {*p.ReplyTo, "r"},
		"content-type":         {*p.ContentType, "text/plain"},
		"content-encoding":     {*p.ContentEncoding, "gzip"},
		"group-id":             {*p.GroupID, "sess"},
		"group-sequence":       {*p.GroupSequence, uint32(3)},
		"reply-to-group-id":    {*p.ReplyToGroupID, "rs"},
		"creation-time":        {p.CreationTime.UTC(), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)},
		"absolute-expiry-time": {p.AbsoluteExpiryTime.UTC(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)},
		"a message annotation": {m.Annotations["x"], int64(1)},
		"the partition key":    {m.Annotations["x-opt-partition-key"], "pk"},
		"the schedule":         {m.Annotations["x-opt-scheduled-enqueue-time"].(time.Time).UTC(), time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)},
		"the number":           {m.Annotations["x-opt-sequence-number"], nil},
		"delivery annotations": {m.DeliveryAnnotations["d"], true},
		"the footer":           {m.Footer["f"], "z"},
		"the body":             {string(m.GetData()), "text"},
	} {
		if !reflect.DeepEqual(c[0], c[1]) {
			t.Errorf("%s is %#v, want %#v", name, c[0], c[1])
		}
	}
}

// TestBodiesOfEveryKind as go-amqp reads them.
func TestBodiesOfEveryKind(t *testing.T) {
	for text, want := range map[string]goamqp.Message{
		`{"body":"text"}`:                          {Data: [][]byte{[]byte("text")}},
		`{"body":""}`:                              {Data: [][]byte{{}}},
		`{"body":{"a":[1,2]}}`:                     {Data: [][]byte{[]byte(`{"a":[1,2]}`)}},
		`{"body":5}`:                               {Data: [][]byte{[]byte("5")}},
		`{"bodyBase64":"AP8="}`:                    {Data: [][]byte{{0, 255}}},
		`{"bodySections":["YQ==","Yg=="]}`:         {Data: [][]byte{[]byte("a"), []byte("b")}},
		`{"bodyValue":"text"}`:                     {Value: "text"},
		`{"bodyValue":{"int":5}}`:                  {Value: int32(5)},
		`{"bodyValue":{"list":[1]}}`:               {Value: []any{int64(1)}},
		`{"bodySequence":[[1,"a"],[{"int":2}]]}`:   {Sequence: [][]any{{int64(1), "a"}, {int32(2)}}},
		`{"bodyValue":{"map":[["k",{"uint":1}]]}}`: {Value: map[any]any{"k": uint32(1)}},
	} {
		got := read(t, text)
		value := got.Value
		if m, isMap := value.(map[string]any); isMap { // go-amqp's choice for keys that are all strings
			value = map[any]any{}
			for k, v := range m {
				value.(map[any]any)[k] = v
			}
		}
		if !reflect.DeepEqual(got.Data, want.Data) || !reflect.DeepEqual(value, want.Value) || !reflect.DeepEqual(got.Sequence, want.Sequence) {
			t.Errorf("%s: go-amqp reads %q, %#v, %v", text, got.Data, got.Value, got.Sequence)
		}
	}
}

// TestTimesToLive as the header and the two times of EXP-17 tell them.
func TestTimesToLive(t *testing.T) {
	for text, want := range map[string]struct {
		header  time.Duration
		expires time.Duration // after the message was encoded; 0: not written
	}{
		"PT1M":           {time.Minute, 0},
		"PT0.0001S":      {time.Millisecond, 0},
		"P49D":           {49 * 24 * time.Hour, 0},
		"PT4294967.295S": {math.MaxUint32 * time.Millisecond, 0},
		"P100D":          {math.MaxUint32 * time.Millisecond, 100 * 24 * time.Hour},
	} {
		m := read(t, `{"timeToLive":"`+text+`"}`)
		if m.Header.TTL != want.header {
			t.Errorf("%s: the header says %v, want %v", text, m.Header.TTL, want.header)
		}
		if want.expires == 0 {
			if m.Properties != nil && m.Properties.AbsoluteExpiryTime != nil {
				t.Errorf("%s: expires %v", text, m.Properties.AbsoluteExpiryTime)
			}
			continue
		}
		p := m.Properties
		if p == nil || !p.CreationTime.Equal(encodedAt) || !p.AbsoluteExpiryTime.Equal(encodedAt.Add(want.expires)) {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

// TestWhatGoAMQPWritesIsShown compares the JSON of messages that go-amqp encoded.
func TestWhatGoAMQPWritesIsShown(t *testing.T) {
	text := func(s string) *string { return &s }
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for want, m := range map[string]*goamqp.Message{
		`{"body":"hello","bodyBytes":5}`:                 goamqp.NewMessage([]byte("hello")),
		`{"bodyBase64":"/w==","bodyBytes":1}`:            goamqp.NewMessage([]byte{255}),
		`{"bodyValue":"v","bodyBytes":1}`:                {Value: "v"},
		`{"bodyValue":{"ulong":"7"},"bodyBytes":2}`:      {Value: uint64(7)},
		`{"bodySections":["YQ==","Yg=="],"bodyBytes":2}`: {Data: [][]byte{[]byte("a"), []byte("b")}},
		`{"messageId":"id","correlationId":{"binary":"AQ=="},"body":"","bodyBytes":0}`: {
			Properties: &goamqp.MessageProperties{MessageID: "id", CorrelationID: []byte{1}}, Data: [][]byte{{}}},
		`{"messageId":{"uuid":"01000000-0000-0000-0000-000000000000"},"sessionId":"s","subject":"l","to":"t","creationTime":"2026-03-01T10:00:00Z","body":"","bodyBytes":0}`: {
			Properties: &goamqp.MessageProperties{MessageID: goamqp.UUID{1}, GroupID: text("s"), Subject: text("l"), To: text("t"), CreationTime: &at}, Data: [][]byte{{}}},
		`{"timeToLive":"PT1M","durable":true,"priority":7,"body":"","bodyBytes":0}`: {
			Header: &goamqp.MessageHeader{Durable: true, Priority: 7, TTL: time.Minute}, Data: [][]byte{{}}},
		`{"partitionKey":"k","scheduledEnqueueTime":"2026-03-01T10:00:00Z","annotations":{"x":{"int":1}},"body":"","bodyBytes":0}`: {
			Annotations: goamqp.Annotations{"x-opt-partition-key": "k", "x-opt-scheduled-enqueue-time": at, "x": int32(1)}, Data: [][]byte{{}}},
		`{"applicationProperties":{"b":true,"d":{"double":2},"f":{"float":0.5},"n":null,"t":{"timestamp":"2026-03-01T10:00:00Z"},"u":{"ubyte":1}},"body":"","bodyBytes":0}`: {
			ApplicationProperties: map[string]any{"b": true, "d": 2.0, "f": float32(0.5), "n": nil, "t": at, "u": uint8(1)}, Data: [][]byte{{}}},
		`{"footer":{"sum":5},"body":"","bodyBytes":0}`: {Footer: goamqp.Annotations{"sum": int64(5)}, Data: [][]byte{{}}},
	} {
		raw, err := m.MarshalBinary()
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		scanned, err := message.Scan(raw)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		shown := messagejson.Of(&scanned, &scanned, -1)
		shown.DeliveryCount = nil
		shown.SizeBytes = nil
		shown.State = ""
		got, err := json.Marshal(shown)
		if err != nil || !sameJSON(t, string(got), want) {
			t.Errorf("shown as %s, %v\nwant     %s", got, err, want)
		}
	}
}

func sameJSON(t *testing.T, x, y string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(x), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(y), &b); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(a, b)
}

// TestWrongMessages are refused with the name of what is wrong.
func TestWrongMessages(t *testing.T) {
	for text, want := range map[string]string{
		`{"timeToLive":"5"}`:                  "timeToLive: ",
		`{"timeToLive":"-PT1M"}`:              "timeToLive: ",
		`{"contentType":"é"}`:                 "contentType or contentEncoding: ",
		`{"messageId":{"int":5}}`:             "messageId: ",
		`{"correlationId":{"list":[]}}`:       "correlationId: ",
		`{"applicationProperties":{"k":[1]}}`: "applicationProperties: k: ",
		`{"annotations":{"k":{"int":"x"}}}`:   "annotations: k: ",
		`{"footer":{"k":{"nothing":1}}}`:      "footer: k: ",
		`{"bodyValue":{"uuid":"x"}}`:          "",
		`{"bodySequence":[[{"int":"x"}]]}`:    "",
		`{"body":"a","bodyBase64":"YQ=="}`:    "",
		`{"bodyValue":1,"bodySections":[]}`:   "",
	} {
		m, err := messagejson.Read([]byte(text))
		if err == nil {
			_, err = m.Encode(encodedAt)
		}
		if err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s: %v; want an error that begins with %q", text, err, want)
		}
	}
	for _, text := range []string{`[]`, `{"subject":5}`, `{"priority":256}`, `{"unknown":1}`, `{"subject":"a","subject":"b"}`, `{"bodyBase64":"?"}`, `{"scheduledEnqueueTime":"soon"}`, `{`} {
		if m, err := messagejson.Read([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", text, m)
		}
	}
}
