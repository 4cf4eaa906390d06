package store

import (
	"errors"
	"fmt"

	"minibus/emulator"
)

// transact runs one transaction. With oneByOne each change has a savepoint, and transact leaves out a change that is itself
// at fault and notes its error; without it, any error ends the transaction.
func (w *writer) transact(batch []item, oneByOne bool) error {
	w.marks.on = w.log.durable && byItself(batch)
	err := w.tx.run(func() error { return w.fill(batch, oneByOne) })
	if err != nil {
		w.dropPending()
		w.takeBack(0)
		w.namespaces.dropOutgrown()
		return err
	}
	w.namespaces.settle()
	w.entities.settle()
	w.marks.settle()
	w.undo = w.undo[:0]
	return nil
}

func (w *writer) fill(batch []item, oneByOne bool) error {
	apply := w.apply
	if oneByOne {
		apply = w.applyAlone
	}
	for i, it := range batch {
		if it.change == nil {
			continue
		}
		if w.errs[i] = w.room.unwelcome(it.change); w.errs[i] != nil {
			it.change.Failed(w.errs[i])
			continue
		}
		if err := apply(it.change); err != nil {
			if !oneByOne || !isOwnFault(err) {
				return err
			}
			w.errs[i] = domainError(err)
			it.change.Failed(w.errs[i])
		}
	}
	if err := w.writePending(); err != nil {
		return err
	}
	return w.namespaces.reserveIDs()
}

// applyAlone applies all of a change or nothing of it.
func (w *writer) applyAlone(c *emulator.Change) error {
	if err := w.conn.exec("SAVEPOINT one"); err != nil {
		return err
	}
	undo := len(w.undo)
	err := w.apply(c)
	if err == nil {
		err = w.writePending() // so that a rollback leaves nothing of this change gathered
	}
	if err == nil {
		return w.conn.exec("RELEASE one")
	}
	w.dropPending()
	if !w.conn.inTransaction() {
		if isFull(err) {
			return err
		}
		return errors.New("the transaction was rolled back: " + err.Error()) // no longer one change's own fault
	}
	w.takeBack(undo)
	if back := w.conn.exec("ROLLBACK TO one; RELEASE one"); back != nil {
		return back
	}
	return err
}

// apply runs the operations of a change in the open transaction.
func (w *writer) apply(c *emulator.Change) error {
	for i := range c.Ops {
		if err := w.applyOp(&c.Ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) applyOp(op *emulator.Op) error {
	switch op.Kind {
	case emulator.OpInsert:
		return w.messages.insert(op)
	case emulator.OpUpdate:
		return w.messages.update(op)
	case emulator.OpDelete:
		return w.messages.delete(op)
	case emulator.OpCounter:
		return w.entities.count(op)
	case emulator.OpSessionState:
		return w.entities.setSession(op)
	case emulator.OpHistory:
		return w.history.remember(op)
	case emulator.OpPruneHistory:
		return w.history.forget(op.Record.Entity, op.Record.Enqueued)
	case emulator.OpPutEntity:
		return w.entities.put(&op.Entity)
	case emulator.OpDeleteEntity:
		return w.entities.bury(op.Entity.ID)
	case opPutNamespace:
		return w.namespaces.put(op)
	case opDeleteNamespace:
		return w.namespaces.bury(op.Entity.ID)
	case opBeginCopy:
		return w.copies.begin(op.Entity.ID)
	case opAdoptCopy:
		return w.namespaces.adopt(op)
	case opDropCopy:
		return w.namespaces.drop(op.Entity.ID)
	}
	return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("operation of unknown kind %d", op.Kind)}
}

// writePending writes what the operations so far have gathered: counters and publications, each once, and the history of duplicate
// detection.
func (w *writer) writePending() error {
	if err := w.entities.writeCounters(); err != nil {
		return err
	}
	if err := w.history.write(); err != nil {
		return err
	}
	if err := w.published.write(); err != nil {
		return err
	}
	w.dropPending()
	return nil
}

// dropPending forgets the gathered counters, publications and keys.
func (w *writer) dropPending() {
	w.published.drop()
	w.entities.dropCounters()
	w.history.pending = w.history.pending[:0]
}

// takeBack undoes what was done to the parts since undo had the given length.
func (w *writer) takeBack(undo int) {
	for i := len(w.undo) - 1; i >= undo; i-- {
		w.undo[i]()
	}
	w.undo = w.undo[:undo]
}
