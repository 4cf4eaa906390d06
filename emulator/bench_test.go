package emulator_test

import (
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/store/storetest"
)

// benched is a queue over a journal in memory, outside of a bubble.
type benched struct {
	b  *testing.B
	ns *emulator.Namespace
	q  *emulator.Entity
	m  []message.Message // one message of 1 KiB
}

func bench(b *testing.B) *benched { b.Helper(); return benchWith(b, emulator.QueueOptions{}) }

// benchWith is bench with settings for the queue.
func benchWith(b *testing.B, o emulator.QueueOptions) *benched {
	b.Helper()
	return benchFull(b, emulator.Options{}, o)
}

// benchFull is benchWith with options for the namespace too.
func benchFull(b *testing.B, no emulator.Options, o emulator.QueueOptions) *benched {
	b.Helper()
	j := storetest.NewUncheckedMemory()
	ns, err := emulator.Open(j, no)
	if err != nil {
		b.Fatalf("open namespace: %v", err)
	}
	b.Cleanup(func() { ns.Close(); j.Close() })
	q, err := ns.Entities().CreateQueue("q", o)
	if err != nil {
		b.Fatalf("create queue: %v", err)
	}
	m := text(strings.Repeat("x", 1024))
	m.Properties = properties("id")
	return &benched{b: b, ns: ns, q: q.Entity, m: []message.Message{encode(b, m)}}
}

// window is a completion that lets so many operations be under way.
type window chan error

func (w window) Completed(err error) { w <- err }

// flight waits for the oldest of the operations under way once the window is full.
func (x *benched) flight(w window, started, finished int) int {
	for started-finished >= cap(w) {
		if err := <-w; err != nil {
			x.b.Fatalf("operation failed: %v", err)
		}
		finished++
	}
	return finished
}

func (x *benched) sendMany(n int) {
	w := make(window, 200)
	finished := 0
	for i := range n {
		if err := x.q.Send(x.m, w); err != nil {
			x.b.Fatalf("send: %v", err)
		}
		finished = x.flight(w, i+1, finished)
	}
	for ; finished < n; finished++ {
		if err := <-w; err != nil {
			x.b.Fatalf("send: %v", err)
		}
	}
}

// takeAndComplete receives and completes n messages, which must be there.
func (x *benched) takeAndComplete(n int) {
	poke := make(chan struct{}, 1)
	c, err := x.q.NewConsumer(emulator.Main, emulator.PeekLock, func() {
		select {
		case poke <- struct{}{}:
		default:
		}
	})
	if err != nil {
		x.b.Fatalf("attach consumer: %v", err)
	}
	defer c.Close()
	w := make(window, 200)
	var ds []*emulator.Delivery
	var out []byte
	started, finished := 0, 0
	for started < n {
		if ds = c.Take(ds[:0], min(n-started, 64)); len(ds) == 0 {
			x.b.Fatalf("the queue is empty after %d messages", started)
		}
		for _, d := range ds {
			for {
				ready, gone := d.Ready()
				if gone {
					x.b.Fatalf("message %d is gone", d.Seq())
				}
				if ready {
					break
				}
				<-poke // its body is read from the journal, in deep queues
			}
			out = d.Append(out[:0])
			if err := c.Settle(d.Lock(), emulator.Settlement{}, w); err != nil {
				x.b.Fatalf("complete: %v", err)
			}
			started++
			finished = x.flight(w, started, finished)
		}
	}
	for ; finished < n; finished++ {
		if err := <-w; err != nil {
			x.b.Fatalf("complete: %v", err)
		}
	}
}

func BenchmarkSendAndCommit(b *testing.B) {
	x := bench(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(x.m[0].Raw)))
	for b.Loop() {
		x.sendMany(1)
	}
}

func BenchmarkSendAndCommit200InFlight(b *testing.B) {
	x := bench(b)
	b.ReportAllocs()
	b.ResetTimer()
	x.sendMany(b.N)
}

func BenchmarkTakeAndComplete(b *testing.B) {
	x := bench(b)
	x.sendMany(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	x.takeAndComplete(b.N)
}

// BenchmarkDepth measures a message's whole way, send to completion, through queues of different depth: the cost
// should be flat.
func BenchmarkDepth(b *testing.B) {
	for _, depth := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			x := bench(b)
			x.sendMany(depth)
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; left -= 100 {
				n := min(left, 100)
				x.sendMany(n)
				x.takeAndComplete(n)
			}
		})
	}
}
