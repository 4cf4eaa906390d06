package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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
				j := storetest.NewMemory()
				sent := atRest(b, j, func(x *benched) {
					if _, err := x.ns.CreateQueue("q", emulator.QueueOptions{RequiresSession: true}); err != nil {
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

// BenchmarkExpireDeep measures what a message costs that expires in a queue of a million, whose messages expire in the order of their numbers
// or in any.
func BenchmarkExpireDeep(b *testing.B) {
	const n, span = 1_000_000, 20_000 // ms
	for _, order := range []string{"ordered", "random"} {
		b.Run(order, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				x := benchFull(b, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{})
				if err := x.ns.Freeze(); err != nil {
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
				b.StartTimer()
				begin := time.Now()
				if err := x.ns.Advance(time.Minute); err != nil {
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
