//go:build unix

package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// Sizes of the fan-out that is measured: messages of 1 KiB to a topic, all of whose subscriptions select all.
const (
	fanSubscriptions = 100
	fanMessages      = 1000 // that wait in each subscription
)

// yesJournal is a journal that says yes to all and stores nothing. So what is measured is the broker alone.
type yesJournal struct {
	emulator.Journal
	queue chan *emulator.Change
}

func (j *yesJournal) Append(c *emulator.Change) { j.queue <- c }

func (j *yesJournal) run() {
	for c := range j.queue {
		if c.Done != nil {
			c.Done.Completed(nil)
		}
	}
}

// BenchmarkFanOut measures the processor time that a copy costs the broker alone, on a journal that stores nothing,
// and with the store: to send it, and to receive and complete it. The receivers take turns, as independent clients
// do, or each completes all that it has.
func BenchmarkFanOut(b *testing.B) {
	for _, turns := range []bool{true, false} {
		how := "each in one go"
		if turns {
			how = "in turns"
		}
		b.Run("broker, "+how, func(b *testing.B) {
			store := emptyStore(b, Options{Ephemeral: true})
			j := &yesJournal{Journal: store, queue: make(chan *emulator.Change, 1<<16)}
			go j.run()
			defer close(j.queue)
			benchFanOut(b, j, turns)
		})
		b.Run("with the store, "+how, func(b *testing.B) {
			s := emptyStore(b, Options{})
			benchFanOut(b, s, turns)
		})
	}
}

func emptyStore(b *testing.B, o Options) *Store {
	s, err := Open(filepath.Join(b.TempDir(), "bench.db"), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func benchFanOut(b *testing.B, j emulator.Journal, turns bool) {
	ns, err := emulator.Open(j, emulator.Options{Record: emulator.NewRecord(16 << 20)})
	if err != nil {
		b.Fatal(err)
	}
	defer ns.Close()
	o := emulator.TopicOptions{}
	for i := range fanSubscriptions {
		o.Subscriptions = append(o.Subscriptions, emulator.SubscriptionOptions{Name: fmt.Sprint("s", i)})
	}
	t, err := ns.Entities().CreateTopic("fan", o)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := goamqp.NewMessage([]byte(strings.Repeat("x", 1024))).MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	m, err := message.Scan(raw)
	if err != nil {
		b.Fatal(err)
	}
	var sent, received int64
	var before, after runtime.MemStats
	var allocated uint64
	for b.Loop() {
		runtime.ReadMemStats(&before)
		sent -= processorTime(b)
		inFlight(b, fanMessages, func(c emulator.Completion) error { return t.Entity.Send([]message.Message{m}, c) })
		sent += processorTime(b)
		runtime.ReadMemStats(&after)
		allocated += after.TotalAlloc - before.TotalAlloc
		received -= processorTime(b)
		drainFan(b, ns, turns)
		received += processorTime(b)
	}
	copies := float64(b.N) * fanSubscriptions * fanMessages
	b.ReportMetric(float64(sent)/copies, "ns/send")
	b.ReportMetric(float64(received)/copies, "ns/complete")
	b.ReportMetric(float64(allocated)/copies, "B/send")
	b.ReportMetric(0, "ns/op")
}

// inFlight starts n operations, at most 200 at a time, and waits for them.
func inFlight(b *testing.B, n int, start func(emulator.Completion) error) {
	slots := make(chan error, 200)
	done := emulator.CompletionFunc(func(err error) { slots <- err })
	wait := func() {
		if err := <-slots; err != nil {
			b.Fatal(err)
		}
	}
	for i := range n {
		if i >= 200 {
			wait()
		}
		if err := start(done); err != nil {
			b.Fatal(err)
		}
	}
	for range min(n, 200) {
		wait()
	}
}

// drainFan receives and completes all copies.
func drainFan(b *testing.B, ns *emulator.Namespace, turns bool) {
	var consumers []*emulator.Consumer
	for i := range fanSubscriptions {
		q, err := ns.Entity(fmt.Sprintf("fan/Subscriptions/s%d", i))
		if err != nil {
			b.Fatal(err)
		}
		c, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		consumers = append(consumers, c)
	}
	atOnce := fanMessages
	if turns {
		atOnce = 20
	}
	for left := fanMessages; left > 0; left -= atOnce {
		for _, c := range consumers {
			takeFan(b, c, atOnce)
		}
	}
}

var fanDeliveries = sync.Pool{New: func() any { return &[]*emulator.Delivery{} }}

// takeFan receives and completes n messages of a consumer.
func takeFan(b *testing.B, c *emulator.Consumer, n int) {
	ds := fanDeliveries.Get().(*[]*emulator.Delivery)
	defer fanDeliveries.Put(ds)
	var out []byte
	for *ds = (*ds)[:0]; len(*ds) < n; {
		before := len(*ds)
		if *ds = c.Take(*ds, n-before); len(*ds) == before {
			b.Fatalf("%d of %d messages are there", before, n)
		}
		for _, d := range (*ds)[before:] {
			out = d.Append(out[:0])
		}
	}
	i := 0
	inFlight(b, n, func(done emulator.Completion) error {
		i++
		return c.Settle((*ds)[i-1].Lock(), emulator.Settlement{}, done)
	})
}
