package message_test

import (
	"fmt"
	"reflect"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func encode(t *testing.T, m amqp.Map) []byte {
	t.Helper()
	b, err := message.EncodeProperties(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decodeMap(t *testing.T, b []byte) amqp.Map {
	t.Helper()
	v, rest, err := amqp.Decode(b)
	if err != nil || len(rest) != 0 {
		t.Fatalf("decode % x: %v", b, err)
	}
	return v.(amqp.Map)
}

func TestEncodeProperties(t *testing.T) {
	got := decodeMap(t, encode(t, amqp.Map{{Key: amqp.Symbol("s"), Value: 1}, {Key: "x", Value: nil}, {Key: []byte("b"), Value: true}, {Key: "s", Value: 2}}))
	want := amqp.Map{{Key: "x", Value: nil}, {Key: "b", Value: true}, {Key: "s", Value: int64(2)}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if b := encode(t, amqp.Map{}); b != nil {
		t.Errorf("empty map is % x", b)
	}
	for _, m := range []amqp.Map{{{Key: 5, Value: "x"}}, {{Key: []byte{0xff}, Value: "x"}}, {{Key: "x", Value: struct{}{}}}} {
		if _, err := message.EncodeProperties(m); err == nil {
			t.Errorf("%v was accepted", m)
		}
	}
}

func TestMergeProperties(t *testing.T) {
	ab := encode(t, amqp.Map{{Key: "a", Value: 1}, {Key: "b", Value: 2}})
	bc := encode(t, amqp.Map{{Key: "b", Value: 3}, {Key: "c", Value: 4}})
	want := amqp.Map{{Key: "a", Value: int64(1)}, {Key: "b", Value: int64(3)}, {Key: "c", Value: int64(4)}}
	if got := decodeMap(t, message.MergeProperties(ab, bc)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := message.MergeProperties(nil, bc); !reflect.DeepEqual(got, bc) {
		t.Errorf("nil and overlay: % x", got)
	}
	if got := message.MergeProperties(ab, nil); !reflect.DeepEqual(got, ab) {
		t.Errorf("overlay and nil: % x", got)
	}
	if got := message.MergeProperties(nil, nil); got != nil {
		t.Errorf("nil and nil: % x", got)
	}
}

func TestMergeProperties_LargeOverlaysBehaveLikeSmallOnes(t *testing.T) {
	var old, add amqp.Map
	for i := range 100 {
		old = append(old, amqp.Pair{Key: fmt.Sprint("k", i), Value: "old"})
		add = append(add, amqp.Pair{Key: fmt.Sprint("k", i+50), Value: "new"})
	}
	got := keys(decodeMap(t, message.MergeProperties(encode(t, old), encode(t, add))))
	if len(got) != 150 || got["k49"] != "old" || got["k50"] != "new" || got["k149"] != "new" {
		t.Errorf("%d entries: %v", len(got), got)
	}
}

func TestLookupProperty(t *testing.T) {
	b := encode(t, amqp.Map{{Key: "a", Value: amqp.List{1}}, {Key: "b", Value: nil}})
	if v, ok := message.LookupProperty(b, "a"); !ok || !reflect.DeepEqual(v, amqp.List{int64(1)}) {
		t.Errorf("a: %v, %v", v, ok)
	}
	if v, ok := message.LookupProperty(b, "b"); !ok || v != nil {
		t.Errorf("b: %v, %v", v, ok)
	}
	for _, props := range [][]byte{b, nil, {0x40}, {0xff}, b[:5]} {
		if v, ok := message.LookupProperty(props, "c"); ok {
			t.Errorf("c in % x: %v", props, v)
		}
	}
}

func TestRead_SingleValues(t *testing.T) {
	m := scan(t, full(t))
	if v, ok := m.ApplicationProperty("b"); v != int64(2) || !ok {
		t.Errorf("b: %v, %v", v, ok)
	}
	if v, ok := m.ApplicationProperty("B"); ok {
		t.Errorf("B: %v", v)
	}
	if v, ok := m.MessageAnnotation("x-user"); v != int32(1) || !ok {
		t.Errorf("x-user: %v, %v", v, ok)
	}
	if v, ok := m.DeliveryAnnotation("x-user-delivery"); v != "d" || !ok {
		t.Errorf("x-user-delivery: %v, %v", v, ok)
	}
	for i, want := range map[int]any{0: "id", message.PropertyCorrelationID: uint64(9), message.PropertyGroupID: nil, -1: nil, 99: nil} {
		if v, err := m.Property(i); v != want || err != nil {
			t.Errorf("property %d: %v, %v", i, v, err)
		}
	}
	none := scan(t, nil)
	if v, ok := none.ApplicationProperty("b"); ok {
		t.Errorf("of an empty message: %v", v)
	}
	// A value that a scan skips but no decoder reads counts as absent.
	bad := scan(t, unhex(t, "00 53 74 c1 06 02 a1 01 61 56 02"))
	if v, ok := bad.ApplicationProperty("a"); ok {
		t.Errorf("bad boolean: %v", v)
	}
}

func TestBodyValue(t *testing.T) {
	if v, err := scan(t, value(t, "v")).BodyValue(); v != "v" || err != nil {
		t.Errorf("value: %v, %v", v, err)
	}
	if v, err := scan(t, header(t)).BodyValue(); v != nil || err != nil {
		t.Errorf("no body: %v, %v", v, err)
	}
	if _, err := scan(t, data(t, "v")).BodyValue(); err == nil {
		t.Error("data is no value")
	}
	if _, err := scan(t, unhex(t, "00 53 77 56 02")).BodyValue(); err == nil {
		t.Error("a boolean of 2 is no value")
	}
}
