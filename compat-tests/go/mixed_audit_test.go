package compat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/ledger"
)

// A mixedAudit looks at everything that a restarted server holds, compares it with the ledger, and empties all queues.
type mixedAudit struct {
	*bench
	book  *ledger.Mixed
	found map[string][]ledger.Place
}

func newMixedAudit(t *testing.T, server *harness.Server, book *ledger.Mixed) *mixedAudit {
	return &mixedAudit{bench: connectBench(t, server), book: book, found: make(map[string][]ledger.Place)}
}

func (a *mixedAudit) run(round int) {
	a.finishForwards(round)
	for queue, where := range map[string]ledger.Place{
		txnSource: ledger.InQueue, txnTarget: ledger.InTarget, fwdTarget: ledger.InTarget, deadSource: ledger.InQueue, deadTarget: ledger.InTarget,
	} {
		messages := a.everything(a.from(queue), where)
		a.checkOrder(queue, messages)
		if where == ledger.InTarget {
			a.checkNumbers(queue, messages)
		}
	}
	for _, queue := range []string{txnSource, txnTarget, fwdSource, "fwd.middle", fwdTarget, deadTarget, sessionQueue} {
		a.everything(a.deadFrom(queue), ledger.InDeadLetters)
	}
	a.auditSessions()
	a.book.Audit(a.found)
	a.book.AuditDoubts(a.found)
	a.empty()
}

// finishForwards waits until everything on its way has arrived: forwarding keeps the order (FWD-16), so all messages
// ahead of a last one have arrived with it.
func (a *mixedAudit) finishForwards(round int) {
	a.Helper()
	last := []string{fmt.Sprintf("r%d-last.0", round), fmt.Sprintf("r%d-last.1", round)}
	a.put(fwdSource, message(last[0]))
	a.book.Sending(last[0], ledger.InTarget)
	a.book.Sent(last[0])
	a.put(deadSource, message(last[1]))
	a.book.Sending(last[1], ledger.InTarget)
	a.book.Sent(last[1])
	from := a.from(deadSource)
	for id := ""; id != last[1]; { // the others are locked until they are deleted
		m := a.receiveOne(from)
		if id = string(m.Body); id == last[1] {
			a.must("dead-letter", from.DeadLetterMessage(a.ctx, m, nil))
		} else {
			a.must("abandon", from.DeferMessage(a.ctx, m, nil))
		}
	}
	for i, queue := range []string{fwdTarget, deadTarget} {
		target := a.from(queue)
		for begin := time.Now(); !a.holds(target, last[i]); time.Sleep(10 * time.Millisecond) {
			if time.Since(begin) > patience {
				a.Fatalf("%s has not arrived in %s", last[i], queue)
			}
		}
	}
}

func (a *mixedAudit) holds(from *azservicebus.Receiver, body string) bool {
	for _, m := range a.pages(from) {
		if string(m.Body) == body {
			return true
		}
	}
	return false
}

// pages peeks at all messages.
func (a *mixedAudit) pages(from source) []*azservicebus.ReceivedMessage {
	a.Helper()
	var all []*azservicebus.ReceivedMessage
	for next := int64(0); ; {
		page := a.peekAll(from, next)
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		next = *page[len(page)-1].SequenceNumber + 1
	}
}

// everything notes where each message of a queue was found.
func (a *mixedAudit) everything(from source, where ledger.Place) []*azservicebus.ReceivedMessage {
	a.Helper()
	messages := a.pages(from)
	for _, m := range messages {
		a.found[string(m.Body)] = append(a.found[string(m.Body)], where)
	}
	return messages
}

// checkNumbers fails unless the numbers go on where they ended. Nothing is taken from these queues during a round, so a
// hole would be a number that no message has (SEQ-2, SEQ-16, SEQ-19).
func (a *mixedAudit) checkNumbers(queue string, messages []*azservicebus.ReceivedMessage) {
	a.Helper()
	for _, m := range messages {
		a.book.Next[queue]++
		if *m.SequenceNumber != a.book.Next[queue] {
			a.Errorf("%s: %s has number %d, want %d", queue, m.Body, *m.SequenceNumber, a.book.Next[queue])
			a.book.Next[queue] = *m.SequenceNumber
		}
	}
}

// checkOrder fails unless the messages of each worker are in the order in which it sent them. Transactions of several workers and
// dead-letterings shuffle the messages that they move.
func (a *mixedAudit) checkOrder(queue string, messages []*azservicebus.ReceivedMessage) {
	a.Helper()
	if queue == txnTarget || queue == deadTarget {
		return
	}
	last := make(map[string]int)
	for _, m := range messages {
		worker, text, _ := strings.Cut(string(m.Body), ".")
		number, err := strconv.Atoi(text)
		if err != nil {
			a.Fatalf("%s: message %q", queue, m.Body)
		}
		if before, known := last[worker]; known && before >= number {
			a.Errorf("%s: %s came after number %d of its worker", queue, m.Body, before)
		}
		last[worker] = number
	}
}

// auditSessions compares states and messages of all sessions, and removes them.
func (a *mixedAudit) auditSessions() {
	a.Helper()
	listed := a.listSessions()
	for _, session := range a.book.Sessions() {
		if !slices.Contains(listed, session) {
			listed = append(listed, session) // it may be empty
		}
	}
	for _, session := range listed {
		o := &azservicebus.SessionReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}
		holder, err := a.client.AcceptSessionForQueue(a.ctx, sessionQueue, session, o)
		a.must("accept session", err)
		state, err := holder.GetSessionState(a.ctx, nil)
		a.must("get state", err)
		a.book.AuditState(session, string(state))
		messages := a.everything(holder, ledger.InQueue)
		a.checkOrder(sessionQueue, messages)
		if len(messages) > 0 {
			a.wantBodies("received from session "+session, a.receive(holder, len(messages)), bodies(messages)...)
		}
		a.must("clear state", holder.SetSessionState(a.ctx, nil, nil))
		a.must("close session", holder.Close(a.ctx))
	}
}

// empty removes all messages for the next round.
func (a *mixedAudit) empty() {
	a.Helper()
	o := &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}
	deferred, err := a.client.NewReceiverForQueue(deadSource, o)
	a.must("create receiver", err)
	for _, m := range a.pages(deferred) {
		_, err := deferred.ReceiveDeferredMessages(a.ctx, []int64{*m.SequenceNumber}, nil)
		a.must("receive deferred", err)
	}
	session := a.dial()
	for _, path := range []string{txnSource, txnSource + "/$DeadLetterQueue", txnTarget, fwdTarget, deadSource, deadTarget} {
		node := a.manage(session, path)
		for node.deleteBatch(4000, time.Now(), nil) > 0 {
		}
		if left := node.peek(); len(left) > 0 {
			a.Errorf("%s: %d messages are left after all were deleted", path, len(left))
		}
	}
}
