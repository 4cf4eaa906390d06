package store

import (
	"fmt"
	"slices"
)

// A small batch does not remove a message but marks it as gone in its row. The writer later removes goneTogether of them in one
// transaction. Removing one touches the page of its row, that of its body, and, when that page becomes empty, the
// pages around it, the list of free pages and the map of pages: 25 KB of log for a message of 1 KiB, 57 KB for one of 4 KiB.
// Together they share most of these pages. Of a publication the row is marked if its last copy goes. A load skips marked messages and hands them to the writer.
const (
	stateGone = 8 // in the column message.state; no emulator.State

	goneTogether = 64
	goneBatch    = 4        // most operations of a batch that marks instead of removing
	goneSize     = 64 << 10 // larger messages are removed at once, for their room
)

// goner is a message that is marked as gone.
type goner struct {
	row, body   int64
	publication int64 // row of the publication that is marked instead; 0: none
}

// marks keeps the marked messages until they are removed.
type marks struct {
	w       *writer
	on      bool    // the batch in hand marks messages instead of removing them
	leaving []goner // marked by the open transaction
	gone    []goner // marked, and to be removed
	due     int     // length of gone at which they are removed

	set *stmt
}

func (m *marks) prepare() error {
	return prepareAll(m.w.conn, map[string]**stmt{
		fmt.Sprintf("UPDATE message SET state=%d, message_id=NULL WHERE row=? AND size<=%d", stateGone, goneSize): &m.set,
	})
}

// mark marks a message instead of removing it, and reports whether it did. The row shrinks, so it stays in its page.
func (m *marks) mark(row, body int64) (done bool, err error) {
	if !m.on {
		return false, nil
	}
	if err := m.set.run(row); err != nil {
		return false, fmt.Errorf("mark message row %d: %w", row, err)
	}
	g := goner{row: row, body: body}
	if m.w.conn.changes() == 0 {
		if g.publication, err = m.w.published.mark(row); g.publication == 0 || err != nil {
			return false, err
		}
	}
	n := len(m.leaving)
	m.leaving = append(m.leaving, g)
	m.w.undo = append(m.w.undo, func() { m.leaving = m.leaving[:n] })
	return true, nil
}

// settle takes over what the open transaction marked.
func (m *marks) settle() { m.gone, m.leaving = append(m.gone, m.leaving...), m.leaving[:0] }

// makeWay removes the old row and body of a marked message whose body is stored again: it was removed for a receiver that it
// did not reach.
func (m *marks) makeWay(body int64) error {
	i := slices.IndexFunc(m.gone, func(g goner) bool { return g.body == body })
	if i < 0 {
		return nil
	}
	g := m.gone[i]
	m.gone = slices.Delete(m.gone, i, i+1)
	m.w.undo = append(m.w.undo, func() { m.gone = append(m.gone, g) })
	return m.drop(g)
}

// drop removes a marked message with its body.
func (m *marks) drop(g goner) error {
	if g.publication == 0 {
		return m.w.messages.remove(g.row, g.body, true)
	}
	if err := m.w.published.removeRow.run(g.publication); err != nil {
		return fmt.Errorf("remove the publication with row %d: %w", g.publication, err)
	}
	return m.w.messages.removeBody(g.body)
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

// removeIfDue removes the marked messages once there are enough. After a failure it tries them again with the next ones.
func (m *marks) removeIfDue() {
	if len(m.gone) >= m.due {
		m.remove()
	}
}

// remove removes the marked messages.
func (m *marks) remove() {
	err := m.w.tx.aside(func() error {
		for _, g := range m.gone {
			if err := m.drop(g); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		m.due = len(m.gone) + goneTogether
		m.w.s.log.Warn("removing received messages failed; it goes on later", "error", err)
		return
	}
	m.gone, m.due = m.gone[:0], goneTogether
}

// adopt takes over the messages of a namespace, by the number of its rows, that an earlier process marked, when it is loaded.
func (m *marks) adopt(number int64, marked []goner) {
	sp := m.w.namespaces.byNumber[number]
	if sp == nil || sp.adopted {
		return
	}
	sp.adopted = true
	for _, g := range marked {
		if !slices.Contains(m.gone, g) {
			m.gone = append(m.gone, g)
		}
	}
	if m.w.namespaces.unloaded--; m.w.namespaces.unloaded == 0 {
		m.w.tidy()
	}
}
