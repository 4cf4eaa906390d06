package compat

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp/frames"
)

// The outcomes of a delivery.
var (
	complete   = &frames.Accepted{}
	abandon    = &frames.Modified{}
	deferIt    = &frames.Modified{UndeliverableHere: true}
	deadLetter = &frames.Rejected{Error: &frames.Error{Condition: "com.microsoft:dead-letter"}}
)

// worker is a client with transactions: a connection, a coordinator and a session to work in.
type worker struct {
	b       *bench
	conn    *rawclient.Conn
	control *rawclient.Coordinator
	work    *rawclient.Session
}

// worker connects. Work across entities takes place in the coordinator's own session (TXN-9).
func (b *bench) worker(across bool) *worker {
	b.Helper()
	conn, err := rawclient.Dial(b.server.Addr())
	b.must("connect", err)
	b.Cleanup(conn.Close)
	w := &worker{b: b, conn: conn}
	session, err := conn.Begin()
	b.must("begin session", err)
	w.control, err = session.Coordinator()
	b.must("attach coordinator", err)
	w.work = session
	if !across {
		w.work, err = conn.Begin()
		b.must("begin session", err)
	}
	return w
}

func (w *worker) declare() rawclient.Txn {
	w.b.Helper()
	txn, err := w.control.Declare()
	w.b.must("declare", err)
	return txn
}

func (w *worker) commit(txn rawclient.Txn) {
	w.b.Helper()
	w.b.must("commit", w.control.Discharge(txn, false))
}

func (w *worker) rollback(txn rawclient.Txn) {
	w.b.Helper()
	w.b.must("roll back", w.control.Discharge(txn, true))
}

func (w *worker) sender(queue string) *rawclient.Sender {
	w.b.Helper()
	sender, err := w.work.Sender(queue)
	w.b.must("attach sender", err)
	return sender
}

// receive opens a receiver and receives n messages.
func (w *worker) receive(queue string, n int) (*rawclient.Receiver, []*rawclient.Delivery) {
	w.b.Helper()
	receiver, err := w.work.Receiver(queue)
	w.b.must("attach receiver", err)
	w.b.must("grant credit", receiver.Credit(uint32(n)))
	var all []*rawclient.Delivery
	for range n {
		d, err := receiver.Receive(patience)
		w.b.must("receive", err)
		all = append(all, d)
	}
	return receiver, all
}

// plain returns a message for the raw client.
func plain(body string) *amqp.Message {
	return &amqp.Message{Properties: &amqp.MessageProperties{MessageID: body}, Data: [][]byte{[]byte(body)}}
}

// wantRefused fails unless the error is the server's with this condition.
func (b *bench) wantRefused(what string, err error, condition string) {
	b.Helper()
	var refused *frames.Error
	if !errors.As(err, &refused) || string(refused.Condition) != condition {
		b.Errorf("%s: got %v, want %s", what, err, condition)
	}
}

func TestTXN1_TXN2_SEQ19_Commit(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName})
	b.put(queueName, message("a"), message("b"), message("c"), message("d"))
	w := b.worker(false)
	receiver, locked := w.receive(queueName, 4)
	sender := w.sender(queueName)
	txn := w.declare()
	for i, outcome := range []frames.DeliveryState{complete, abandon, deferIt, deadLetter} {
		b.must("settle in a transaction", receiver.Settle(locked[i], outcome, txn))
	}
	b.must("send in a transaction", sender.Send(plain("e"), txn))
	batch := &amqp.Message{Format: 0x80013700}
	for _, body := range []string{"f", "g"} {
		encoded, err := plain(body).MarshalBinary()
		b.must("encode", err)
		batch.Data = append(batch.Data, encoded)
	}
	b.must("send a batch in a transaction", sender.Send(batch, txn))
	b.wantEmpty(b.receiver)
	b.put(queueName, message("meanwhile"))
	b.wantBodies("before the commit", b.peekAll(b.receiver, 0), "a", "b", "c", "d", "meanwhile")
	w.commit(txn)
	after := b.peekAll(b.receiver, 0)
	for i, want := range []stamps{
		{body: "b", seq: 2, count: 2}, {body: "c", seq: 3, count: 2, state: azservicebus.MessageStateDeferred},
		{body: "meanwhile", seq: 5, count: 1}, {body: "e", seq: 6, count: 1}, {body: "f", seq: 7, count: 1}, {body: "g", seq: 8, count: 1},
	} {
		b.check(after[i], want)
	}
	b.check(b.receiveOne(b.deadLetters()), stamps{body: "d", seq: 4, count: 1})
	b.wantBodies("receivable", b.receive(b.receiver, 5), "b", "meanwhile", "e", "f", "g")
}

// After a rollback everything is as before: locked by the same token, until the same time.
func TestTXN6_TXN2_DC14_LOCK9_Rollback(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName})
	outcomes := []frames.DeliveryState{complete, abandon, deferIt, deadLetter}
	b.put(queueName, message("0"), message("1"), message("2"), message("3"))
	w := b.worker(false)
	receiver, locked := w.receive(queueName, len(outcomes))
	sender := w.sender(queueName)
	txn := w.declare()
	for i, outcome := range outcomes {
		b.must("settle", receiver.Settle(locked[i], outcome, txn))
		b.must("send", sender.Send(plain("never"), txn))
	}
	w.rollback(txn)
	b.wantEmpty(b.receiver) // still locked
	for i, m := range b.peekAll(b.receiver, 0) {
		b.check(m, stamps{body: fmt.Sprint(i), seq: int64(i + 1), count: 1})
	}
	node := b.manage(b.dial(), queueName)
	for i, d := range locked {
		token := map[string]any{"lock-tokens": []amqp.UUID{d.Message.DeliveryAnnotations["x-opt-lock-token"].(amqp.UUID)}}
		node.want("renew-lock", token, 200, "")
		token["disposition-status"] = "completed"
		node.want("update-disposition", token, 200, "")
		node.want("update-disposition", token, 410, "com.microsoft:message-lock-lost")
		if left := len(b.peekAll(b.receiver, 0)); left != len(locked)-i-1 {
			b.Errorf("%d messages are left", left)
		}
	}
	b.put(queueName, message("next"))
	b.check(b.receiveOne(b.receiver), stamps{body: "next", seq: 5, count: 1}) // no gap
}

func TestTXN4_TXN5_TXN20_WhoseTransaction(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName})
	b.put(queueName, message("a"))
	w, other := b.worker(false), b.worker(false)
	receiver, locked := w.receive(queueName, 1)
	txn := w.declare()
	b.must("send", w.sender(queueName).Send(plain("never"), txn))
	b.must("settle", receiver.Settle(locked[0], complete, txn))
	const unknown = "amqp:transaction:unknown-id"
	b.wantRefused("send from another connection", other.sender(queueName).Send(plain("x"), txn), unknown)
	b.wantRefused("discharge from another connection", other.control.Discharge(txn, false), unknown)
	b.wantRefused("discharge of no transaction", other.control.Discharge(rawclient.Txn("nonsense"), false), unknown)
	w.conn.Close() // rolls back
	b.put(queueName, message("b"))
	b.wantBodies("after the connection's end", b.peekAll(b.receiver, 0), "a", "b")
}

func TestTXN8_TXN15_TXN16_OnlyOneEntity(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName}, harness.Queue{Name: "other"})
	b.put(queueName, message("a"))
	b.put("other", message("b"))
	w := b.worker(false)
	receiver, locked := w.receive(queueName, 1)
	otherReceiver, otherLocked := w.receive("other", 1)
	txn := w.declare()
	b.must("settle", receiver.Settle(locked[0], complete, txn))
	b.wantRefused("send to another queue", w.sender("other").Send(plain("x"), txn), "amqp:not-allowed")
	b.wantRefused("settle in another queue", otherReceiver.Settle(otherLocked[0], complete, txn), "amqp:not-allowed")
	w.commit(txn)
	b.must("settle after the transaction", otherReceiver.Settle(otherLocked[0], complete, nil)) // it was locked all the time
	b.wantEmpty(b.from("other"))
	b.wantBodies("left", b.peekAll(b.receiver, 0))
}

func TestTXN9_AcrossEntities(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName}, harness.Queue{Name: "other"}, harness.Queue{Name: "third"})
	b.put(queueName, message("a0"), message("a1"))
	w := b.worker(true)
	receiver, locked := w.receive(queueName, 2) // the first entity: everything goes through it
	other, third := w.sender("other"), w.sender("third")
	_, err := w.work.Receiver("other")
	b.wantRefused("a receiver for a second entity", err, "amqp:not-allowed")
	for i, fail := range []bool{true, false} {
		txn := w.declare()
		b.must("settle", receiver.Settle(locked[i], complete, txn))
		b.must("send to another queue", other.Send(plain("b"), txn))
		b.must("send to a third queue", third.Send(plain("c"), txn))
		if fail {
			w.rollback(txn)
			b.wantEmpty(b.from("other"))
			continue
		}
		w.commit(txn)
	}
	b.check(b.receiveOne(b.from("other")), stamps{body: "b", seq: 1, count: 1})
	b.check(b.receiveOne(b.from("third")), stamps{body: "c", seq: 1, count: 1})
	b.wantBodies("left in the first", b.peekAll(b.receiver, 0), "a0")
}

func TestTXN12_TXN16_AHundredMessages(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName})
	w := b.worker(false)
	sender, txn := w.sender(queueName), w.declare()
	for i := range 100 {
		b.must("send", sender.Send(plain(fmt.Sprint(i)), txn))
	}
	err := sender.Send(plain("100"), txn)
	if want := "Cannot send more than 100 messages in a single transaction."; err == nil || !strings.Contains(err.Error(), want) {
		b.Errorf("the 101st message: %v, want %s", err, want)
	}
	w.commit(txn) // the refusal did not end the transaction
	messages := b.receive(b.receiver, 100)
	for i, m := range messages {
		b.check(m, stamps{body: fmt.Sprint(i), seq: int64(i + 1), count: 1})
	}
	b.wantEmpty(b.receiver)
}

func TestTXN13_TXN14_TXN15_SessionsAndPartitions(t *testing.T) {
	b := serve(t, sessions, harness.Queue{Name: "parts", Partitioned: true})
	w := b.worker(false)
	txn := w.declare()
	sender := w.sender(queueName)
	for _, session := range []string{"s1", "s2"} {
		m := plain("in " + session)
		m.Properties.GroupID = &session
		b.must("send to "+session, sender.Send(m, txn))
	}
	w.commit(txn)
	b.wantTexts("two sessions", b.peekQueue(queueName), "in s1", "in s2")

	parts := w.sender("parts")
	txn = w.declare()
	b.wantRefused("send without a key", parts.Send(plain("x"), txn), "amqp:not-allowed")
	withKey := func(key string) *amqp.Message {
		m := plain(key)
		m.Annotations = amqp.Annotations{"x-opt-partition-key": key}
		return m
	}
	b.must("send with a key", parts.Send(withKey("k0"), txn))
	refused := 0
	for i := range 10 { // some of them belong to other partitions
		if parts.Send(withKey(fmt.Sprint("k", i)), txn) != nil {
			refused++
		}
	}
	if refused < 5 || refused == 10 {
		b.Errorf("%d of 10 keys were refused", refused)
	}
	w.rollback(txn)
	b.wantBodies("rolled back", b.peekAll(b.from("parts"), 0))
}

func TestTXN22_DUP12_SeveralAtOnce(t *testing.T) {
	b := serve(t, once)
	w := b.worker(false)
	sender := w.sender(queueName)
	first, second, third := w.declare(), w.declare(), w.declare()
	b.must("send", sender.Send(plain("1"), first))
	b.must("send", sender.Send(plain("2"), second))
	b.must("send", sender.Send(plain("3"), third))
	w.commit(third)
	w.rollback(first)
	w.commit(second)
	b.put(queueName, message("1"), message("2")) // a rolled-back message is no duplicate
	b.wantBodies("stored", b.receive(b.receiver, 3), "3", "2", "1")
	b.wantEmpty(b.receiver)
}

// A message that was sent through an entity to a disabled one ends in the transfer dead-letter queue.
func TestDLQ16_TXN11_TransferDeadLetters(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName}, harness.Queue{Name: "open"}, harness.Queue{Name: "closed", Status: "Disabled"})
	session := b.dial()
	for _, destination := range []string{"open", "closed"} {
		sender, err := session.NewSender(b.ctx, queueName, &amqp.SenderOptions{
			Properties: map[string]any{"com.microsoft:transfer-destination-address": destination},
		})
		b.must("attach sender to "+destination, err)
		b.must("send through", sender.Send(b.ctx, plain("to "+destination), nil))
	}
	b.wantBodies("delivered", b.receive(b.from("open"), 1), "to open")
	transfers, err := b.client.NewReceiverForQueue(queueName, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueTransfer})
	b.must("create receiver", err)
	m := b.receiveOne(transfers)
	b.wantBodies("not delivered", []*azservicebus.ReceivedMessage{m}, "to closed")
	b.must("complete", transfers.CompleteMessage(b.ctx, m, nil))
	b.wantBodies("the queue between", b.peekAll(b.receiver, 0))
}

// What was committed is there after kill -9; open transactions and locks are gone.
func TestDEC21_TXN2_TransactionsAndKill9(t *testing.T) {
	b, again := serveTwice(t, harness.Queue{Name: queueName}, harness.Queue{Name: "other"})
	b.put(queueName, message("a"), message("b"))
	w := b.worker(true)
	receiver, locked := w.receive(queueName, 2)
	other := w.sender("other")
	done, open := w.declare(), w.declare()
	b.must("settle", receiver.Settle(locked[0], complete, done))
	b.must("send", other.Send(plain("a done"), done))
	b.must("settle", receiver.Settle(locked[1], complete, open))
	b.must("send", other.Send(plain("never"), open))
	w.commit(done)
	b = again()
	b.check(b.receiveOne(b.receiver), stamps{body: "b", seq: 2, count: 1})
	b.check(b.receiveOne(b.from("other")), stamps{body: "a done", seq: 1, count: 1})
	b.wantEmpty(b.from("other"))
}
