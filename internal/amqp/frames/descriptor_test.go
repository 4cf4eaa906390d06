package frames_test

import (
	"bytes"
	"reflect"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// symbolic replaces one small-ulong descriptor in a value that holds it once by the symbolic form.
func symbolic(t *testing.T, b []byte, code byte, name amqp.Symbol) any {
	t.Helper()
	v, _, err := amqp.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return rename(v, uint64(code), name)
}

func rename(v any, code uint64, name amqp.Symbol) any {
	switch v := v.(type) {
	case amqp.Described:
		if v.Descriptor == code {
			v.Descriptor = name
		}
		v.Value = rename(v.Value, code, name)
		return v
	case amqp.List:
		for i := range v {
			v[i] = rename(v[i], code, name)
		}
	}
	return v
}

func TestDecode_SymbolicDescriptorsInside(t *testing.T) {
	attach := &frames.Attach{LinkName: "l", Source: &frames.Source{Address: "q", HasAddress: true}, Target: &frames.Target{}}
	for _, c := range []struct {
		p    frames.Performative
		code byte
		name amqp.Symbol
	}{
		{&frames.Close{Error: errSample}, 0x1d, "amqp:error:list"},
		{attach, 0x28, "amqp:source:list"},
		{attach, 0x29, "amqp:target:list"},
		{&frames.Attach{LinkName: "l", Coordinator: &frames.Coordinator{Capabilities: someSymbols}}, 0x30, "amqp:coordinator:list"},
	} {
		b, err := amqp.AppendValue(nil, symbolic(t, c.p.AppendTo(nil), c.code, c.name))
		if err != nil || !bytes.Contains(b, []byte(c.name)) {
			t.Fatalf("%s: % x, %v", c.name, b, err)
		}
		if got, _, err := frames.DecodeBody(b); err != nil || !reflect.DeepEqual(got, c.p) {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
}

func TestControl_SymbolicDescriptors(t *testing.T) {
	for _, c := range []struct {
		m    frames.ControlMessage
		code byte
		name amqp.Symbol
	}{
		{&frames.Declare{}, 0x31, "amqp:declare:list"},
		{&frames.Discharge{TxnID: []byte("t")}, 0x32, "amqp:discharge:list"},
		{&frames.Declare{}, 0x77, "amqp:amqp-value:*"},
	} {
		b, err := amqp.AppendValue(nil, symbolic(t, c.m.AppendTo(nil), c.code, c.name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := frames.DecodeControl(b); err != nil || !reflect.DeepEqual(got, c.m) {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
}

func TestError_IsAnErrorWithText(t *testing.T) {
	if got := errSample.Error(); got != "amqp:not-found: no such queue" {
		t.Errorf("got %q", got)
	}
}

// A value that has no encoding is a mistake of the program; the frame must stay well-formed all the same.
func TestAppendTo_ValueWithoutEncodingBecomesNull(t *testing.T) {
	b := (&frames.Open{ContainerID: "c", Properties: amqp.Map{{Key: "k", Value: struct{}{}}}}).AppendTo(nil)
	got, _, err := frames.DecodeBody(b)
	if want := (&frames.Open{ContainerID: "c"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
