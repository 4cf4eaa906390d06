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
