package messagejson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
)

// TestValuesComeBack takes values of each type to JSON, and through text and the wire back.
func TestValuesComeBack(t *testing.T) {
	for _, v := range []any{nil, "", "text", true, int64(5), int64(math.MinInt64), int64(1<<53 + 1), int8(-1), int16(2), int32(3), uint8(4), uint16(5), uint32(6), uint64(math.MaxUint64),
		float32(1.5), float32(math.Inf(1)), 0.5, 2.0, 1e300, math.Inf(-1), amqp.Symbol("s"), []byte{}, []byte{1, 255}, amqp.UUID{1}, amqp.Timestamp(5), amqp.Timestamp(math.MinInt64),
		amqp.Char('é'), amqp.Char('7'), amqp.Char(0xd800), amqp.Decimal32{1}, amqp.Decimal64{2}, amqp.Decimal128{3},
		amqp.Decimal128{0x0c, 0x3e, 15: 125}, amqp.Decimal128{0x8c, 0x40}, amqp.Decimal128{0x30, 0x3e, 15: 125}, // 12.5 and -0 of .NET, 12.5 of IEEE 754
		amqp.List{"a", int32(1), nil, amqp.List{}}, amqp.Map{{Key: "k", Value: int64(1)}, {Key: int32(2), Value: amqp.Map{}}},
		amqp.Array{Code: amqp.CodeInt, Items: []any{int32(1), int32(2)}}, amqp.Array{Code: amqp.CodeString32, Items: []any{"a"}}, amqp.Array{Code: amqp.CodeBool, Items: []any{true}},
		amqp.Array{Code: amqp.CodeList32, Items: []any{amqp.List{"x"}}},
		amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: int64(600)}} {
		text, err := json.Marshal(messagejson.ToJSON(v))
		if err != nil {
			t.Errorf("%#v as JSON: %v", v, err)
			continue
		}
		var document messagejson.Values
		if err := json.Unmarshal([]byte(`{"v":`+string(text)+`}`), &document); err != nil {
			t.Fatal(err)
		}
		back, err := messagejson.FromJSON(document["v"])
		if err != nil || !reflect.DeepEqual(back, v) {
			t.Errorf("%#v is %s, and then %#v, %v", v, text, back, err)
			continue
		}
		wire, err := message.EncodeValue(back)
		if err != nil {
			t.Errorf("%s on the wire: %v", text, err)
			continue
		}
		read, err := message.DecodeValue(wire)
		if again, _ := json.Marshal(messagejson.ToJSON(read)); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s is %s after the wire: %v", text, again, err)
		}
	}
}

// TestDecimalsOfDotNet are numbers for people.
func TestDecimalsOfDotNet(t *testing.T) {
	for _, text := range []string{`"12.50"`, `12.50`} {
		var v messagejson.Values
		if err := json.Unmarshal([]byte(`{"v":{"decimal128":`+text+`}}`), &v); err != nil {
			t.Fatal(err)
		}
		got, err := messagejson.FromJSON(v["v"])
		if want := (amqp.Decimal128{0x0c, 0x3c, 14: 0x04, 15: 0xe2}); err != nil || got != any(want) {
			t.Errorf("%s is %v, %v", text, got, err)
		}
		if shown, _ := json.Marshal(messagejson.ToJSON(got)); string(shown) != `{"decimal128":"12.50"}` {
			t.Errorf("%s is shown as %s", text, shown)
		}
	}
}

// TestWrongValues are refused with what is allowed.
func TestWrongValues(t *testing.T) {
	for text, want := range map[string]string{
		`{"int":"x"}`: "no value of type int", `{"int":5000000000}`: "no value of type int", `{"nothing":1}`: "there is no type", `{"a":1,"b":2}`: "allowed:", `[1]`: "allowed:",
		`{"list":5}`: "a list is an array", `{"map":[[1]]}`: "pairs", `{"array":{"type":"int","values":["x"]}}`: "no value of type int", `{"array":[]}`: "an array is",
		`{"described":{"value":1}}`: "a described value is", `{"uuid":"12"}`: "no value of type uuid", `{"symbol":"é"}`: "no value of type symbol", `{"decimal32":"AA=="}`: "no value of type decimal32", `{"decimal128":1e5}`: "no value of type decimal128",
		`{"timestamp":"soon"}`: "no value of type timestamp", `{"binary":"?"}`: "no value of type binary", `1e999`: "no value of type double", `{"char":"xy"}`: "no value of type char", `{"char":1114112}`: "no value of type char",
		strings.Repeat(`{"list":[`, 32) + strings.Repeat(`]}`, 32): "nested",
	} {
		var v messagejson.Values
		if err := json.Unmarshal([]byte(`{"v":`+text+`}`), &v); err != nil {
			t.Fatal(err)
		}
		if got, err := messagejson.FromJSON(v["v"]); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 600 {
			t.Errorf("%s is %#v, %v; want an error with %q", text, got, err, want)
		}
	}
}

// shown takes a message to the wire and back.
func shown(t *testing.T, m *messagejson.Message) *messagejson.Message {
	t.Helper()
	raw, err := m.Encode(time.UnixMilli(1700000000000))
	if err != nil {
		t.Fatal(err)
	}
	scanned, err := message.Scan(raw)
	if err != nil {
		t.Fatal(err)
	}
	return messagejson.Of(&scanned, &scanned, -1)
}

// TestMessagesComeBack with long times to live, large bodies and footers.
func TestMessagesComeBack(t *testing.T) {
	for name, text := range map[string]string{
		"long":  `{"timeToLive":"P100D"}`,
		"large": `{"subject":"s","body":"` + strings.Repeat("x", 2<<20) + `"}`,
		"end":   `{"body":"` + strings.Repeat("y", 2<<20) + `","footer":{"f":1}}`,
		"bytes": `{"bodyBase64":"AP8="}`,
	} {
		m, err := messagejson.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		back := shown(t, m)
		if back.TimeToLive != m.TimeToLive || back.Body != m.Body && name != "long" && name != "bytes" || !bytes.Equal(back.BodyBase64, m.BodyBase64) || len(back.Footer) != len(m.Footer) {
			t.Errorf("%s comes back with other values", name)
		}
	}
}

// TestLargeBodiesAreCut at a character.
func TestLargeBodiesAreCut(t *testing.T) {
	raw, err := (&messagejson.Message{Body: "aéb"}).Encode(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	m, err := message.Scan(raw)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]string{0: "", 1: "a", 2: "a", 3: "aé", 4: "aéb"} {
		got := messagejson.Of(&m, &m, most)
		if got.Body != want || got.BodyCut != (most < 4) || *got.BodyBytes != 4 {
			t.Errorf("of %d bytes: %q, %v", most, got.Body, got.BodyCut)
		}
	}
}
