package emulator_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// topicCrowd is senders, transactions, receivers and administrators on one topic at once.
type topicCrowd struct {
	*broker
	mu       sync.Mutex
	accepted map[string]bool // sends that were acknowledged
}

// TestInvariant4_FanOutUnderConcurrency sends to a topic from many goroutines while subscriptions and rules come and go,
// copies are received and forwarded, to a queue and through a second topic, and commits fail now and then. At the end every
// acknowledged message is in every subscription that was always there exactly once, and no other body is left. Run
// with -race it also checks the locking.
func TestInvariant4_FanOutUnderConcurrency(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		topicBubbleWith(t, no, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
			{Name: "all"}, forwardingTo("to queue", "q"), forwardingTo("to topic", "t2"), withRules("changing", sql("r", "1=0")),
			{Name: "eager", Queue: emulator.QueueOptions{MaxDeliveryCount: 1000}},
		}, func(b *broker) {
			if _, err := b.ns.Entities().CreateTopic("t2", emulator.TopicOptions{Subscriptions: named("x", "y")}); err != nil {
				t.Fatalf("create topic: %v", err)
			}
			c := &topicCrowd{broker: b, accepted: map[string]bool{}}
			c.run()
			for _, path := range []string{"t/Subscriptions/all", "q", "t2/Subscriptions/x", "t2/Subscriptions/y"} {
				c.check(path)
			}
			for _, path := range []string{"t/Subscriptions/changing", "t/Subscriptions/eager"} {
				c.empty(path)
			}
			b.wantStored(0, 0)
			for _, path := range []string{"t", "t2"} {
				equal(t, path+": size", b.on(path).q.Counts().SizeBytes, 0)
			}
		})
	}
}

func (c *topicCrowd) run() {
	var sending, others sync.WaitGroup
	stop := make(chan struct{})
	for i := range 3 {
		sending.Go(func() { c.sendMany(i, 150) })
	}
	sending.Go(func() { c.transact(100) })
	others.Go(func() { c.administer(stop) })
	for i := range 2 {
		others.Go(func() { c.receive(emulator.ReceiveMode(i), stop) })
	}
	for range 30 {
		time.Sleep(3 * time.Millisecond)
		c.j.FailNext(1, errDisk)
	}
	sending.Wait()
	close(stop)
	others.Wait()
	c.j.FailNext(0, nil)
	time.Sleep(10 * time.Minute) // locks end, forwards are tried again
	synctest.Wait()
}

func (c *topicCrowd) note(bodies []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range bodies {
		c.accepted[body] = err == nil
	}
}

func (c *topicCrowd) sendMany(sender, n int) {
	for i := range n {
		time.Sleep(time.Millisecond / 2)
		body := fmt.Sprintf("%d/%d", sender, i)
		m := text(body)
		if i%10 == 0 {
			m = at(body, time.Now().Add(20*time.Millisecond))
		}
		done := newOutcome()
		if err := c.q.Send(c.encodeAll([]*goamqp.Message{m}), done); err != nil {
			c.t.Errorf("send: %v", err)
		}
		c.note([]string{body}, <-done)
	}
}

// transact sends in transactions.
func (c *topicCrowd) transact(n int) {
	for i := range n {
		time.Sleep(time.Millisecond)
		body := fmt.Sprintf("tx/%d", i)
		tx := c.ns.Begin(false, "")
		if err := tx.Send(c.q, c.encodeAll(texts(body))); err != nil {
			c.t.Errorf("send in a transaction: %v", err)
		}
		done := newOutcome()
		if err := tx.Commit(done); err != nil {
			c.t.Errorf("commit: %v", err)
		}
		c.note([]string{body}, <-done)
	}
}

// administer creates and deletes a subscription, and changes rules of another.
func (c *topicCrowd) administer(stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			_ = c.ns.Entities().Delete("t/Subscriptions/passing")
			return
		case <-time.After(2 * time.Millisecond):
		}
		// The journal fails now and then: errors are expected, wrong states are not.
		_, _ = c.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: "passing"})
		changing := c.sub("changing").subscription()
		done := newOutcome()
		if changing.AddRule(emulator.RuleOptions{Name: fmt.Sprint("r", i), SQL: "1=1", Action: "SET x = 1"}, done) == nil {
			<-done
		}
		done = newOutcome()
		if changing.RemoveRule(fmt.Sprint("r", i-3), done) == nil {
			<-done
		}
		_ = c.ns.Entities().Delete("t/Subscriptions/passing")
	}
}

// receive takes what comes to the eager subscription, in turns.
func (c *topicCrowd) receive(mode emulator.ReceiveMode, stop chan struct{}) {
	q := c.sub("eager").q
	consumer, err := q.NewConsumer(emulator.Main, mode, func() {})
	if err != nil {
		c.t.Errorf("attach: %v", err)
		return
	}
	defer consumer.Close()
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		ds := consumer.Take(nil, 5)
		time.Sleep(time.Millisecond)
		for i, d := range ds {
			switch ready, _ := d.Ready(); {
			case i == 0 || !ready:
				consumer.Return([]*emulator.Delivery{d})
			case mode == emulator.PeekLock:
				done := newOutcome()
				if consumer.Settle(d.Lock(), emulator.Settlement{Outcome: emulator.Outcome(i % 2)}, done) == nil {
					<-done
				}
			}
		}
	}
}

// check receives everything and compares it with what was acknowledged.
func (c *topicCrowd) check(path string) {
	c.t.Helper()
	seen := map[string]int{}
	for _, g := range c.on(path).drain() {
		seen[g.body()]++
	}
	for body, ok := range c.accepted {
		if want := map[bool]int{true: 1}[ok]; seen[body] != want {
			c.t.Errorf("%s has %q %d times; acknowledged: %v", path, body, seen[body], ok)
		}
		delete(seen, body)
	}
	if len(seen) > 0 {
		c.t.Errorf("%s also has %v", path, seen)
	}
}

func (c *topicCrowd) empty(path string) {
	b := c.on(path)
	for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter} {
		b.receiveFrom(sub, emulator.ReceiveAndDelete, 100_000)
	}
	b.wantCounts(0, 0, 0, 0)
}
