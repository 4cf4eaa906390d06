package store

import (
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"minibus/emulator"
)

// Bodies over maxInline bytes are written ahead of their message's row, a part per transaction. So no transaction is
// much larger than maxBatchBytes: the log stays small, checkpoints can run in between, and changes appended before
// a message of 100 MB do not wait for it. A start removes parts whose body row was never committed.
//
// Writing the parts takes a second or so. Changes behind the message that have nothing to do with it pass meanwhile:
// order counts within an entity, where each change may draw a number, and around changes that are about whole
// entities. Changes that are tied to others keep their order too, so none of them passes. The domain changes a
// message only when what was done to it before is committed.
const maxInline = 1 << 20

// mostParts is how many parts a body has at most, by the largest message that an entity may take.
const mostParts = 101

func partCount(data []byte) int { return (len(data) + maxInline - 1) / maxInline }

// inParts reports whether the body of op is written in parts. The state of a session never is: it is a single value,
// always written whole.
func inParts(op *emulator.Op) bool { return op.Kind == emulator.OpInsert && len(op.Data) > maxInline }

// isLarge reports whether a change has a body that is written in parts.
func isLarge(c *emulator.Change) bool {
	for i := range c.Ops {
		if inParts(&c.Ops[i]) {
			return true
		}
	}
	return false
}

// writeParts writes the bodies of a change that are written in parts, and adds up their checksums: of 100 MB together
// one takes 10 ms, in which nothing could pass. If the change restores a message it may use the reserve.
func (w *writer) writeParts(c *emulator.Change) error {
	m := &w.messages
	m.hasParts = true
	for i := range c.Ops {
		op := &c.Ops[i]
		if !inParts(op) {
			continue
		}
		body, sum := op.Record.Body, uint32(0)
		for n := range partCount(op.Data) {
			part := op.Data[n*maxInline : min((n+1)*maxInline, len(op.Data))]
			sum = crc32.Update(sum, castagnoli, part)
			write := func() error {
				m.insertPart.bindInts(emulator.NamespaceOf(body), body, int64(n))
				m.insertPart.bindBlob(4, part)
				return m.insertPart.exec()
			}
			within := w.disk.orMakeSpace
			if c.Requeues {
				within = w.disk.orReserve
			}
			if err := within(func() error { return w.tx.run(write) }); err != nil {
				return fmt.Errorf("write part %d of body %d: %w", n, body, err)
			}
			if err := w.letPass(c); err != nil {
				return err
			}
		}
		m.sums[body] = sum
	}
	return nil
}

// dropParts removes the parts of a change that failed with cause, as far as the disk allows; the next start removes the
// rest. If another program holds the write lock, the client has waited long enough for it.
func (w *writer) dropParts(c *emulator.Change, cause error) {
	err := cause
	if !isBusy(cause) {
		err = w.tx.aside(func() error {
			for i := range c.Ops {
				if !inParts(&c.Ops[i]) {
					continue
				}
				if err := w.messages.dropOrphans.run(c.Ops[i].Record.Body); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		w.s.log.Warn("parts of a failed message stay until the next start", "error", err)
	}
}

// letPass commits, between two parts of a large body, changes that stand behind it. While the log is nearly full, it
// goes on with that until the log has been restarted: more parts would fill it, and then all would wait until it is
// copied.
func (w *writer) letPass(large *emulator.Change) error {
	waited := false
	defer func() {
		if waited {
			w.s.inbox.poke() // what woke us may have been for the writer's goroutine
		}
	}()
	for {
		items, _ := w.s.inbox.take()
		w.behind = append(w.behind, w.copier.admit(items)...)
		var passing []item
		if w.disk.refusal == nil {
			passing = w.takePassing(large)
		}
		if len(passing) > 0 {
			errs := w.errs
			w.errs = nil
			err := w.commitBatch(passing)
			w.errs = errs
			if err != nil {
				return passError{err}
			}
		}
		w.wal.checkpointIfDue()
		if !w.wal.crowded() {
			return nil
		}
		if len(passing) == 0 {
			waited = true
			select {
			case <-w.s.inbox.wake: // by a change, or by the checkpointer
			case <-time.After(longestCheckpointPause):
			}
		}
	}
}

// passError is a failure of changes that passed. Whatever it was, the changes that they passed fail too, with all
// that is behind them.
type passError struct{ error }

func (e passError) Unwrap() error { return e.error }

// takePassing takes the changes that may pass, as many as one transaction has, out of those that stand behind.
func (w *writer) takePassing(large *emulator.Change) (passing []item) {
	stays := map[int64]struct{}{} // entities whose changes may not pass
	closed := !stay(large, stays)
	ops, bytes := 0, 0
	w.behind = slices.DeleteFunc(w.behind, func(it item) bool {
		closed = closed || ops >= maxBatchOps || bytes >= maxBatchBytes
		if closed || it.change == nil { // a flush stays
			return false
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

// stay notes the entities of a change that does not pass. If it is about more than messages, it returns false: nothing
// behind it may pass.
func stay(c *emulator.Change, stays map[int64]struct{}) bool {
	return eachEntity(c, func(entity int64) bool { stays[entity] = struct{}{}; return true })
}

func passes(c *emulator.Change, stays map[int64]struct{}) bool {
	return eachEntity(c, func(entity int64) bool { _, there := stays[entity]; return !there })
}

// eachEntity calls f for the entities of a change, until it returns false. It returns false then, and for a change
// that is about more than what is in entities, or brings back messages, which may be on their way out in earlier
// changes.
func eachEntity(c *emulator.Change, f func(entity int64) bool) bool {
	if c.Requeues {
		return false
	}
	for i := range c.Ops {
		op := &c.Ops[i]
		switch op.Kind {
		case emulator.OpInsert, emulator.OpUpdate, emulator.OpCounter:
		case emulator.OpSessionState, emulator.OpDuplicate, emulator.OpPruneDuplicates:
		case emulator.OpDelete:
			if op.Record.Row == 0 {
				continue // a body that nothing refers to any more
			}
		default:
			return false
		}
		stops := func(to emulator.CopyRecord) bool { return !f(to.Entity) }
		if !f(op.Record.Entity) || slices.ContainsFunc(op.Copies, stops) {
			return false
		}
	}
	return true
}
