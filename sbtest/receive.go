package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/mgmt/control/receive"
)

// Held is a message that a test has received and locked, as another program would. The lock ends with a settlement,
// or when its time is over.
type Held struct {
	Message // as it was then

	t     testing.TB
	e     *emulator.Entity
	token emulator.LockToken
}

// tester is who receives in the history.
var tester = &emulator.Client{Container: "sbtest"}

// Receive locks the next messages of an entity or sub-queue, at most so many. It takes what is there and does not wait:
// [Namespace.WaitFor] does. The test fails if the entity requires sessions.
func (n *Namespace) Receive(t testing.TB, entity string, most int) []*Held {
	t.Helper()
	e, sub := n.entityAt(t, entity)
	w := receive.New(e, sub, emulator.PeekLock, tester)
	defer w.Close() // the locks stay
	var all []*Held
	for len(all) < most {
		d, err := w.Next(t.Context(), 0)
		check(t, "receive from "+entity, err)
		if d == nil {
			break
		}
		all = append(all, &Held{n.Message(t, entity, d.Seq()), t, e, d.Token()})
	}
	return all
}

// Complete removes the message.
func (h *Held) Complete() {
	h.t.Helper()
	h.settle(emulator.Settlement{Outcome: emulator.Complete})
}

// Abandon gives the message back, and counts a failed delivery.
func (h *Held) Abandon() {
	h.t.Helper()
	h.settle(emulator.Settlement{Outcome: emulator.Abandon})
}

// Defer sets the message aside. It is received by its sequence number only.
func (h *Held) Defer() {
	h.t.Helper()
	h.settle(emulator.Settlement{Outcome: emulator.Defer})
}

// DeadLetter moves the message to the dead-letter queue.
func (h *Held) DeadLetter(reason, description string) {
	h.t.Helper()
	properties, err := message.EncodeProperties(amqp.Map{
		{Key: emulator.DeadLetterReason, Value: reason},
		{Key: emulator.DeadLetterErrorDescription, Value: description},
	})
	check(h.t, "encode the reason", err)
	h.settle(emulator.Settlement{Outcome: emulator.DeadLetterOutcome, Properties: properties})
}

// Renew lets the lock last as long again from now, and returns when it ends.
func (h *Held) Renew() time.Time {
	h.t.Helper()
	until, err := h.e.Renew([]emulator.LockToken{h.token}, tester)
	check(h.t, "renew the lock", err)
	return instant(until[0])
}

func (h *Held) settle(s emulator.Settlement) {
	h.t.Helper()
	durable(h.t, "settle the message", func(done emulator.Completion) error {
		return h.e.Settle([]emulator.LockToken{h.token}, s, emulator.By(tester, done))
	})
}
