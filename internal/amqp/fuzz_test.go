package amqp_test

import (
	"bytes"
	"testing"

	"minibus/internal/amqp"
)

// FuzzDecode checks for any bytes that decoding does not panic, that a decoded value can be skipped, to the same end, and
// that its encoding decodes to the same encoding.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors {
		f.Add(unhex(f, v.hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		skipped, skipErr := skip(b)
		v, rest, err := amqp.Decode(b)
		if err != nil {
			return
		}
		if skipErr != nil || len(skipped) != len(rest) {
			t.Fatalf("decoded, but skip says %v with %d bytes left instead of %d", skipErr, len(skipped), len(rest))
		}
		one, err := amqp.AppendValue(nil, v)
		if err != nil {
			t.Fatalf("%#v was decoded and cannot be encoded: %v", v, err)
		}
		again, rest, err := amqp.Decode(one)
		if err != nil || len(rest) != 0 {
			t.Fatalf("%#v encodes to % x, which does not decode: %v", v, one, err)
		}
		two, err := amqp.AppendValue(nil, again)
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("not stable: % x, then % x, %v", one, two, err)
		}
	})
}

func BenchmarkSkip(b *testing.B) {
	one, m := amqp.BeginList(nil)
	one = amqp.EndList(amqp.AppendString(one, "some text"), m, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := skip(one); err != nil {
			b.Fatal(err)
		}
	}
}
