package main

import (
	"errors"
	"time"

	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
)

// The most credit that receivers that delete have open: usually a little, so that messages can be held back, and just
// before the broker is told to end as much as most SDKs have.
const (
	usualCredit = 20
	burstCredit = 500
)

// receiveAndDelete receives and deletes, and counts messages until the very end of the connection: after a graceful
// stop every message is here or in the queue. Only a broken connection loses what was on its way.
func (w *worker) receiveAndDelete() error {
	conn, err := rawclient.Dial(w.proxyAddr())
	if err != nil {
		return err
	}
	defer conn.Close()
	session, err := conn.Begin()
	if err != nil {
		return err
	}
	receiver, err := session.RemovingReceiver("deleting", "")
	if err != nil {
		return err
	}
	granting, quiet := true, 0
	for {
		if most := w.credit.Load(); granting && receiver.Open() < most/2 {
			granting = receiver.Credit(most-receiver.Open()) == nil // if not, there may still be something to read
		}
		w.began = time.Now()
		delivery, err := receiver.Receive(receiveWait / 20)
		switch {
		case errors.Is(err, rawclient.ErrNothing):
			if !w.over() {
				quiet = 0 // the broker may have been frozen
			} else if quiet++; quiet > 60 {
				return nil // no more is sent, and nothing is left
			}
		case err != nil:
			if w.trouble.abruptSince(w.opened) {
				w.book.BrokeOff("deleting", int(receiver.Open()))
			}
			return err
		default:
			quiet = 0
			w.deleted(delivery.Message.GetData(), "deleting")
		}
	}
}

// deleted notes a message that the broker no longer has.
func (w *worker) deleted(content []byte, entity string) {
	id, err := idOf(content)
	if err != nil {
		w.find("%s: %v", entity, err)
	}
	key := entity + "/" + id
	w.book.Delivered(key)
	w.book.Settling(key, ledger.Nowhere)
	w.book.SettledAt(key, ledger.Nowhere)
	w.tally.deleted.Add(1)
}
