package main

import (
	"errors"
	"time"

	"minibus/compat-tests/ledger"
	"minibus/compat-tests/rawclient"
)

// deletingCredit is what a receiver that deletes has open at most.
const deletingCredit = 30

// receiveAndDelete receives and deletes, and counts what comes until the very end of the connection: after a graceful stop every
// message is here or in the queue. Only where a connection breaks off, what was on its way is lost.
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
	granting := true
	for {
		if granting && receiver.Open() <= deletingCredit/2 {
			granting = receiver.Credit(deletingCredit-receiver.Open()) == nil // else there may still be something to read
		}
		w.began = time.Now()
		delivery, err := receiver.Receive(receiveWait)
		switch {
		case errors.Is(err, rawclient.ErrNothing) && w.over():
			return nil // nothing is sent any more, and nothing is left
		case errors.Is(err, rawclient.ErrNothing):
		case err != nil:
			if w.trouble.abruptSince(w.opened) {
				w.book.BrokeOff("deleting", int(receiver.Open()))
			}
			return err
		default:
			w.deleted(delivery.Message.GetData(), "deleting")
		}
	}
}

// deleted notes a message that the broker has no more.
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
