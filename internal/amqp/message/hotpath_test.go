package message_test

import (
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func hotMessage(t testing.TB) []byte {
	return join(header(t, true), annotations(t, one("x-opt-partition-key", "pk")), properties(t, "0123456789abcdef"),
		appProperties(t, amqp.Map{{Key: "a", Value: "1"}, {Key: "b", Value: 2}}), data(t, string(make([]byte, 1024))))
}

func hotPatch(t testing.TB) message.Patch {
	overlay, err := message.EncodeProperties(amqp.Map{{Key: "DeadLetterReason", Value: "r"}})
	if err != nil {
		t.Fatal(err)
	}
	return message.Patch{SequenceNumber: 1 << 40, EnqueuedTime: 1 << 40, LockedUntil: 1 << 40, HasLockedUntil: true, HasLockToken: true,
		TTL: 60000, MessageID: "made", Properties: overlay}
}

func TestHotPath_DoesNotAllocate(t *testing.T) {
	for name, raw := range map[string][]byte{"full": full(t), "usual": hotMessage(t), "bare": data(t, "x"), "empty": nil} {
		m := scan(t, raw)
		p := hotPatch(t)
		plain := message.Patch{SequenceNumber: 1}
		dst := make([]byte, 0, len(raw)+p.SizeHint(m))
		for what, f := range map[string]func(){
			"Scan":                func() { _, _ = message.Scan(raw) },
			"Append":              func() { _ = p.Append(dst, m) },
			"Append of the least": func() { _ = plain.Append(dst, m) },
		} {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%s of the %s message: %v allocations", what, name, n)
			}
		}
	}
	m := scan(t, hotMessage(t))
	if n := testing.AllocsPerRun(100, func() { _, _ = m.Info() }); n > 2 {
		t.Errorf("Info: %v allocations, its texts are two", n)
	}
}

func BenchmarkScan(b *testing.B) {
	raw := hotMessage(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := message.Scan(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInfo(b *testing.B) {
	m := scan(b, hotMessage(b))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Info(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPatchAppend(b *testing.B) {
	m := scan(b, hotMessage(b))
	p := message.Patch{SequenceNumber: 1 << 40, EnqueuedTime: 1 << 40, LockedUntil: 1 << 40, HasLockedUntil: true, HasLockToken: true}
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Append(dst, m)
	}
}
