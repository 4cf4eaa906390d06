package message_test

import (
	"bytes"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func seeds(t testing.TB) [][]byte {
	return [][]byte{nil, full(t), hotMessage(t), value(t, "x"), join(sequence(t, 1), sequence(t)), unhex(t, "00 53 73 45"),
		join(data(t, "x"), delivery(t, one("x-opt-lock-token", nil)), unhex(t, "00 a3 10 616d71703a6865616465723a6c697374 45")),
		annotations(t, amqp.Map{{Key: uint64(1), Value: amqp.List{}}, {Key: "x-opt-message-state", Value: int32(1)}}),
		section(t, 0x75, full(t))}
}

// FuzzScan checks for any bytes that nothing panics that reads a scanned message, that its spans lie inside the message, and
// that they cover it without overlap.
func FuzzScan(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = message.Batch(raw)
		m, err := message.Scan(raw)
		if err != nil {
			return
		}
		total := 0
		for _, s := range []message.Span{m.Header, m.DeliveryAnnotations, m.MessageAnnotations, m.Properties,
			m.ApplicationProperties, m.Body, m.Footer} {
			if s.Start > s.End || int(s.End) > len(raw) {
				t.Fatalf("span %+v of %d bytes", s, len(raw))
			}
			total += s.Len()
		}
		if total != len(raw) {
			t.Fatalf("sections take %d of %d bytes", total, len(raw))
		}
		_, _ = m.Info()
		_, _ = m.BodyValue()
		_, _ = m.ApplicationProperty("a")
		for i := range 13 {
			_, _ = m.Property(i)
		}
	})
}

// FuzzPatch checks for any message and patch: the result scans; it keeps body and footer; it is not longer than the hint;
// and the same patch applied again changes nothing.
func FuzzPatch(f *testing.F) {
	overlay, _ := message.EncodeProperties(amqp.Map{{Key: "a", Value: 1}, {Key: "c", Value: nil}})
	for i, s := range seeds(f) {
		f.Add(s, overlay, "made", int64(i)*1000, uint8(i*37))
		f.Add(s, []byte(nil), "", int64(0), uint8(0xff))
	}
	f.Fuzz(func(t *testing.T, raw, props []byte, id string, n int64, flags uint8) {
		m, err := message.Scan(raw)
		if err != nil {
			return
		}
		if _, err := message.Scan(append(amqp.AppendDescriptor(nil, 0x74), props...)); err != nil {
			props = nil // an overlay always has our own encoding
		}
		p := message.Patch{DeliveryCount: uint32(n), TTL: n, SequenceNumber: n, EnqueuedTime: message.Timestamp(n >> 8), LockedUntil: 5,
			HasLockedUntil: flags&1 != 0, HasEnqueuedSequenceNumber: flags&2 != 0, HasState: flags&4 != 0, HasPartitionID: flags&8 != 0,
			HasLockToken: flags&16 != 0, OmitBody: flags&32 != 0, MessageID: id, Properties: props}
		if flags&64 != 0 {
			p.DeadLetterSource = id
		}
		if flags&128 != 0 {
			p.System, _ = message.EncodeProperties(amqp.Map{
				{Key: message.SystemMessageID, Value: nil}, {Key: message.SystemLabel, Value: id}, {Key: message.SystemPartitionKey, Value: id},
				{Key: message.SystemScheduled, Value: nil}, {Key: message.SystemTimeToLive, Value: nil},
			})
		}
		out := p.Append(nil, &m)
		if len(out) > len(raw)+p.SizeHint(&m) {
			t.Fatalf("%d bytes became %d, hint %d", len(raw), len(out), p.SizeHint(&m))
		}
		got, err := message.Scan(out)
		if err != nil {
			t.Fatalf("% x does not scan: %v", out, err)
		}
		if !p.OmitBody && text(got, got.Body) != text(m, m.Body) || text(got, got.Footer) != text(m, m.Footer) {
			t.Fatalf("body or footer changed:\n% x\n% x", raw, out)
		}
		if again := p.Append(nil, &got); !p.OmitBody && !bytes.Equal(again, out) {
			t.Fatalf("not stable:\n% x\n% x", out, again)
		}
	})
}
