package amqp_test

import (
	"testing"
	"time"

	"minibus/internal/amqp"
)

func TestTimestamp_ThereAndBack(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.FixedZone("", 3600))
	ts := amqp.TimestampOf(at)
	if !ts.Time().Equal(at) || ts.Time().Location() != time.UTC {
		t.Errorf("got %v, want %v in UTC", ts.Time(), at)
	}
	if got := amqp.TimestampOf(at.Add(999 * time.Microsecond)); got != ts {
		t.Errorf("not cut down to the millisecond: %v, %v", got, ts)
	}
}

func TestDecodeError_SaysWhatWhereAndWhy(t *testing.T) {
	_, _, err := amqp.Decode(unhex(t, "c0 03 02 41 4f"))
	if want := "decode constructor at offset 4: malformed"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReader_PositionAndRest(t *testing.T) {
	r := reader(t, "41 40 a1 01 61")
	if _, _, err := r.Bool(); err != nil || r.Offset() != 1 || len(r.Rest()) != 4 {
		t.Errorf("offset %d, rest % x, %v", r.Offset(), r.Rest(), err)
	}
	if !r.Null() || r.Null() {
		t.Error("there is exactly one null")
	}
	if v, ok, err := r.Text(); v != "a" || !ok || err != nil || r.Len() != 0 {
		t.Errorf("%q %v %v", v, ok, err)
	}
	if _, ok := r.Peek(); ok {
		t.Error("peeked beyond the end")
	}
	if _, err := r.Raw(); err == nil {
		t.Error("raw value beyond the end")
	}
}

func TestReader_TextIsUTF8AndSmallUintsAreRead(t *testing.T) {
	if _, _, err := reader(t, "a0 01 ff").Text(); err == nil {
		t.Error("binary that is no UTF-8 was read as text")
	}
	for s, want := range map[string]uint32{"43": 0, "52 07": 7, "70 00000100": 256, "44": 0, "71 00000009": 9} {
		if v, ok, err := reader(t, s).Uint32(); v != want || !ok || err != nil {
			t.Errorf("%s: %d %v %v", s, v, ok, err)
		}
	}
	for s, want := range map[string]bool{"41": true, "42": false, "56 01": true, "56 00": false} {
		if v, ok, err := reader(t, s).Bool(); v != want || !ok || err != nil {
			t.Errorf("%s: %v %v %v", s, v, ok, err)
		}
	}
	if _, _, err := reader(t, "56 02").Bool(); err == nil {
		t.Error("boolean of 2")
	}
}

func TestAppendValue_DescribedArraysTakeTheWidestForm(t *testing.T) {
	for _, pair := range [][2]any{
		{true, false}, {uint32(0), uint32(1 << 20)}, {uint64(0), uint64(1 << 40)}, {int32(1), int32(1 << 20)},
		{int64(1), int64(1 << 40)}, {"a", "b"}, {amqp.List{}, amqp.List{true}}, {nil, nil},
		{amqp.Array{Code: amqp.CodeLong, Items: []any{int64(1)}}, amqp.Array{Code: amqp.CodeLong, Items: []any{int64(2)}}},
	} {
		in := amqp.Array{Items: []any{amqp.Described{Descriptor: "d", Value: pair[0]}, amqp.Described{Descriptor: "d", Value: pair[1]}}}
		b, err := amqp.AppendValue(nil, in)
		if err != nil {
			t.Errorf("%T: %v", pair[0], err)
			continue
		}
		if _, rest, err := amqp.Decode(b); err != nil || len(rest) != 0 {
			t.Errorf("%T: %v", pair[0], err)
		}
	}
	for _, bad := range []any{struct{}{}, amqp.Described{Descriptor: 1, Value: 1}} {
		in := amqp.Array{Items: []any{amqp.Described{Descriptor: "d", Value: bad}}}
		if _, err := amqp.AppendValue(nil, in); err == nil {
			t.Errorf("array of described %T", bad)
		}
	}
	if b, err := amqp.AppendValue(nil, amqp.Array{}); err != nil || b[len(b)-1] != amqp.CodeNull {
		t.Errorf("empty array: % x, %v", b, err)
	}
	if b, err := amqp.AppendValue(nil, []int64{1}); err != nil || b[0] != amqp.CodeArray8 {
		t.Errorf("small array: % x, %v", b, err)
	}
	nested := amqp.Array{Code: amqp.CodeArray32, Items: []any{[]int64{1}}}
	if b, err := amqp.AppendValue(nil, nested); err != nil {
		t.Errorf("array of small arrays: % x, %v", b, err)
	} else if _, rest, err := amqp.Decode(b); err != nil || len(rest) != 0 {
		t.Errorf("array of small arrays does not decode: %v", err)
	}
}
