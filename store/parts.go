package store

import (
	"fmt"

	"minibus/emulator"
)

// Bodies over maxInline bytes are written ahead of their message's row, a piece per transaction. So no transaction is
// much larger than maxBatchBytes: the log stays small, checkpoints can run in between, and changes appended before
// a message of 100 MB do not wait for it, nor do most of those in other entities (see letPass). A start removes pieces whose body row was never
// committed.
const maxInline = 1 << 20

// mostParts is how many parts a body has at most, by the largest message that an entity may take.
const mostParts = 101

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

func (m *messages) writeParts(c *emulator.Change) error {
	m.hasParts = true
	for i := range c.Ops {
		op := &c.Ops[i]
		if !inParts(op) {
			continue
		}
		for n := range partCount(op.Data) {
			piece := op.Data[n*maxInline : min((n+1)*maxInline, len(op.Data))]
			if err := m.writePart(op.Record.Body, n, piece, c.Restores); err != nil {
				return fmt.Errorf("write part %d of body %d: %w", n, op.Record.Body, err)
			}
			if err := m.w.letPass(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// writePart writes one piece. A change that restores a message may use the reserve.
func (m *messages) writePart(body int64, n int, piece []byte, restores bool) error {
	m.w.conn.mu.Lock()
	defer m.w.conn.mu.Unlock()
	m.insertPart.bindInts(emulator.NamespaceOf(body), body, int64(n))
	if err := m.insertPart.bindBlob(4, piece); err != nil {
		return err
	}
	within := m.w.tx.withRoom
	if restores {
		within = m.w.tx.withReserve
	}
	return within(func() error { return m.w.tx.run(m.insertPart.exec) })
}

// dropParts removes the pieces of a change that failed with cause, as far as the disk allows; the next start removes the rest. If
// another program holds the write lock, the client has waited long enough for it.
func (m *messages) dropParts(c *emulator.Change, cause error) {
	err := cause
	if !isBusy(cause) {
		err = m.w.tx.aside(func() error { return m.dropPartsOf(c) })
	}
	if err != nil {
		m.w.s.log.Warn("parts of a failed message stay until the next start", "error", err)
	}
}

func (m *messages) dropPartsOf(c *emulator.Change) error {
	for i := range c.Ops {
		if !inParts(&c.Ops[i]) {
			continue
		}
		if err := m.dropOrphans.run(c.Ops[i].Record.Body); err != nil {
			return err
		}
	}
	return nil
}
