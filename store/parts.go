package store

import (
	"fmt"

	"minibus/emulator"
)

// Bodies over maxInline bytes are written ahead of their message's row, a piece per transaction. So no transaction is
// much larger than maxBatchBytes: the log stays small, checkpoints can run in between, and changes appended before
// a message of 100 MB do not wait for it. Changes appended after it do, since changes keep their order. A start removes
// pieces whose body row was never committed.
const maxInline = 1 << 20

func partCount(data []byte) int { return (len(data) + maxInline - 1) / maxInline }

// inParts reports whether the body of op is written in parts. The state of a session never is: it is a single value, always
// written whole.
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

func (w *writer) writeParts(c *emulator.Change) error {
	w.hasParts = true
	for i := range c.Ops {
		op := &c.Ops[i]
		if !inParts(op) {
			continue
		}
		for n := range partCount(op.Data) {
			piece := op.Data[n*maxInline : min((n+1)*maxInline, len(op.Data))]
			if err := w.writePart(op.Record.Body, n, piece, c.Restores); err != nil {
				return fmt.Errorf("write part %d of body %d: %w", n, op.Record.Body, err)
			}
			w.checkpointIfDue()
		}
	}
	return nil
}

// writePart writes one piece. A change that restores a message may use the reserve.
func (w *writer) writePart(body int64, n int, piece []byte, restores bool) error {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	w.st.insertPart.bindInt(1, body)
	w.st.insertPart.bindInt(2, int64(n))
	if err := w.st.insertPart.bindBlob(3, piece); err != nil {
		return err
	}
	within := w.withRoom
	if restores {
		within = w.withReserve
	}
	return within(func() error { return w.transaction(w.st.insertPart.exec) })
}

// dropParts removes the pieces of a failed change, as far as the disk allows; the next start removes the rest.
func (w *writer) dropParts(c *emulator.Change) {
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	for i := range c.Ops {
		if !inParts(&c.Ops[i]) {
			continue
		}
		w.st.dropParts.bindInt(1, c.Ops[i].Record.Body)
		if err := w.withReserve(w.st.dropParts.exec); err != nil {
			w.s.log.Warn("parts of a failed message stay until the next start", "error", err)
			return
		}
	}
}
