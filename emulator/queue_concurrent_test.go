package emulator_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// crowd is several senders and consumers on one queue at once, as connections' loops would use it.
type crowd struct {
	*broker
	mu       sync.Mutex
	accepted map[string]bool // sends that were acknowledged
	removed  map[string]int  // how often each message was completed, or received and deleted
}

// TestInvariant1And2_NothingIsLostOrDoubledUnderConcurrency sends, receives and settles from many goroutines while
// commits fail now and then. Run with -race it also checks the locking.
func TestInvariant1And2_NothingIsLostOrDoubledUnderConcurrency(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, emulator.QueueOptions{MaxDeliveryCount: 1000}, func(b *broker) {
			c := &crowd{broker: b, accepted: map[string]bool{}, removed: map[string]int{}}
			const senders, each = 4, 300
			var sending, receiving sync.WaitGroup
			stop := make(chan struct{})
			for i := range senders {
				sending.Go(func() { c.sendMany(i, each) })
			}
			for i := range 6 {
				receiving.Go(func() { c.consume(emulator.ReceiveMode(i%2), stop) })
			}
			for range 50 {
				time.Sleep(3 * time.Millisecond)
				b.j.FailNext(1, errDisk)
			}
			sending.Wait()
			b.j.FailNext(0, nil)
			time.Sleep(10 * time.Minute) // locks of given-up deliveries end
			close(stop)
			receiving.Wait()
			synctest.Wait()
			c.check()
		})
	}
}

func (c *crowd) sendMany(sender, n int) {
	for i := range n {
		body := fmt.Sprintf("%d/%d", sender, i)
		time.Sleep(time.Millisecond / 2)
		done := newOutcome()
		if err := c.q.Send(c.encodeAll(texts(body)), done); err != nil {
			c.t.Errorf("send: %v", err)
		}
		if <-done == nil {
			c.mu.Lock()
			c.accepted[body] = true
			c.mu.Unlock()
		}
	}
}

// consume is a connection's loop with one link: it waits for pokes and answers each.
func (c *crowd) consume(mode emulator.ReceiveMode, stop chan struct{}) {
	poke := make(chan struct{}, 1)
	consumer, err := c.q.NewConsumer(emulator.Main, mode, func() {
		select {
		case poke <- struct{}{}:
		default:
		}
	})
	if err != nil {
		c.t.Errorf("attach consumer: %v", err)
		return
	}
	defer consumer.Close()
	var waiting []*emulator.Delivery
	for {
		fresh := consumer.Take(nil, 5)
		waiting = c.handle(consumer, append(waiting, fresh...))
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-poke:
		case <-stop:
			return
		}
	}
}

// handle deals with the deliveries that are ready and returns the others.
func (c *crowd) handle(consumer *emulator.Consumer, ds []*emulator.Delivery) (waiting []*emulator.Delivery) {
	for _, d := range ds {
		switch ready, gone := d.Ready(); {
		case gone:
		case !ready:
			waiting = append(waiting, d)
		case d.Seq()%7 == 0 && d.Token() == lockToken{} && d.DeliveryCount() == 0 && time.Now().UnixMilli()%2 == 0:
			consumer.Return([]*emulator.Delivery{d})
		case d.Token() == lockToken{}:
			c.remove(d)
		case d.Seq()%5 == 0 && d.DeliveryCount() < 3:
			c.abandon(consumer, d)
		default:
			c.complete(consumer, d)
		}
	}
	return waiting
}

func (c *crowd) remove(d *emulator.Delivery) {
	body := decode(c.t, d.Append(nil), d).body()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed[body]++
}

func (c *crowd) abandon(consumer *emulator.Consumer, d *emulator.Delivery) {
	if err := consumer.Settle(d.Lock(), emulator.Settlement{Outcome: emulator.Abandon}, newOutcome()); err != nil {
		c.t.Errorf("abandon: %v", err)
	}
}

func (c *crowd) complete(consumer *emulator.Consumer, d *emulator.Delivery) {
	done := newOutcome()
	if err := consumer.Settle(d.Lock(), emulator.Settlement{}, done); err != nil {
		c.t.Errorf("complete: %v", err)
		return
	}
	if err := <-done; err == nil {
		c.remove(d)
	}
}

func (c *crowd) check() {
	c.wantCounts(0, 0, 0, 0)
	equal(c.t, "bytes left", c.q.Counts().SizeBytes, 0)
	if len(c.accepted) < 600 {
		c.t.Errorf("only %d sends were accepted", len(c.accepted))
	}
	for body := range c.accepted {
		if n := c.removed[body]; n != 1 {
			c.t.Errorf("message %s was removed %d times", body, n)
		}
	}
	for body := range c.removed {
		if !c.accepted[body] {
			c.t.Errorf("message %s was received though its send failed", body)
		}
	}
	c.restart()
	c.wantCounts(0, 0, 0, 0)
}
