package store

import (
	"fmt"
	"slices"
)

// A small batch does not remove a message but marks it as gone in its row. The writer later removes goneTogether of them in one
// transaction. Removing one touches the page of its row, that of its body, and, when that page becomes empty, the
// pages around it, the list of free pages and the map of pages: 25 KB of log for a message of 1 KiB, 57 KB for one of 4 KiB.
// Together they share most of these pages. A load skips marked messages and hands them to the writer.
const (
	stateGone = 8 // in the column message.state; no emulator.State

	goneTogether = 64
	goneBatch    = 4        // most operations of a batch that marks instead of removing
	goneSize     = 64 << 10 // larger messages are removed at once, for their room
)

// goner is a message that is marked as gone.
type goner struct{ row, body int64 }

// markGone marks a message instead of removing it, and reports whether it did. The row shrinks, so it stays in its page.
func (w *writer) markGone(row, body int64) (done bool, err error) {
	w.st.markGone.bindInt(1, row)
	if err := w.st.markGone.exec(); err != nil {
		return false, fmt.Errorf("mark message row %d: %w", row, err)
	}
	if w.conn.changes() == 0 {
		return false, nil
	}
	n := len(w.leaving)
	w.leaving = append(w.leaving, goner{row, body})
	w.undo = append(w.undo, func() { w.leaving = w.leaving[:n] })
	return true, nil
}

// makeWay removes the old row and body of a marked message whose body is stored again: it was removed for a receiver that it
// did not reach.
func (w *writer) makeWay(body int64) error {
	i := slices.IndexFunc(w.gone, func(g goner) bool { return g.body == body })
	if i < 0 {
		return nil
	}
	g := w.gone[i]
	w.gone = slices.Delete(w.gone, i, i+1)
	w.undo = append(w.undo, func() { w.gone = append(w.gone, g) })
	return w.remove(g.row, g.body, true)
}

// byItself reports whether a batch is so small that it is cheaper to mark its messages and remove them later.
func byItself(batch []item) bool {
	ops := 0
	for _, it := range batch {
		if it.change != nil {
			ops += len(it.change.Ops)
		}
	}
	return ops <= goneBatch
}

// removeGone removes the marked messages once there are enough. After a failure it tries them again with the next ones.
func (w *writer) removeGone() {
	if len(w.gone) < w.goneDue {
		return
	}
	w.conn.mu.Lock()
	err := w.withReserve(func() error { return w.transaction(w.removeGoners) })
	w.conn.mu.Unlock()
	if err != nil {
		w.goneDue = len(w.gone) + goneTogether
		w.s.log.Warn("removing received messages failed; it goes on later", "error", err)
		return
	}
	w.gone, w.goneDue = w.gone[:0], goneTogether
}

func (w *writer) removeGoners() error {
	for _, g := range w.gone {
		if err := w.remove(g.row, g.body, true); err != nil {
			return err
		}
	}
	return nil
}

// adopt takes over the messages that an earlier process marked.
func (w *writer) adopt(marked []goner) {
	if w.adopted {
		return
	}
	w.adopted = true
	for _, g := range marked {
		if !slices.Contains(w.gone, g) {
			w.gone = append(w.gone, g)
		}
	}
}
