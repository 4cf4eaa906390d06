package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// The durable subscriptions: diary has one consumer at a time, with the client id diarist; chores is shared, and has no
// client id.
const (
	diarist    = "diarist"
	diaryName  = "diary$diarist$D"
	choresName = "chores$$D"
)

// newsCopies returns the ledger's names of a message's copies in the durable subscriptions.
func newsCopies(id string, n int) []string {
	keys := []string{"chores/" + id}
	if partA.wants(int64(n)) {
		keys = append(keys, "diary/"+id)
	}
	return keys
}

// durable returns the attach of a consumer of a durable subscription.
func durable(name string, x selection, capabilities ...amqp.Symbol) *frames.Attach {
	a := consumer(name, newsName, x, append(capabilities, "topic")...)
	a.Source.Durable, a.Source.ExpiryPolicy, a.Source.DistributionMode = 2, "never", "copy"
	return a
}

func diary() *frames.Attach { return durable("diary", partA) }

func chores(i int) *frames.Attach {
	return durable(fmt.Sprintf("chores|global%d", i+1), everything, "shared", "global")
}

// subscribe makes the durable subscriptions as JMS clients do, and gives them the locks of the other entities.
func (s *soak) subscribe() error {
	conn, err := rawclient.DialAs(s.proxyAddr(), diarist)
	if err != nil {
		return err
	}
	defer conn.Close()
	session, err := conn.Begin()
	if err != nil {
		return err
	}
	for _, a := range []*frames.Attach{diary(), chores(0)} {
		r, err := session.AttachReceiver(a)
		if err != nil {
			return err
		}
		if err := r.Detach(false); err != nil {
			return err
		}
	}
	client, done, err := s.administration()
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), operationLimit)
	defer cancel()
	for _, name := range []string{diaryName, choresName} {
		lock, count := lockTime, int32(deliveries)
		p := admin.SubscriptionProperties{LockDuration: &lock, MaxDeliveryCount: &count}
		if _, err := client.UpdateSubscription(ctx, newsName, name, p, nil); err != nil {
			return fmt.Errorf("subscription %s: %w", name, err)
		}
	}
	return nil
}

// leftFor is after how long the broker has deleted what a JMS client left while nothing could be written.
const leftFor = 75 * time.Second

// auditSubscriptions checks, while no JMS client is connected, that the durable subscriptions are there, and that no
// volatile one and no temporary queue is.
func (a *audit) auditSubscriptions(when string) error {
	client, done, err := a.administration()
	if err != nil {
		return err
	}
	defer done()
	var left, durable []string
	for pager := client.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(a.ctx)
		if err != nil {
			return fmt.Errorf("list queues: %w", err)
		}
		for _, q := range page.Queues {
			if strings.HasPrefix(q.QueueName, "jms-temp-") {
				left = append(left, q.QueueName)
			}
		}
	}
	for pager := client.NewListSubscriptionsPager(newsName, nil); pager.More(); {
		page, err := pager.NextPage(a.ctx)
		if err != nil {
			return fmt.Errorf("list subscriptions: %w", err)
		}
		for _, p := range page.Subscriptions {
			if strings.HasSuffix(p.SubscriptionName, "$D") {
				durable = append(durable, p.SubscriptionName)
			} else {
				left = append(left, p.SubscriptionName)
			}
		}
	}
	slices.Sort(durable)
	if !slices.Equal(durable, []string{choresName, diaryName}) {
		a.find("%s: %s has the durable subscriptions %q", when, newsName, durable)
	}
	if len(left) > 0 && time.Since(a.unsaved) > leftFor {
		a.find("%s: JMS clients have left behind %q", when, left)
	}
	return nil
}

// resume leaves the durable subscription of one consumer and takes it up again, many times.
func (w *worker) resume() error {
	session, end, err := w.jms(diarist)
	if err != nil {
		return err
	}
	defer end()
	for n := 0; n < 100 && !w.over(); n++ {
		w.began = time.Now()
		r, err := session.AttachReceiver(diary())
		if err != nil {
			return err
		}
		for range 8 {
			if err := w.consume(r, partA, diaryName, "diary"); err != nil {
				return err
			}
		}
		w.began = time.Now()
		if err := r.Detach(false); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// share consumes from the shared durable subscription.
func (w *worker) share(i int) error {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return err
	}
	defer end()
	r, err := session.AttachReceiver(chores(i))
	if err != nil {
		return err
	}
	for !w.over() {
		if err := w.consume(r, everything, choresName, "chores"); err != nil {
			return err
		}
	}
	w.began = time.Now()
	return r.Detach(false)
}

// crowd consumes from a shared volatile subscription, which is there while one of its consumers is. Nothing that one
// has completed comes to any.
func (w *worker) crowd(i int) error {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return err
	}
	defer end()
	name := fmt.Sprintf("crowd|global-volatile%d", i+1)
	r, err := session.AttachReceiver(consumer(name, newsName, everything, "shared", "global", "topic"))
	if err != nil {
		return err
	}
	for n := 0; n < 200 && !w.over(); n++ {
		d, err := w.receiveOne(r)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		got := time.Now()
		id, err := idOf(d.Message.GetData())
		if err != nil {
			w.find("crowd: %v", err)
		}
		key := "crowd/" + id
		if w.book.Allowed(key) == 0 {
			w.book.Sending(key, ledger.InQueue)
		}
		w.book.Delivered(key)
		if err := w.completeRaw(r, d, key, got); err != nil {
			return err
		}
		w.tally.volatile.Add(1)
	}
	return nil
}

// listen makes an unshared volatile subscription again and again. What is published once the attach is answered comes
// to it, once and in order.
func (w *worker) listen() error {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return err
	}
	defer end()
	sender, err := w.client.NewSender(newsName, nil)
	if err != nil {
		return err
	}
	for n := 0; n < 50 && !w.over(); n++ {
		reader := w.id()
		x := selection{"reader = '" + reader + "'", everything.wants}
		w.began = time.Now()
		r, err := session.AttachReceiver(consumer("qpid-jms:receiver:"+reader, newsName, x, "topic"))
		if err != nil {
			return err
		}
		var ids []string
		f := &feed{to: newsName, keys: newsCopies, adorn: func(m *azservicebus.Message, n int) {
			parted(m, n)
			maps.Copy(m.ApplicationProperties, map[string]any{"reader": reader})
			ids = append(ids, *m.MessageID)
		}}
		if err := w.sendSome(sender, f, n, 3); err != nil {
			return err
		}
		for _, id := range ids {
			d, err := w.mustCome(r, "a published message")
			if d == nil {
				return err
			}
			if got, err := idOf(d.Message.GetData()); err != nil || got != id {
				w.find("%s: %s came, want %s: %v", newsName, got, id, err)
			}
			if err := w.settleRaw(r, d, &frames.Accepted{}, time.Now(), func() {}); err != nil {
				return err
			}
			w.tally.volatile.Add(1)
		}
		w.began = time.Now()
		if err := r.Detach(n%2 == 0); err != nil {
			return err
		}
		time.Sleep(5 * pause)
	}
	return nil
}

// mustCome waits for a message that has to come unless a fault keeps it back. It returns nil if it does not, or if the
// load stops.
func (w *worker) mustCome(r *rawclient.Receiver, what string) (*rawclient.Delivery, error) {
	for began := time.Now(); !w.over(); {
		d, err := w.receiveOne(r)
		if d != nil || err != nil {
			return d, err
		}
		if time.Since(began) > operationLimit {
			if !w.trouble.excuses(began) {
				w.find("%s: %s did not come within %v", w.name, what, operationLimit)
			}
			return nil, nil
		}
	}
	return nil, nil
}
