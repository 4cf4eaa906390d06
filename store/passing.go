package store

import (
	"slices"
	"time"

	"minibus/emulator"
)

// Writing the parts of a large body takes a second or so. Changes behind it that have nothing to do with it pass meanwhile: the order of changes counts within an
// entity, where each draws a number, and around those that are about whole entities. Changes that are tied to others keep their order too, and so none of them passes. A row changes
// only when what was done to it before is committed.

// letPass commits, between two parts of a large body, changes that stand behind it. While the log is nearly full, it goes on with that until the log has begun anew:
// more parts would fill it, and then all would wait until it is copied.
func (w *writer) letPass(large *emulator.Change) error {
	waited := false
	defer func() {
		if waited {
			w.s.inbox.poke() // what woke us may have been for the writer's goroutine
		}
	}()
	for {
		some, err := w.letSomePass(large)
		if err != nil {
			return err
		}
		w.log.checkpointIfDue()
		if !w.log.crowded() {
			return nil
		}
		if !some {
			waited = true
			select {
			case <-w.s.inbox.wake: // by a change, or by the checkpointer
			case <-time.After(longestBreath):
			}
		}
	}
}

// letSomePass commits changes of one transaction, and reports whether there were any.
func (w *writer) letSomePass(large *emulator.Change) (some bool, err error) {
	items, _ := w.s.inbox.take()
	w.behind = append(w.behind, items...)
	if len(w.behind) == 0 || w.room.refusal != nil {
		return false, nil
	}
	passing := w.passing(large)
	if len(passing) == 0 {
		return false, nil
	}
	errs := w.errs
	w.errs = nil
	err = w.commitBatch(passing)
	w.errs = errs
	if err != nil {
		return true, passError{err}
	}
	return true, nil
}

// passError is a failure of changes that passed. Whatever it was, the changes that they passed fail too, with all that is behind them.
type passError struct{ error }

func (e passError) Unwrap() error { return e.error }

// passing takes the changes for one transaction that may pass out of those that stand behind.
func (w *writer) passing(large *emulator.Change) (passing []item) {
	stays := map[int64]struct{}{} // entities whose changes may not pass
	closed := !stay(large, stays)
	ops, bytes := 0, 0
	w.behind = slices.DeleteFunc(w.behind, func(it item) bool {
		closed = closed || ops >= maxBatchOps || bytes >= maxBatchBytes
		if closed {
			return false
		}
		if it.change == nil {
			return false // a flush
		}
		if isLarge(it.change) || it.change.Tied() || !passes(it.change, stays) {
			closed = !stay(it.change, stays)
			return false
		}
		ops += len(it.change.Ops)
		for i := range it.change.Ops {
			bytes += len(it.change.Ops[i].Data)
		}
		passing = append(passing, it)
		return true
	})
	return passing
}

// stay notes the entities of a change that does not pass. If it is about more than messages, it returns false: nothing behind it may pass.
func stay(c *emulator.Change, stays map[int64]struct{}) bool {
	return about(c, func(entity int64) bool { stays[entity] = struct{}{}; return true })
}

func passes(c *emulator.Change, stays map[int64]struct{}) bool {
	return about(c, func(entity int64) bool { _, there := stays[entity]; return !there })
}

// about calls f for the entities of a change, until it returns false. It returns false then, and for a change that is about more than what is in entities,
// or brings back messages, which may be on their way out in earlier changes.
func about(c *emulator.Change, f func(entity int64) bool) bool {
	if c.Restores {
		return false
	}
	for i := range c.Ops {
		op := &c.Ops[i]
		switch op.Kind {
		case emulator.OpInsert, emulator.OpUpdate, emulator.OpCounter, emulator.OpSessionState, emulator.OpHistory, emulator.OpPruneHistory:
		case emulator.OpDelete:
			if op.Record.Row == 0 {
				continue // a body that nothing refers to any more
			}
		default:
			return false
		}
		if !f(op.Record.Entity) || slices.ContainsFunc(op.Copies, func(to emulator.CopyRecord) bool { return !f(to.Entity) }) {
			return false
		}
	}
	return true
}
