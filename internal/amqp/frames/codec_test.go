package frames_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

func TestRoundTrip(t *testing.T) {
	for _, p := range samples() {
		got, payload, err := frames.DecodeBody(p.AppendTo(nil))
		if err != nil {
			t.Errorf("%s: %v", p.Name(), err)
			continue
		}
		if !reflect.DeepEqual(got, p) || len(payload) != 0 {
			t.Errorf("%s: got %+v, want %+v", p.Name(), got, p)
		}
	}
}

func TestEveryProperPrefixIsTruncated(t *testing.T) {
	for _, p := range samples() {
		b := p.AppendTo(nil)
		for n := 1; n < len(b); n++ {
			if _, _, err := frames.DecodeBody(b[:n]); !errors.Is(err, amqp.ErrTruncated) {
				t.Errorf("%s: %d bytes of %d: %v", p.Name(), n, len(b), err)
			}
		}
	}
}

func TestEncoding_AllFieldsSmallDescriptorNeverList0(t *testing.T) {
	counts := map[string]int{"open": 10, "begin": 8, "attach": 14, "flow": 11, "transfer": 11, "disposition": 6, "detach": 3,
		"end": 1, "close": 1, "sasl-mechanisms": 1, "sasl-init": 3, "sasl-challenge": 1, "sasl-response": 1, "sasl-outcome": 2}
	for _, p := range samples() {
		b := p.AppendTo(nil)
		if b[0] != amqp.CodeDescribed || b[1] != amqp.CodeSmallUlong {
			t.Errorf("%s: descriptor % x", p.Name(), b[:3])
		}
		r := amqp.NewReader(b[3:])
		if n, _, err := r.List(); err != nil || n != counts[p.Name()] {
			t.Errorf("%s: %d fields, want %d (%v)", p.Name(), n, counts[p.Name()], err)
		}
		if b[3] == amqp.CodeList0 {
			t.Errorf("%s: list0", p.Name())
		}
	}
}

func TestGolden_EncodesToTheseBytes(t *testing.T) {
	for _, c := range []struct {
		p    frames.Performative
		want string
	}{
		{&frames.Open{ContainerID: "m", MaxFrameSize: 65536, HasMaxFrameSize: true, ChannelMax: 4999, HasChannelMax: true,
			IdleTimeout: 240000, HasIdleTimeout: true},
			"00 53 10 d0 0000001a 0000000a a1 01 6d 40 70 00010000 60 1387 70 0003a980 40 40 40 40 40"},
		{&frames.Flow{NextIncomingID: 1, HasNextIncomingID: true, IncomingWindow: 5000, NextOutgoingID: 1, OutgoingWindow: 2048,
			HasHandle: true, HasDeliveryCount: true, LinkCredit: 100, HasLinkCredit: true},
			"00 53 13 d0 0000001a 0000000b 52 01 70 00001388 52 01 70 00000800 43 43 52 64 43 42 42 40"},
		{&frames.Disposition{Role: frames.RoleReceiver, Settled: true, State: &frames.Accepted{}},
			"00 53 15 d0 0000000f 00000006 41 43 40 41 00 53 24 c0 01 00 40"},
		{&frames.Disposition{First: 2, Last: 3, HasLast: true, Settled: true, State: &frames.Modified{UndeliverableHere: true}},
			"00 53 15 d0 0000001a 00000006 42 52 02 52 03 41 00 53 27 d0 00000007 00000003 40 41 40 40"},
		{&frames.Detach{Handle: 1, Closed: true, Error: &frames.Error{Condition: "a:b"}},
			"00 53 16 d0 0000001b 00000003 52 01 41 00 53 1d d0 0000000c 00000003 a3 03 613a62 a1 00 40"},
		{&frames.SASLOutcome{}, "00 53 44 d0 00000007 00000002 50 00 40"},
		{&frames.SASLMechanisms{}, "00 53 40 d0 00000008 00000001 e0 02 00 a3"}, // mandatory: null would be refused
	} {
		if got, want := c.p.AppendTo(nil), unhex(t, c.want); !bytes.Equal(got, want) {
			t.Errorf("%s:\n got % x\nwant % x", c.p.Name(), got, want)
		}
	}
}

// TestGolden_DecodesTheseBytes decodes hand-made encodings in ways that peers may choose: trimmed lists, list0, list8,
// symbolic and eight-byte descriptors, a lone symbol for several, integers of other widths, boolean octets.
func TestGolden_DecodesTheseBytes(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		want      frames.Performative
	}{
		{"open with only its mandatory field", "00 53 10 c0 04 01 a1 01 6d", &frames.Open{ContainerID: "m"}},
		{"open with wide numbers, list32", "00 53 10 d0 00000019 00000004 b1 00000001 6d 40 80 0000000000010000 71 000000ff",
			&frames.Open{ContainerID: "m", MaxFrameSize: 65536, HasMaxFrameSize: true, ChannelMax: 255, HasChannelMax: true}},
		{"open with one capability as a lone symbol", "00 53 10 c0 0e 09 a1 01 6d 40 40 40 40 40 40 40 a3 01 78",
			&frames.Open{ContainerID: "m", DesiredCapabilities: []amqp.Symbol{"x"}}},
		{"open with capabilities as a list of strings", "00 53 10 c0 14 09 a1 01 6d 40 40 40 40 40 40 40 c0 07 02 a1 01 78 a3 01 79",
			&frames.Open{ContainerID: "m", DesiredCapabilities: []amqp.Symbol{"x", "y"}}},
		{"begin, symbolic descriptor", "00 a3 0f 616d71703a626567696e3a6c697374 c0 05 04 40 43 43 43", &frames.Begin{}},
		{"end, list0", "00 53 17 45", &frames.End{}},
		{"close, eight-byte descriptor, list0", "00 80 0000000000000018 45", &frames.Close{}},
		{"close, no description", "00 53 18 c0 0a 01 00 53 1d c0 04 01 a3 01 61", &frames.Close{Error: &frames.Error{Condition: "a"}}},
		{"disposition with boolean octets and list0 state", "00 53 15 c0 0b 05 56 01 43 43 56 01 00 53 24 45",
			&frames.Disposition{Role: frames.RoleReceiver, HasLast: true, Settled: true, State: &frames.Accepted{}}},
		{"transfer trimmed", "00 53 14 c0 02 01 43", &frames.Transfer{}},
		{"transfer with ubyte numbers", "00 53 14 c0 0b 05 50 01 50 02 a0 01 07 50 00 41",
			&frames.Transfer{Handle: 1, DeliveryID: 2, HasDeliveryID: true, DeliveryTag: []byte{7}, HasMessageFormat: true,
				Settled: true, HasSettled: true}},
		{"attach with empty source and target", "00 53 12 c0 10 07 a1 01 6c 43 42 40 40 00 53 28 45 00 53 29 45",
			&frames.Attach{LinkName: "l", Source: &frames.Source{}, Target: &frames.Target{}}},
		{"sasl-mechanisms as a lone symbol", "00 53 40 c0 04 01 a3 01 78", &frames.SASLMechanisms{Mechanisms: []amqp.Symbol{"x"}}},
		{"sasl-outcome", "00 53 44 c0 03 01 50 00", &frames.SASLOutcome{}},
	} {
		got, _, err := frames.DecodeBody(unhex(t, c.hex))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
}

func TestDecode_Refuses(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		want      error
	}{
		{"no descriptor", "45", amqp.ErrWrongType},
		{"unknown descriptor", "00 53 19 45", amqp.ErrMalformed},
		{"unknown symbolic descriptor", "00 a3 01 61 45", amqp.ErrMalformed},
		{"a map instead of a list", "00 53 17 c1 01 00", amqp.ErrWrongType},
		{"more fields than are defined", "00 53 17 c0 03 02 40 40", amqp.ErrMalformed},
		{"bytes after the last field", "00 53 17 c0 03 01 40 40", amqp.ErrMalformed},
		{"bytes after an end", "00 53 17 45 00", amqp.ErrMalformed},
		{"a field of the wrong type", "00 53 10 c0 02 01 41", amqp.ErrWrongType},
		{"a channel-max that is no ushort", "00 53 10 c0 0b 04 a1 01 6d 40 40 70 00010000", amqp.ErrRange},
		{"a settle mode that is no ubyte", "00 53 12 c0 0b 04 a1 01 6c 43 42 70 00000100", amqp.ErrRange},
		{"a negative handle", "00 53 16 c0 03 01 54 ff", amqp.ErrRange},
		{"a delivery state that is none", "00 53 15 c0 09 05 41 43 40 41 00 53 17 45", amqp.ErrWrongType},
		{"a source that is a target", "00 53 12 c0 0c 06 a1 01 6c 43 42 40 40 00 53 29 45", amqp.ErrWrongType},
		{"a target that is a source", "00 53 12 c0 0d 07 a1 01 6c 43 42 40 40 40 00 53 28 45", amqp.ErrWrongType},
		{"an error that is none", "00 53 17 c0 05 01 00 53 17 45", amqp.ErrWrongType},
		{"properties that are no map", "00 53 10 c0 0d 0a a1 01 6d 40 40 40 40 40 40 40 40 41", amqp.ErrWrongType},
		{"capabilities that are numbers", "00 53 10 c0 0b 08 a1 01 6d 40 40 40 40 40 40 43", amqp.ErrWrongType},
		{"a mechanism that is no text", "00 53 40 c0 04 01 a0 01 e0", amqp.ErrWrongType},
		{"open without container-id", "00 53 10 45", frames.ErrMissingField},
		{"begin without windows", "00 53 11 c0 03 02 40 43", frames.ErrMissingField},
		{"attach without role", "00 53 12 c0 05 02 a1 01 6c 43", frames.ErrMissingField},
		{"flow without windows", "00 53 13 45", frames.ErrMissingField},
		{"transfer without handle", "00 53 14 45", frames.ErrMissingField},
		{"disposition without first", "00 53 15 c0 02 01 41", frames.ErrMissingField},
		{"detach without handle", "00 53 16 c0 02 01 40", frames.ErrMissingField},
		{"sasl-init without mechanism", "00 53 41 45", frames.ErrMissingField},
	} {
		p, _, err := frames.DecodeBody(unhex(t, c.hex))
		if !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: got %v, %v, want %v", c.name, p, err, c.want)
		}
	}
}

func TestDecode_TransactionalStateDoesNotNest(t *testing.T) {
	inner := &frames.TransactionalState{TxnID: []byte("a"), Outcome: &frames.Accepted{}}
	d := &frames.Disposition{State: &frames.TransactionalState{TxnID: []byte("a"), Outcome: inner}}
	if _, _, err := frames.DecodeBody(d.AppendTo(nil)); !errors.Is(err, amqp.ErrWrongType) {
		t.Errorf("got %v", err)
	}
}

func TestDecodeBody_PayloadAndHeartbeat(t *testing.T) {
	want := &frames.Transfer{Handle: 2}
	b := append(want.AppendTo(nil), "payload"...)
	p, payload, err := frames.DecodeBody(b)
	if err != nil || !reflect.DeepEqual(p, want) || string(payload) != "payload" {
		t.Errorf("got %+v, %q, %v", p, payload, err)
	}
	if !frames.IsTransfer(b) || frames.IsTransfer((&frames.End{}).AppendTo(nil)) || frames.IsTransfer(nil) {
		t.Error("IsTransfer is wrong")
	}
	p, payload, err = frames.DecodeBody(nil)
	if p != nil || payload != nil || err != nil {
		t.Errorf("heartbeat: %v %v %v", p, payload, err)
	}
}

func TestDecode_OverwritesWhatWasThere(t *testing.T) {
	var x frames.Transfer
	full := samples()[10].(*frames.Transfer)
	if _, err := x.Decode(full.AppendTo(nil)); err != nil || !reflect.DeepEqual(&x, full) {
		t.Fatalf("%+v, %v", x, err)
	}
	if _, err := x.Decode(unhex(t, "00 53 14 c0 02 01 43")); err != nil || !reflect.DeepEqual(x, frames.Transfer{}) {
		t.Errorf("transfer kept something: %+v, %v", x, err)
	}
	d := frames.Disposition{Last: 1, HasLast: true, Settled: true, State: &frames.Accepted{}, Batchable: true}
	if err := d.Decode(unhex(t, "00 53 15 c0 03 02 42 43")); err != nil || !reflect.DeepEqual(d, frames.Disposition{}) {
		t.Errorf("disposition kept something: %+v, %v", d, err)
	}
	if _, err := x.Decode(d.AppendTo(nil)); !errors.Is(err, amqp.ErrWrongType) {
		t.Errorf("disposition as transfer: %v", err)
	}
	if err := d.Decode(x.AppendTo(nil)); !errors.Is(err, amqp.ErrWrongType) {
		t.Errorf("transfer as disposition: %v", err)
	}
}

// TestDecode_KeepsNothingOutOfRange looks at the frame after the error, as a server does that writes it to its log.
func TestDecode_KeepsNothingOutOfRange(t *testing.T) {
	var x frames.Transfer
	_, err := x.Decode(unhex(t, "00 53 14 c0 0c 07 43 40 40 40 40 40 70 00000101"))
	if !errors.Is(err, amqp.ErrRange) || x.HasRcvSettleMode || x.RcvSettleMode != 0 {
		t.Errorf("rcv-settle-mode is %d, set: %v, %v", x.RcvSettleMode, x.HasRcvSettleMode, err)
	}
}

func TestControl_RoundTripAndRefusals(t *testing.T) {
	for _, c := range []frames.ControlMessage{
		&frames.Declare{}, &frames.Declare{GlobalID: "x"},
		&frames.Discharge{TxnID: []byte("t"), Fail: true}, &frames.Discharge{TxnID: []byte("t")},
	} {
		b := c.AppendTo(nil)
		for _, b := range [][]byte{b, b[3:]} {
			if got, err := frames.DecodeControl(b); err != nil || !reflect.DeepEqual(got, c) {
				t.Errorf("got %+v, %v, want %+v", got, err, c)
			}
			for n := range b {
				if _, err := frames.DecodeControl(b[:n]); !errors.Is(err, amqp.ErrTruncated) {
					t.Errorf("%T: %d bytes of %d: %v", c, n, len(b), err)
				}
			}
		}
	}
	for s, want := range map[string]error{
		"00 53 77 00 53 31 45 40":  amqp.ErrMalformed,
		"00 53 77 a1 01 61":        amqp.ErrWrongType,
		"00 53 77 00 53 30 45":     amqp.ErrWrongType,
		"00 53 32 45":              frames.ErrMissingField,
		"00 53 75 a0 03 00 53 31 ": amqp.ErrWrongType,
	} {
		if _, err := frames.DecodeControl(unhex(t, s)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", s, err, want)
		}
	}
}
