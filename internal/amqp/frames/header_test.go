package frames_test

import (
	"bytes"
	"errors"
	"testing"

	"minibus/internal/amqp/frames"
)

func TestParseHeader(t *testing.T) {
	h, err := frames.ParseHeader(unhex(t, "00000200 03 01 0102 ff"))
	want := frames.Header{Size: 512, BodyStart: 12, Type: frames.TypeSASL, Channel: 258}
	if err != nil || h != want {
		t.Errorf("got %+v, %v", h, err)
	}
	for name, s := range map[string]string{
		"short":                      "00000008 02 00 00",
		"size below the header":      "00000007 02 00 0000",
		"data offset in the header":  "00000010 01 00 0000",
		"data offset beyond the end": "00000010 05 00 0000",
	} {
		if _, err := frames.ParseHeader(unhex(t, s)); !errors.Is(err, frames.ErrHeader) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h, err := frames.ParseHeader(frames.Heartbeat); err != nil || int(h.Size) != len(frames.Heartbeat) || h.BodyStart != 8 {
		t.Errorf("heartbeat: %+v, %v", h, err)
	}
}

func TestAppendFrame(t *testing.T) {
	got := frames.AppendFrame([]byte{0xee}, 0x0102, &frames.End{})
	if want := unhex(t, "ee 00000015 02 00 0102 00 53 17 d0 00000005 00000001 40"); !bytes.Equal(got, want) {
		t.Errorf("got % x", got)
	}
	got = frames.AppendSASLFrame(nil, &frames.SASLOutcome{})
	if want := unhex(t, "00000017 02 01 0000 00 53 44 d0 00000007 00000002 50 00 40"); !bytes.Equal(got, want) {
		t.Errorf("got % x", got)
	}
	b, start := frames.BeginFrame(nil, frames.TypeAMQP, 7)
	b = frames.EndFrame(append((&frames.Transfer{}).AppendTo(b), "body"...), start)
	if h, err := frames.ParseHeader(b); err != nil || int(h.Size) != len(b) || h.Channel != 7 {
		t.Errorf("got %+v, %v", h, err)
	}
}
