package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/mgmt/control/receive"
)

// Held is a message that a test has received and locked, as another program would. The lock ends with a settlement, or when its time is over.
type Held struct {
	Message // as it was then

	t     testing.TB
	e     *emulator.Entity
	token emulator.LockToken
}

// tester is who receives in the history.
var tester = &emulator.Client{Container: "sbtest"}

// Receive locks the next messages of an entity or sub-queue of the default namespace, at most so many. It takes what is there and does not wait: [Server.Wait]
// does. The test fails if the entity requires sessions.
func (s *Server) Receive(t testing.TB, entity string, most int) []*Held {
	t.Helper()
	return receiveFrom(t, s.Default(), entity, most)
}

// Receive is [Server.Receive] in this namespace.
func (n *Namespace) Receive(t testing.TB, entity string, most int) []*Held {
	t.Helper()
	return receiveFrom(t, n.Namespace, entity, most)
}

func receiveFrom(t testing.TB, ns *emulator.Namespace, entity string, most int) (all []*Held) {
	t.Helper()
	e, sub := entityAt(t, ns, entity)
	w := receive.New(e, sub, emulator.PeekLock, tester)
	defer w.Close() // the locks stay
	for len(all) < most {
		d, err := w.Next(t.Context(), 0)
		if err != nil {
			t.Fatalf("sbtest: receive from %s: %v", entity, err)
		}
		if d == nil {
			break
		}
		all = append(all, &Held{messageOf(t, ns, entity, d.Seq()), t, e, d.Token()})
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
	properties, err := message.EncodeProperties(amqp.Map{{Key: emulator.DeadLetterReason, Value: reason}, {Key: emulator.DeadLetterErrorDescription, Value: description}})
	if err != nil {
		h.t.Fatalf("sbtest: message %d: %v", h.SequenceNumber, err)
	}
	h.settle(emulator.Settlement{Outcome: emulator.DeadLetterOutcome, Properties: properties})
}

// Renew lets the lock last as long again from now, and returns when it ends.
func (h *Held) Renew() time.Time {
	h.t.Helper()
	until, err := h.e.Renew([]emulator.LockToken{h.token}, tester)
	if err != nil {
		h.t.Fatalf("sbtest: message %d: %v", h.SequenceNumber, err)
	}
	return instant(until[0])
}

func (h *Held) settle(s emulator.Settlement) {
	h.t.Helper()
	durable(h.t, func(done emulator.Completion) error {
		return h.e.Settle([]emulator.LockToken{h.token}, s, emulator.By(tester, done))
	})
}
