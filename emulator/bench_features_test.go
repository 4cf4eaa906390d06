package emulator_test

import (
	"fmt"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// sendEach sends n messages, each made when it is due, 200 at a time under way.
func (x *benched) sendEach(n int, each func(i int) *goamqp.Message) {
	w := make(window, 200)
	finished := 0
	for i := range n {
		if err := x.q.Send([]message.Message{encode(x.b, each(i))}, w); err != nil {
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

// drainNext accepts the next session, completes up to n messages of it, and closes it.
func (x *benched) drainNext(n int) (id string) {
	granted := make(chan *emulator.Consumer, 1)
	_, err := x.q.Sessions().AcceptNext(emulator.Accept{Notify: func() {}}, func(c *emulator.Consumer) { granted <- c })
	if err != nil {
		x.b.Fatalf("accept: %v", err)
	}
	c := <-granted
	defer c.Close()
	w := make(window, n)
	ds := c.Take(nil, n)
	for _, d := range ds {
		if err := c.Settle(d.Lock(), emulator.Settlement{}, w); err != nil {
			x.b.Fatalf("complete: %v", err)
		}
	}
	for range ds {
		if err := <-w; err != nil {
			x.b.Fatalf("complete: %v", err)
		}
	}
	id, _ = c.SessionID()
	return id
}

// BenchmarkAcceptNext measures a round of accept, complete, close and send with few and many sessions that are
// available: the cost should hardly differ, since accept-next does not scan.
func BenchmarkAcceptNext(b *testing.B) {
	for _, sessions := range []int{10, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(sessions), func(b *testing.B) {
			x := benchWith(b, emulator.QueueOptions{RequiresSession: true})
			x.sendEach(sessions, func(i int) *goamqp.Message { return inSession(fmt.Sprint(i), "x") })
			again := make(window, 1)
			b.ReportAllocs()
			for b.Loop() {
				id := x.drainNext(1)
				if err := x.q.Send([]message.Message{encode(b, inSession(id, "x"))}, again); err != nil {
					b.Fatalf("send: %v", err)
				}
				<-again
			}
		})
	}
}

// BenchmarkDrainSessions measures the cost of a message in sessions of ten, to be compared with that of a message of a plain queue.
func BenchmarkDrainSessions(b *testing.B) {
	for _, sessions := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "sessions"}[sessions], func(b *testing.B) {
			x := benchWith(b, emulator.QueueOptions{RequiresSession: sessions})
			n := (b.N + 9) / 10 * 10
			x.sendEach(n, func(i int) *goamqp.Message { return inSession(fmt.Sprint(i%(n/10)), "x") })
			b.ReportAllocs()
			b.ResetTimer()
			if !sessions {
				x.takeAndComplete(n)
				return
			}
			for range n / 10 {
				x.drainNext(10)
			}
		})
	}
}

// BenchmarkDuplicateDetection measures a send with few and many ids in the window: the cost should be flat.
func BenchmarkDuplicateDetection(b *testing.B) {
	for _, ids := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint(ids), func(b *testing.B) {
			if ids > 1000 && testing.Short() {
				b.Skip("a million ids take a while to send")
			}
			x := benchWith(b, emulator.QueueOptions{RequiresDuplicateDetection: true, DuplicateDetectionWindow: 24 * time.Hour})
			x.sendEach(ids, func(i int) *goamqp.Message { return withID(fmt.Sprint(i)) })
			b.ReportAllocs()
			b.ResetTimer()
			x.sendEach(b.N, func(i int) *goamqp.Message { return withID(fmt.Sprint("new", i)) })
		})
	}
}

// BenchmarkScheduled measures a message's way from send to completion beside few and many scheduled ones.
func BenchmarkScheduled(b *testing.B) {
	for _, scheduled := range []int{100, 100_000} {
		b.Run(fmt.Sprint(scheduled), func(b *testing.B) {
			x := benchWith(b, emulator.QueueOptions{})
			x.sendEach(scheduled, func(i int) *goamqp.Message { return at("x", time.Now().Add(time.Hour+time.Duration(i)*time.Second)) })
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; left -= 100 {
				n := min(left, 100)
				x.sendEach(n, func(int) *goamqp.Message { return text("x") })
				x.takeAndComplete(n)
			}
		})
	}
}

// BenchmarkForward measures a message's way through a queue that forwards.
func BenchmarkForward(b *testing.B) {
	x := benchWith(b, emulator.QueueOptions{})
	if _, err := x.ns.Entities().CreateQueue("source", emulator.QueueOptions{ForwardTo: "q"}); err != nil {
		b.Fatalf("create queue: %v", err)
	}
	source, err := x.ns.Entity("source")
	if err != nil {
		b.Fatalf("find queue: %v", err)
	}
	target := x.q
	b.ReportAllocs()
	b.ResetTimer()
	x.q = source
	x.sendEach(b.N, func(int) *goamqp.Message { return text("x") })
	for target.Counts().Active < int64(b.N) {
		time.Sleep(time.Millisecond)
	}
}

// BenchmarkUpcoming asks an entity with few and with many scheduled messages for a month, hour by hour.
func BenchmarkUpcoming(b *testing.B) {
	for _, scheduled := range []int{100, 100_000} {
		b.Run(fmt.Sprint(scheduled), func(b *testing.B) {
			x := benchWith(b, emulator.QueueOptions{})
			begin := time.Now().Add(time.Hour)
			x.sendEach(scheduled, func(i int) *goamqp.Message { return at("x", begin.Add(time.Duration(i)*time.Second)) })
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.q.Messages().Upcoming(begin.UnixMilli(), time.Hour.Milliseconds(), 31*24); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
