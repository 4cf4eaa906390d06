package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/Azure/go-amqp"

	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp/frames"
)

// mover is a client with transactions from one queue to another.
type mover struct {
	control *rawclient.Coordinator
	in      *rawclient.Receiver
	out     *rawclient.Sender
}

func newMover(conn *rawclient.Conn) (*mover, error) {
	session, err := conn.Begin()
	if err != nil {
		return nil, err
	}
	var failures [3]error
	m := new(mover)
	m.control, failures[0] = session.Coordinator()
	m.in, failures[1] = session.Receiver("txn.in")
	m.out, failures[2] = session.Sender("txn.out")
	return m, errors.Join(failures[:]...)
}

// transact moves messages: each transaction completes three and sends three successors. It rolls back every fourth
// transaction. It does not receive the successors: the audit checks that each message is in one queue or the other.
func (w *worker) transact() error {
	conn, err := rawclient.Dial(w.proxyAddr())
	if err != nil {
		return err
	}
	defer conn.Close()
	m, err := newMover(conn)
	if err != nil {
		return err
	}
	for n := 0; !w.over(); n++ {
		if err := w.moveSome(m, 3, n%4 == 3); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// moveSome does one transaction.
func (w *worker) moveSome(m *mover, count int, fail bool) error {
	if missing := count - int(m.in.Open()); missing > 0 {
		if err := m.in.Credit(uint32(missing)); err != nil {
			return err
		}
	}
	w.began = time.Now()
	txn, err := m.control.Declare()
	if err != nil {
		return err
	}
	d := ledger.Doubt{Moved: make(map[string]ledger.Place)}
	for range count {
		delivery, err := m.in.Receive(receiveWait)
		if errors.Is(err, rawclient.ErrNothing) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.moveOne(m, delivery, txn, &d); err != nil {
			return err
		}
	}
	w.tally.transactions.Add(1)
	if fail {
		return m.control.Discharge(txn, true) // its messages stay locked for a while
	}
	w.book.Committing(d)
	w.began = time.Now()
	if err := m.control.Discharge(txn, false); err != nil {
		return err
	}
	w.book.Committed(d)
	return nil
}

func (w *worker) moveOne(m *mover, delivery *rawclient.Delivery, txn rawclient.Txn, d *ledger.Doubt) error {
	id, err := idOf(delivery.Message.GetData())
	if err != nil {
		w.find("txn.in: %v", err)
	}
	w.book.Delivered("txn/" + id)
	w.began = time.Now()
	if err := m.in.Settle(delivery, &frames.Accepted{}, txn); err != nil {
		return fmt.Errorf("in a transaction: %w", err)
	}
	next := id + ">"
	d.Moved["txn/"+id] = ledger.Nowhere
	d.Made = append(d.Made, "txn/"+next)
	w.book.Sending("txn/"+next, ledger.Nowhere)
	successor := &amqp.Message{Properties: &amqp.MessageProperties{MessageID: next}, Data: [][]byte{body(next, 30)}}
	if err := m.out.Send(successor, txn); err != nil {
		return fmt.Errorf("in a transaction: %w", err)
	}
	return nil
}
