package emulator_test

import (
	"fmt"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// BenchmarkSelectors sends messages to a queue with so many consumers, each of which waits for a correlation id of its
// own, takes them there and completes them. Without consumers of that kind one takes them all.
func BenchmarkSelectors(b *testing.B) {
	for _, n := range []int{0, 1, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := bench(b)
			var all []*emulator.Consumer
			poked := make(chan int, max(n, 1))
			var in []message.Message
			for i := range max(n, 1) {
				c, err := x.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { poked <- i })
				if n > 0 {
					c.Close()
					s := selector(b, fmt.Sprintf("JMSCorrelationID = 'id%d'", i))
					c, err = x.q.NewSelectingConsumer(emulator.Main, emulator.PeekLock, s, func() { poked <- i })
				}
				if err != nil {
					b.Fatalf("attach consumer: %v", err)
				}
				c.Take(nil, 1)
				m := text("x")
				m.Properties = &goamqp.MessageProperties{MessageID: "m", CorrelationID: fmt.Sprintf("id%d", i)}
				all, in = append(all, c), append(in, encode(b, m))
			}
			w := make(window, 1)
			var ds []*emulator.Delivery
			b.ReportAllocs()
			for i := 0; b.Loop(); i = (i + 1) % max(n, 1) {
				if err := x.q.Send(in[i:i+1], w); err != nil || <-w != nil {
					b.Fatalf("send: %v", err)
				}
				c := all[<-poked]
				if ds = c.Take(ds[:0], 1); len(ds) != 1 {
					b.Fatalf("%d deliveries", len(ds))
				}
				if err := c.Settle(ds[0].Lock(), emulator.Settlement{}, w); err != nil || <-w != nil {
					b.Fatalf("complete: %v", err)
				}
				c.Take(nil, 1)
			}
		})
	}
}

// BenchmarkSelectorInADeepQueue looks through messages that wait, on disk and packed, for one that is not there.
func BenchmarkSelectorInADeepQueue(b *testing.B) {
	x := benchFull(b, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{})
	const depth = 100_000
	x.sendMany(depth)
	for i := 0; b.Loop(); i++ {
		told := make(chan bool, 10)
		c, err := x.q.NewSelectingConsumer(emulator.Main, emulator.PeekLock, selector(b, fmt.Sprintf("n = %d", i)),
			func() { told <- true })
		if err != nil {
			b.Fatalf("attach consumer: %v", err)
		}
		for c.Take(nil, 1); c.Incomplete(); c.Take(nil, 1) {
			<-told
		}
		c.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/depth, "ns/message")
}
