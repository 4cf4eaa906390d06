package emulator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/store/storetest"
)

// BenchmarkSessionsAtRest reports the memory of messages that wait in sessions, with their bodies on disk: after they were sent, and after a
// restart.
func BenchmarkSessionsAtRest(b *testing.B) {
	for _, c := range []struct{ sessions, each int }{{100_000, 1}, {100_000, 10}, {10, 100_000}} {
		b.Run(fmt.Sprintf("%dx%d", c.sessions, c.each), func(b *testing.B) {
			for b.Loop() {
				j := storetest.NewUncheckedMemory()
				sent := atRest(b, j, func(x *benched) {
					if _, err := x.ns.Entities().CreateQueue("q", emulator.QueueOptions{RequiresSession: true}); err != nil {
						b.Fatalf("create queue: %v", err)
					}
					x.q, _ = x.ns.Entity("q")
					x.sendEach(c.sessions*c.each, func(i int) *goamqp.Message { return inSession(fmt.Sprintf("session-%06d", i%c.sessions), "x") })
				})
				j = j.Reopen()
				loaded := atRest(b, j, func(*benched) {})
				b.ReportMetric(float64(sent)/float64(c.sessions), "B/session")
				b.ReportMetric(float64(sent)/float64(c.sessions*c.each), "B/message")
				b.ReportMetric(float64(loaded)/float64(c.sessions), "B/session-loaded")
				_ = j.Close()
			}
		})
	}
}

// atRest returns how many bytes a namespace takes after f, without its journal.
func atRest(b *testing.B, j *storetest.Memory, f func(*benched)) int64 {
	ns, err := emulator.Open(j, emulator.Options{BodyBudget: 1})
	if err != nil {
		b.Fatalf("open namespace: %v", err)
	}
	f(&benched{b: b, ns: ns})
	with := heapBytes()
	ns.Close()
	runtime.KeepAlive(ns)
	ns = nil
	return int64(with) - int64(heapBytes())
}

// deafJournal is a journal in memory that can stop to store anything: then what is measured is the broker alone.
type deafJournal struct {
	*storetest.Memory
	deaf atomic.Bool
}

// Append implements [emulator.Journal].
func (j *deafJournal) Append(c *emulator.Change) {
	if j.deaf.Load() {
		j.Flush(c.Done)
	} else {
		j.Memory.Append(c)
	}
}

// benchDeep opens a namespace with a queue, all of whose bodies are on disk.
func benchDeep(b *testing.B, o emulator.QueueOptions) (*benched, *deafJournal) {
	j := &deafJournal{Memory: storetest.NewUncheckedMemory()}
	ns, err := emulator.Open(j, emulator.Options{BodyBudget: 1})
	if err != nil {
		b.Fatalf("open namespace: %v", err)
	}
	b.Cleanup(func() { ns.Close(); _ = j.Close() })
	q, err := ns.Entities().CreateQueue("q", o)
	if err != nil {
		b.Fatalf("create queue: %v", err)
	}
	return &benched{b: b, ns: ns, q: q.Entity}, j
}

// BenchmarkExpireDeep measures what a message costs the broker that expires in a queue of a million, whose messages expire in the order of
// their numbers or in any.
func BenchmarkExpireDeep(b *testing.B) {
	const n, span = 1_000_000, 20_000 // ms
	for _, order := range []string{"ordered", "random"} {
		b.Run(order, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				x, j := benchDeep(b, emulator.QueueOptions{})
				if err := x.ns.Clock().Freeze(); err != nil {
					b.Fatalf("freeze the clock: %v", err)
				}
				r := rand.New(rand.NewPCG(1, 2))
				x.sendEach(n, func(i int) *goamqp.Message {
					at := i * span / n
					if order == "random" {
						at = r.IntN(span)
					}
					return withTTL("x", time.Duration(1000+at)*time.Millisecond)
				})
				j.deaf.Store(true)
				runtime.GC()
				b.StartTimer()
				begin := time.Now()
				if err := x.ns.Clock().Advance(context.Background(), time.Minute); err != nil {
					b.Fatalf("advance the clock: %v", err)
				}
				b.ReportMetric(float64(time.Since(begin).Nanoseconds())/n, "ns/message")
				if left := x.q.Counts().Active; left != 0 {
					b.Fatalf("%d messages have not expired", left)
				}
			}
		})
	}
}

// BenchmarkDrainDeepSessions measures what a message costs the broker that is received and completed, in sessions of ten that are spread over a
// queue of a million.
func BenchmarkDrainDeepSessions(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		b.StopTimer()
		x, j := benchDeep(b, emulator.QueueOptions{RequiresSession: true})
		x.sendEach(n, func(i int) *goamqp.Message { return inSession(fmt.Sprint(i%(n/10)), "x") })
		j.deaf.Store(true)
		runtime.GC()
		b.StartTimer()
		begin := time.Now()
		for range n / 10 {
			x.drainNext(10)
		}
		b.ReportMetric(float64(time.Since(begin).Nanoseconds())/n, "ns/message")
	}
}
