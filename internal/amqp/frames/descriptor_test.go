package frames_test

import (
	"reflect"
	"strings"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// descriptors has the symbolic form of every descriptor, by its code [AMQP 2.7, 2.8, 3.4, 3.5, 4.5, 5.3.3].
var descriptors = map[any]amqp.Symbol{}

func init() {
	for first, names := range map[uint64]string{
		0x10: "open begin attach flow transfer disposition detach end close", 0x1d: "error",
		0x23: "received accepted rejected released modified source target",
		0x30: "coordinator declare discharge declared transactional-state",
		0x40: "sasl-mechanisms sasl-init sasl-challenge sasl-response sasl-outcome",
	} {
		for i, name := range strings.Fields(names) {
			descriptors[first+uint64(i)] = amqp.Symbol("amqp:" + name + ":list")
		}
	}
	descriptors[uint64(0x77)] = "amqp:amqp-value:*"
}

// symbolic encodes a value again with symbolic descriptors. Values in a source belong to the client and stay.
func symbolic(t *testing.T, b []byte) []byte {
	t.Helper()
	v, _, err := amqp.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = amqp.AppendValue(nil, rename(v)); err != nil {
		t.Fatal(err)
	}
	return b
}

func rename(v any) any {
	switch v := v.(type) {
	case amqp.Described:
		if v.Descriptor != uint64(0x28) {
			v.Value = rename(v.Value)
		}
		v.Descriptor = descriptors[v.Descriptor]
		return v
	case amqp.List:
		for i := range v {
			v[i] = rename(v[i])
		}
	}
	return v
}

func TestDecode_SymbolicDescriptors(t *testing.T) {
	for _, p := range samples() {
		if got, _, err := frames.DecodeBody(symbolic(t, p.AppendTo(nil))); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: got %+v, %v", p.Name(), got, err)
		}
	}
	for _, m := range []frames.ControlMessage{&frames.Declare{}, &frames.Discharge{TxnID: []byte("t")}} {
		if got, err := frames.DecodeControl(symbolic(t, m.AppendTo(nil))); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("got %+v, %v, want %+v", got, err, m)
		}
	}
}

func TestError_IsAnErrorWithText(t *testing.T) {
	if got := errSample.Error(); got != "amqp:not-found: no such queue" {
		t.Errorf("got %q", got)
	}
}

// A value without an encoding is a bug in the program; the frame must still be well-formed.
func TestAppendTo_ValueWithoutEncodingBecomesNull(t *testing.T) {
	b := (&frames.Open{ContainerID: "c", Properties: amqp.Map{{Key: "k", Value: struct{}{}}}}).AppendTo(nil)
	got, _, err := frames.DecodeBody(b)
	if want := (&frames.Open{ContainerID: "c"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
