package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// selection is a selector and the messages that it wants, by number.
type selection struct {
	text  string
	wants func(n int64) bool
}

var (
	everything = selection{"", func(int64) bool { return true }}
	partA      = selection{"part = 'a'", func(n int64) bool { return n%4 == 0 }}
	selections = []selection{
		everything, partA, partA,
		{"part IN ('b', 'c') AND n BETWEEN 0 AND 1000000", func(n int64) bool { return n%4 == 1 || n%4 == 2 }},
		{"part LIKE '_' AND JMSPriority > 4", func(int64) bool { return false }}, // all have priority 4
	}
)

// parted gives a message the properties that the selectors test.
func parted(m *azservicebus.Message, n int) {
	m.ApplicationProperties = map[string]any{"n": int64(n), "part": string("abcd"[n%4])}
}

// startJMS starts clients that behave on the wire as JMS clients do.
func (s *soak) startJMS(l *load) {
	for name, f := range map[string]*feed{
		"pick": {to: "picked", adorn: parted, slow: 4 * time.Millisecond},
		"roll": {to: "rolled", slow: 20 * time.Millisecond},
		"news": {to: newsName, adorn: parted, keys: newsCopies, slow: 15 * time.Millisecond},
	} {
		l.goWork(name, func(w *worker) error { return w.send(f) })
	}
	for _, x := range selections {
		l.goWork("picker", func(w *worker) error { return w.pick(x) })
	}
	l.goWork("browser", func(w *worker) error { return w.browse("held", everything) })
	l.goWork("browser", func(w *worker) error { return w.browse("picked", partA) })
	l.goWork("roller", (*worker).rollBack)
	l.goWork("diarist", (*worker).resume)
	for i := range 2 {
		l.goWork("sharer", func(w *worker) error { return w.share(i) })
		l.goWork("crowd", func(w *worker) error { return w.crowd(i) })
		l.goWork("listener", (*worker).listen)
		l.goWork("replier", (*worker).reply)
	}
	l.goWork("asker", (*worker).askWithTemporary)
	l.goWork("asker", (*worker).askWithSelector)
}

// jms opens a connection and a session of a JMS client. The connection ends without a word.
func (w *worker) jms(clientID string) (*rawclient.Session, func(), error) {
	w.began = time.Now()
	conn, err := rawclient.DialAs(w.proxyAddr(), clientID)
	if err != nil {
		return nil, nil, err
	}
	session, err := conn.Begin()
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return session, conn.Close, nil
}

// consumer returns the attach of a JMS consumer.
func consumer(name, address string, x selection, capabilities ...amqp.Symbol) *frames.Attach {
	source := &frames.Source{
		Address: address, HasAddress: true, ExpiryPolicy: "link-detach", Capabilities: capabilities,
	}
	if x.text != "" {
		const selector = 0x0000468C00000004
		source.Filter = amqp.Map{{
			Key: amqp.Symbol("jms-selector"), Value: amqp.Described{Descriptor: uint64(selector), Value: x.text},
		}}
	}
	return &frames.Attach{LinkName: name, Source: source}
}

// pick consumes from a queue with a selector, beside others.
func (w *worker) pick(x selection) error {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return err
	}
	defer end()
	r, err := session.AttachReceiver(consumer("", "picked", x, "queue"))
	if err != nil {
		return err
	}
	for !w.over() {
		if err := w.consume(r, x, "picked", "picked"); err != nil {
			return err
		}
	}
	return nil
}

// consume receives a message, if one comes. It completes most, and gives the others back.
func (w *worker) consume(r *rawclient.Receiver, x selection, entity, book string) error {
	d, err := w.receiveOne(r)
	if d == nil {
		return err
	}
	got := time.Now()
	if n, ok := d.Message.ApplicationProperties["n"].(int64); !ok || !x.wants(n) {
		w.find("%s: number %d was delivered for the selector %s", entity, n, x.text)
	}
	if x.text != "" {
		w.tally.selected.Add(1)
	}
	key := w.noted(d, entity, book)
	if rand.IntN(10) == 0 {
		return w.settleRaw(r, d, &frames.Released{}, got, func() {})
	}
	return w.completeRaw(r, d, key, got)
}

// receiveOne returns a message, or nil if none comes.
func (w *worker) receiveOne(r *rawclient.Receiver) (*rawclient.Delivery, error) {
	w.began = time.Now()
	d, err := r.ReceiveOne(receiveWait)
	if errors.Is(err, rawclient.ErrNothing) {
		return nil, nil
	}
	if err == nil {
		w.tally.received.Add(1)
	}
	return d, err
}

// noted checks a message that was delivered and returns its name in the ledger.
func (w *worker) noted(d *rawclient.Delivery, entity, book string) (key string) {
	key = w.seen(d, entity, book)
	w.book.Delivered(key)
	return key
}

// seen checks a message that a consumer or a browser got, and returns its name in the ledger.
func (w *worker) seen(d *rawclient.Delivery, entity, book string) (key string) {
	id, err := idOf(d.Message.GetData())
	if err != nil {
		w.find("%s: %v", entity, err)
	}
	w.book.Seen(entity+"/"+id, numberOf(d))
	return book + "/" + id
}

func numberOf(d *rawclient.Delivery) int64 {
	number, _ := d.Message.Annotations["x-opt-sequence-number"].(int64)
	return number
}

// completeRaw completes a message of the ledger.
func (w *worker) completeRaw(r *rawclient.Receiver, d *rawclient.Delivery, key string, got time.Time) error {
	w.book.Settling(key, ledger.Nowhere)
	return w.settleRaw(r, d, &frames.Accepted{}, got, func() { w.book.SettledAt(key, ledger.Nowhere) })
}

// settleRaw settles a message, and calls done with the answer. It bears that the machine stood still and the lock ran
// out.
func (w *worker) settleRaw(
	r *rawclient.Receiver, d *rawclient.Delivery, as frames.DeliveryState, got time.Time, done func(),
) error {
	w.began = time.Now()
	err := r.Settle(d, as, nil)
	var refused *frames.Error
	if errors.As(err, &refused) && strings.HasSuffix(string(refused.Condition), "lock-lost") &&
		time.Since(got) >= slowSettlement {
		return nil
	}
	if err == nil {
		done()
		w.tally.settled.Add(1)
	}
	return err
}

// browse looks at a queue again and again. Nothing comes twice or out of order. Messages that nobody settles are there
// each time.
func (w *worker) browse(queue string, x selection) error {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return err
	}
	defer end()
	before := 0
	for range 100 {
		if w.over() {
			return nil
		}
		a := consumer("", queue, x, "queue")
		a.SndSettleMode, a.HasSndSettleMode, a.Source.DistributionMode = 1, true, "copy"
		w.began = time.Now()
		r, err := session.AttachReceiver(a)
		if err != nil {
			return err
		}
		count, err := w.browseAll(r, queue, x)
		if err != nil {
			return err
		}
		if queue == "held" && count < before {
			w.find("%s: %d messages were browsed after %d", queue, count, before)
		}
		before = count
		w.tally.browsed.Add(int64(count))
		if err := r.Detach(true); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// browseAll drains a browser until nothing more comes, and returns the number of messages.
func (w *worker) browseAll(r *rawclient.Receiver, queue string, x selection) (count int, err error) {
	for last := int64(0); ; {
		began := count
		w.began = time.Now()
		if err := r.Credit(50); err != nil {
			return 0, err
		}
		if err := r.Drain(); err != nil {
			return 0, err
		}
		for {
			d, err := r.Receive(0)
			if errors.Is(err, rawclient.ErrNothing) {
				break
			}
			if err != nil {
				return 0, err
			}
			w.seen(d, queue, queue)
			if n, _ := d.Message.ApplicationProperties["n"].(int64); !x.wants(n) {
				w.find("%s: number %d was browsed with the selector %s", queue, n, x.text)
			}
			if numberOf(d) <= last {
				w.find("%s: number %d was browsed after %d", queue, numberOf(d), last)
			}
			last = numberOf(d)
			count++
		}
		if count == began {
			return count, nil
		}
	}
}

// rollBack consumes in transactions, and rolls back every third. What was rolled back comes again at once, and not only
// when its lock ends; on a slow machine this holds for most of it.
func (w *worker) rollBack() error {
	session, end, err := w.jms("ID:" + w.name)
	if err != nil {
		return err
	}
	defer end()
	control, err := session.Coordinator()
	if err != nil {
		return err
	}
	r, err := session.AttachReceiver(consumer("", "rolled", everything, "queue"))
	if err != nil {
		return err
	}
	b := &rollbacks{open: make(map[string]time.Time)}
	for n := 0; !w.over(); n++ {
		if err := w.rollOne(control, r, n%3 == 2, b); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	if b.late > b.prompt+3 { // of one transaction or two it says nothing
		w.find("rolled: %d messages came at once after a rollback, and %d when their locks had ended", b.prompt, b.late)
	}
	return nil
}

// rollbacks records when messages were rolled back, and how they came again.
type rollbacks struct {
	open         map[string]time.Time
	prompt, late int
}

// cameAgain notes how a message that was rolled back came again.
func (w *worker) cameAgain(key string, b *rollbacks) {
	since, found := b.open[key]
	delete(b.open, key)
	switch {
	case found && time.Since(since) < slowSettlement:
		b.prompt++
		w.tally.rolledBack.Add(1)
	case found && !w.trouble.excuses(since):
		b.late++
	}
}

// rollOne does one transaction.
func (w *worker) rollOne(control *rawclient.Coordinator, r *rawclient.Receiver, fail bool, b *rollbacks) error {
	w.began = time.Now()
	txn, err := control.Declare()
	if err != nil {
		return err
	}
	doubt := ledger.Doubt{Moved: make(map[string]ledger.Place)}
	for range 2 {
		d, err := w.receiveOne(r)
		if err != nil {
			return err
		}
		if d == nil {
			break
		}
		key := w.noted(d, "rolled", "rolled")
		w.cameAgain(key, b)
		doubt.Moved[key] = ledger.Nowhere
		if err := r.Forget(d, &frames.Accepted{}, txn); err != nil {
			return fmt.Errorf("in a transaction: %w", err)
		}
	}
	w.tally.transactions.Add(1)
	w.began = time.Now()
	if fail {
		for key := range doubt.Moved {
			b.open[key] = time.Now()
		}
		return control.Discharge(txn, true)
	}
	w.book.Committing(doubt)
	if err := control.Discharge(txn, false); err != nil {
		return err
	}
	w.book.Committed(doubt)
	return nil
}
