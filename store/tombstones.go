package store

import (
	"fmt"
	"slices"
)

// A small batch does not remove a message but makes its row a tombstone. The writer later removes tombstonesTogether
// of them in one transaction. Removing one touches the page of its row, that of its body, and, when that page becomes
// empty, the pages around it, the list of free pages and the map of pages: 25 KB of log for a message of 1 KiB, 57 KB
// for one of 4 KiB. Together they share most of these pages. The row of a publication becomes a tombstone when its
// last copy goes. A load skips tombstones and hands them to the writer.
const (
	stateTombstone = 8 // in the column message.state; no emulator.State

	tombstonesTogether = 64
	tombstoneOps       = 4        // most operations of a batch that leaves tombstones
	tombstoneSize      = 64 << 10 // larger messages are removed at once, for their space
)

// tombstone is what is left of a message, or of a publication, until it is removed.
type tombstone struct {
	row, body   int64
	publication int64 // row of the publication; 0: it is a message
}

// tombstones knows the tombstones and removes them.
type tombstones struct {
	w     *writer
	on    bool        // the batch in hand leaves tombstones
	fresh []tombstone // left by the open transaction
	list  []tombstone // to be removed
	due   int         // length of list at which they are

	set *stmt
}

func (ts *tombstones) prepare() error {
	return prepareAll(ts.w.conn, map[string]**stmt{
		fmt.Sprintf("UPDATE message SET state=%d, message_id=NULL WHERE row=? AND size<=%d",
			stateTombstone, tombstoneSize): &ts.set,
	})
}

// leave makes a message a tombstone, unless it is to be removed at once, and reports whether it did. The row shrinks,
// so it stays in its page.
func (ts *tombstones) leave(row, body int64) (done bool, err error) {
	if !ts.on {
		return false, nil
	}
	if err := ts.set.run(row); err != nil {
		return false, fmt.Errorf("make message row %d a tombstone: %w", row, err)
	}
	t := tombstone{row: row, body: body}
	if ts.w.conn.changes() == 0 {
		if t.publication, err = ts.w.published.leaveTombstone(row); t.publication == 0 || err != nil {
			return false, err
		}
	}
	n := len(ts.fresh)
	ts.fresh = append(ts.fresh, t)
	ts.w.undo = append(ts.w.undo, func() { ts.fresh = ts.fresh[:n] })
	return true, nil
}

// afterCommit takes over what the open transaction left.
func (ts *tombstones) afterCommit() {
	ts.list = append(ts.list, ts.fresh...)
	ts.fresh = ts.fresh[:0]
}

// makeWay removes the tombstone of a message whose body is stored again: it was removed for a receiver that it did not
// reach.
func (ts *tombstones) makeWay(body int64) error {
	i := slices.IndexFunc(ts.list, func(t tombstone) bool { return t.body == body })
	if i < 0 {
		return nil
	}
	t := ts.list[i]
	ts.list = slices.Delete(ts.list, i, i+1)
	ts.w.undo = append(ts.w.undo, func() { ts.list = append(ts.list, t) })
	return ts.removeOne(t)
}

// removeOne removes a tombstone and its body.
func (ts *tombstones) removeOne(t tombstone) error {
	if t.publication == 0 {
		return ts.w.messages.remove(t.row, t.body, true)
	}
	if err := ts.w.published.removeRow.run(t.publication); err != nil {
		return fmt.Errorf("remove the publication with row %d: %w", t.publication, err)
	}
	return ts.w.messages.removeBody(t.body)
}

// fewOps reports whether a batch is so small that it is cheaper to leave tombstones and remove them later.
func fewOps(batch []item) bool {
	ops := 0
	for _, it := range batch {
		if it.change != nil {
			ops += len(it.change.Ops)
		}
	}
	return ops <= tombstoneOps
}

// removeIfDue removes the tombstones once there are enough. After a failure it tries them again with the next ones.
func (ts *tombstones) removeIfDue() {
	if len(ts.list) >= ts.due {
		ts.remove()
	}
}

// remove removes the tombstones.
func (ts *tombstones) remove() {
	err := ts.w.tx.aside(func() error {
		for _, t := range ts.list {
			if err := ts.removeOne(t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		ts.due = len(ts.list) + tombstonesTogether
		ts.w.s.log.Warn("removing received messages failed; it goes on later", "error", err)
		return
	}
	ts.list, ts.due = ts.list[:0], tombstonesTogether
}

// adopt takes over the tombstones that an earlier process left in a namespace, by the number of its rows, when it is
// loaded.
func (ts *tombstones) adopt(number int64, left []tombstone) {
	rows := ts.w.namespaces.byNumber[number]
	if rows == nil || rows.adopted {
		return
	}
	rows.adopted = true
	for _, t := range left {
		if !slices.Contains(ts.list, t) {
			ts.list = append(ts.list, t)
		}
	}
	if ts.w.namespaces.unloaded--; ts.w.namespaces.unloaded == 0 {
		ts.w.tidy()
	}
}
