package frames_test

import (
	"testing"

	"minibus/internal/amqp/frames"
)

var hotTransfer = frames.Transfer{DeliveryID: 1000, HasDeliveryID: true, DeliveryTag: make([]byte, 16), HasMessageFormat: true,
	HasSettled: true, Batchable: true}

func TestHotPath_DoesNotAllocate(t *testing.T) {
	body := append(hotTransfer.AppendTo(nil), make([]byte, 1024)...)
	var x frames.Transfer
	var d frames.Disposition
	dst := make([]byte, 0, 4096)
	accepted := (&frames.Disposition{Role: frames.RoleReceiver, First: 5, Settled: true, State: &frames.Accepted{}}).AppendTo(nil)
	released := (&frames.Disposition{Role: frames.RoleReceiver, First: 5, Settled: true, State: &frames.Released{}}).AppendTo(nil)
	for name, f := range map[string]func(){
		"IsTransfer":         func() { _ = frames.IsTransfer(body) },
		"Transfer.Decode":    func() { _, _ = x.Decode(body) },
		"Transfer.AppendTo":  func() { _ = hotTransfer.AppendTo(dst) },
		"AppendFrame":        func() { _ = frames.AppendFrame(dst, 1, &hotTransfer) },
		"Disposition.Decode": func() { _ = d.Decode(accepted) },
		"released":           func() { _ = d.Decode(released) },
		"Disposition.Append": func() { _ = d.AppendTo(dst) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkTransferDecode(b *testing.B) {
	body := append(hotTransfer.AppendTo(nil), make([]byte, 1024)...)
	var x frames.Transfer
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTransferAppend(b *testing.B) {
	dst := make([]byte, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		_ = hotTransfer.AppendTo(dst)
	}
}

func BenchmarkDispositionDecode(b *testing.B) {
	body := (&frames.Disposition{First: 5, Settled: true, State: &frames.Accepted{}}).AppendTo(nil)
	var d frames.Disposition
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}
