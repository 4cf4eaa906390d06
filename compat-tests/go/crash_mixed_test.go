package compat

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp/frames"
)

// The queues of the mixed load. Each worker's messages pass from the first to the second of a pair.
const (
	txnSource, txnTarget   = "txn.in", "txn.out"       // by transactions
	fwdSource, fwdTarget   = "fwd.source", "fwd.end"   // by auto-forwarding, over two hops
	deadSource, deadTarget = "dead.source", "dead.end" // by dead-lettering and forwarding
	sessionQueue           = "sessions"
)

// mixedOperations is the plan of a round; the process is killed somewhere in the middle of it.
const mixedOperations = 4000

// TestDEC21_TXN2_FWD3_DLQ11_SESS22_Kill9UnderMixedLoad kills the server in the middle of transactions, forwards, dead-letterings and
// session states, again and again on one database: nothing is lost or doubled, no transaction is half done, and
// each session has the last state that was acknowledged, or the one on its way.
func TestDEC21_TXN2_FWD3_DLQ11_SESS22_Kill9UnderMixedLoad(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	const long = "PT5M"
	o := harness.Options{
		Data: filepath.Join(t.TempDir(), "minibus.db"),
		Config: configOf(t,
			harness.Queue{Name: txnSource, LockDuration: long}, harness.Queue{Name: txnTarget},
			harness.Queue{Name: fwdSource, ForwardTo: "fwd.middle"}, harness.Queue{Name: "fwd.middle", ForwardTo: fwdTarget},
			harness.Queue{Name: fwdTarget},
			harness.Queue{Name: deadSource, ForwardDeadLettersTo: deadTarget, LockDuration: long}, harness.Queue{Name: deadTarget},
			harness.Queue{Name: sessionQueue, RequiresSession: true, LockDuration: long},
		),
	}
	book := ledger.NewMixed()
	for round := range crashRoundsWanted(t) {
		server := harness.Start(t, o)
		work := &mixedLoad{crashLoad: newCrashLoad(t, server, book.Ledger, round), book: book}
		killed := work.runAndKill(mixedOperations/5 + rand.IntN(mixedOperations*3/5))
		server = harness.Start(t, o)
		audit := newMixedAudit(t, server, book)
		audit.run(round)
		server.Stop(t)
		t.Logf("round %d: killed after %d answers, %d messages there, %d transactions without answer", round, killed, len(audit.found), book.Doubts())
		if faults := book.Faults(); len(faults) > 0 {
			for _, fault := range faults[:min(len(faults), 20)] {
				t.Error(fault)
			}
			t.Fatalf("round %d, killed after %d answers: %d faults", round, killed, len(faults))
		}
		book.Rest()
	}
}

// mixedLoad is the work of one round.
type mixedLoad struct {
	*crashLoad
	book *ledger.Mixed
}

func (w *mixedLoad) runAndKill(after int) int64 {
	return w.runWhile(after, func() {
		client := w.connect()
		for i := range 6 {
			w.goWork(func() { w.transactions(fmt.Sprintf("r%d-t%d", w.round, i)) })
		}
		for i := range 2 {
			w.goWork(func() { w.forwards(client, fmt.Sprintf("r%d-f%d", w.round, i)) })
			w.goWork(func() { w.deadLetters(client, fmt.Sprintf("r%d-d%d", w.round, i)) })
			w.goWork(func() { w.sessionStates(client, fmt.Sprintf("r%d-s%d", w.round, i)) })
		}
	})
}

// mover is a client with transactions from one queue to another.
type mover struct {
	control *rawclient.Coordinator
	in      *rawclient.Receiver
	feed    *rawclient.Sender
	out     *rawclient.Sender
}

func newMover(addr string) (*mover, error) {
	conn, err := rawclient.Dial(addr)
	if err != nil {
		return nil, err
	}
	session, err := conn.Begin()
	if err != nil {
		return nil, err
	}
	var failures [4]error
	m := new(mover)
	m.control, failures[0] = session.Coordinator()
	m.in, failures[1] = session.Receiver(txnSource)
	m.feed, failures[2] = session.Sender(txnSource)
	m.out, failures[3] = session.Sender(txnTarget)
	return m, errors.Join(failures[:]...)
}

// transactions feeds the first queue and moves what it receives to the second one: each transaction completes two messages,
// dead-letters one, and sends a successor for each. It rolls back every fourth transaction.
func (w *mixedLoad) transactions(name string) {
	m, err := newMover(w.server.Addr())
	for n := 0; !w.failed("transaction", err); n++ {
		const each = 3
		for i := range each {
			id := fmt.Sprintf("%s.%d", name, n*each+i)
			w.book.Sending(id, ledger.InQueue)
			if err = m.feed.Send(plain(id), nil); w.failed("feed", err) {
				return
			}
			w.book.Sent(id)
			w.answered(1)
		}
		err = w.moveSome(m, each, n%4 == 3)
	}
}

// moveSome does one transaction.
func (w *mixedLoad) moveSome(m *mover, count int, fail bool) error {
	if err := m.in.Credit(uint32(count)); err != nil {
		return err
	}
	txn, err := m.control.Declare()
	if err != nil {
		return err
	}
	d := ledger.Doubt{Moved: make(map[string]ledger.Place)}
	for i := range count {
		delivery, err := m.in.Receive(patience)
		if err != nil {
			return err
		}
		id := string(delivery.Message.GetData())
		w.book.Delivered(id)
		var outcome frames.DeliveryState = complete
		d.Moved[id] = ledger.Nowhere
		if i == count-1 {
			outcome, d.Moved[id] = deadLetter, ledger.InDeadLetters
		}
		if err := m.in.Settle(delivery, outcome, txn); err != nil {
			return err
		}
		next := id + ">"
		d.Made = append(d.Made, next)
		w.book.Sending(next, ledger.Nowhere)
		if err := m.out.Send(plain(next), txn); err != nil {
			return err
		}
	}
	if fail {
		if err := m.control.Discharge(txn, true); err != nil {
			return err
		}
		w.answered(1)
		return nil // its messages stay locked until the end of the round
	}
	w.book.Committing(d)
	if err := m.control.Discharge(txn, false); err != nil {
		w.book.Doubtful(d)
		return err
	}
	w.book.Committed(d)
	w.answered(2 * count)
	return nil
}

// forwards sends single messages and batches to the head of a chain.
func (w *mixedLoad) forwards(client *azservicebus.Client, name string) {
	sender, err := client.NewSender(fwdSource, nil)
	for n := 0; !w.failed("forward", err); {
		ids := []string{fmt.Sprintf("%s.%d", name, n)}
		if n%3 == 0 {
			ids = append(ids, fmt.Sprintf("%s.%d", name, n+1), fmt.Sprintf("%s.%d", name, n+2))
		}
		n += len(ids)
		for _, id := range ids {
			w.book.Sending(id, ledger.InTarget)
		}
		if err = sendTogether(w, sender, ids); err != nil {
			w.book.DoubtfulBatch(ids[0], ids)
			continue
		}
		for _, id := range ids {
			w.book.Sent(id)
		}
		w.answered(len(ids))
	}
}

func sendTogether(w *mixedLoad, sender *azservicebus.Sender, ids []string) error {
	if len(ids) == 1 {
		return sender.SendMessage(w.ctx, message(ids[0]), nil)
	}
	batch, err := sender.NewMessageBatch(w.ctx, nil)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := batch.AddMessage(message(id), nil); err != nil {
			return err
		}
	}
	return sender.SendMessageBatch(w.ctx, batch, nil)
}

// deadLetters sends messages and dead-letters them.
func (w *mixedLoad) deadLetters(client *azservicebus.Client, name string) {
	sender, err := client.NewSender(deadSource, nil)
	if w.failed("create sender", err) {
		return
	}
	receiver, err := client.NewReceiverForQueue(deadSource, nil)
	for n := 0; !w.failed("dead-letter", err); n++ {
		id := fmt.Sprintf("%s.%d", name, n)
		w.book.Sending(id, ledger.InQueue)
		if err = sender.SendMessage(w.ctx, message(id), nil); err != nil {
			continue
		}
		w.book.Sent(id)
		w.answered(1)
		var messages []*azservicebus.ReceivedMessage
		if messages, err = receiver.ReceiveMessages(w.ctx, 1, nil); err != nil || len(messages) == 0 {
			continue // a receive that the kill interrupts may return nothing
		}
		id = string(messages[0].Body) // perhaps another worker's
		w.book.Delivered(id)
		w.book.Settling(id, ledger.InTarget)
		if err = receiver.DeadLetterMessage(w.ctx, messages[0], nil); err == nil {
			w.book.SettledAt(id, ledger.InTarget)
			w.answered(1)
		}
	}
}

// sessionStates receives the messages of a session and writes each one into the session's state before it completes it.
func (w *mixedLoad) sessionStates(client *azservicebus.Client, session string) {
	sender, err := client.NewSender(sessionQueue, nil)
	if w.failed("create sender", err) {
		return
	}
	holder, err := client.AcceptSessionForQueue(w.ctx, sessionQueue, session, nil)
	for n := 0; !w.failed("session", err); n++ {
		id := fmt.Sprintf("%s.%d", session, n)
		w.book.Sending(id, ledger.InQueue)
		if err = sender.SendMessage(w.ctx, inSession(session, id), nil); err != nil {
			continue
		}
		w.book.Sent(id)
		w.answered(1)
		if n%3 == 2 {
			continue // so that the session is never empty
		}
		err = w.noteAndComplete(holder, session)
	}
}

func (w *mixedLoad) noteAndComplete(holder *azservicebus.SessionReceiver, session string) error {
	messages, err := holder.ReceiveMessages(w.ctx, 1, nil)
	if err != nil || len(messages) == 0 {
		return err
	}
	id := string(messages[0].Body)
	w.book.Delivered(id)
	w.book.SettingState(session, id)
	if err := holder.SetSessionState(w.ctx, []byte(id), nil); err != nil {
		return err
	}
	w.book.StateSet(session, id)
	w.answered(1)
	w.book.Settling(id, ledger.Nowhere)
	if err := holder.CompleteMessage(w.ctx, messages[0], nil); err != nil {
		return err
	}
	w.book.SettledAt(id, ledger.Nowhere)
	w.answered(1)
	return nil
}
