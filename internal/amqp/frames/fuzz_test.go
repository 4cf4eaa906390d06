package frames_test

import (
	"bytes"
	"testing"

	"minibus/internal/amqp/frames"
)

// FuzzDecodeBody checks for any bytes that decoding does not panic, and that the encoding of a decoded value decodes to the same. The
// special decoders for the hot path must agree with the general one.
func FuzzDecodeBody(f *testing.F) {
	for _, p := range samples() {
		f.Add(p.AppendTo(nil))
	}
	for _, s := range []string{"00 53 17 45", "00 80 0000000000000018 45", "00 a3 0f 616d71703a626567696e3a6c697374 c0 05 04 40 43 43 43"} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, payload, err := frames.DecodeBody(body)
		agree(t, body, p, err)
		_, _ = frames.DecodeControl(body)
		if err != nil || p == nil {
			return
		}
		_ = frames.Trace("<-", 0, p, len(payload))
		one := p.AppendTo(nil)
		again, _, err := frames.DecodeBody(one)
		if err != nil {
			t.Fatalf("%+v encodes to % x, which does not decode: %v", p, one, err)
		}
		if two := again.AppendTo(nil); !bytes.Equal(one, two) {
			t.Fatalf("not stable:\n% x\n% x", one, two)
		}
	})
}

func agree(t *testing.T, body []byte, p frames.Performative, err error) {
	var x frames.Transfer
	if _, xerr := x.Decode(body); (xerr == nil) != (err == nil && frames.IsTransfer(body)) {
		t.Fatalf("Transfer.Decode says %v, DecodeBody %T, %v", xerr, p, err)
	}
	var d frames.Disposition
	_, isDisposition := p.(*frames.Disposition)
	if derr := d.Decode(body); (derr == nil) != isDisposition {
		t.Fatalf("Disposition.Decode says %v, DecodeBody %T, %v", derr, p, err)
	}
}
