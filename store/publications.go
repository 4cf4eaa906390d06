package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"minibus/emulator"
)

// publications writes the copies of one message that a topic makes for several subscriptions: one row for all of
// them, with a bit for each that is still there. A row for each copy was measured to cost most of a fan-out, and a
// page of the log for each that is completed. A copy that changes is taken out of the publication and gets a row in
// message.
type publications struct {
	w    *writer
	some bool   // there may be some
	text []byte // memory for the column copies

	// What the open transaction has taken out of publications and not yet written, by row: many receivers complete
	// copies of one publication together.
	taken []copyPlace

	insertRow, find, setThere, removeRow *stmt
	toMessage                            *stmt
}

// packedCopies is how many copies are worth a row together.
const packedCopies = 4

// entityBits masks the bits of an entity's id that the column copies has. It leaves out the number of the namespace.
const entityBits = 1<<40 - 1

func (ps *publications) prepare() error {
	err := prepareAll(ps.w.conn, map[string]**stmt{
		`INSERT INTO publication(row, ns, there, body, enqueued, ttl, size, enqueued_seq, hops, session, message_id,
				copies) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)`: &ps.insertRow,
		fmt.Sprintf(`SELECT row, there, size FROM publication
			WHERE row<=?1 AND row>?1-%d ORDER BY row DESC LIMIT 1`, emulator.MaxCopies): &ps.find,
		"UPDATE publication SET there=?2 WHERE row=?1": &ps.setThere,
		"DELETE FROM publication WHERE row=?":          &ps.removeRow,
		`INSERT INTO message(row, entity, sub, seq, state, delivery_count, enqueued, ttl, scheduled, enqueued_seq, hops,
				reason, source, overlay, system, body, size, ns, session, message_id)
			SELECT ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?, body, size, ns, session, message_id
			FROM publication WHERE row=?`: &ps.toMessage,
	})
	if err != nil {
		return err
	}
	some, err := ps.w.conn.queryInt("SELECT EXISTS(SELECT 1 FROM publication)")
	ps.some = some != 0
	return err
}

// takes reports whether the copies that op stores can share a row.
func (ps *publications) takes(op *emulator.Op) bool {
	r := &op.Record
	return len(op.Copies) >= packedCopies && r.Sub == emulator.Main && r.State == emulator.Active &&
		r.DeliveryCount == 0 && r.Scheduled == 0 &&
		r.Overlay == nil && r.System == nil && r.Reason == "" && r.Source == ""
}

// insert stores copies.
func (ps *publications) insert(op *emulator.Op) error {
	r, es := &op.Record, &ps.w.entities
	e, err := es.live(r.Entity)
	if err != nil {
		return err
	}
	if op.Data != nil {
		if err := ps.w.messages.storeBody(e.rows, r.Body, op.Data); err != nil {
			return err
		}
	}
	ps.w.sweeper.keep(r.Body)
	text := append(ps.text[:0], '[')
	for i, c := range op.Copies {
		if e, err = es.live(c.Entity); err != nil {
			return err
		}
		row := r.Row + int64(i)
		e.firstRow = min(e.firstRow, row)
		es.draw(e, c.Partition, c.Seq)
		text = append(strconv.AppendInt(append(text, '['), c.Entity&entityBits, 10), ',')
		text = append(strconv.AppendInt(text, c.Seq, 10), ']', ',')
	}
	text[len(text)-1] = ']'
	ps.text, ps.some = text, true
	n := len(op.Copies)
	ps.w.namespaces.use(e.rows, max(r.Row+int64(n)-1, r.Body))
	st := ps.insertRow
	there := int64(^uint64(0) >> (emulator.MaxCopies - n)) // all of them
	st.bindInts(r.Row, emulator.NamespaceOf(r.Row), there, r.Body, r.Enqueued, r.TTL, r.Size,
		r.EnqueuedSeq, int64(r.Hops))
	if !r.HasSession {
		st.bindNull(10)
	} else {
		st.bindText(10, r.SessionID)
	}
	st.bindTextOrNull(11, r.MessageID)
	st.bindText(12, string(text))
	if err := st.exec(); err != nil {
		return fmt.Errorf("insert the publication with row %d: %w", r.Row, err)
	}
	return nil
}

// copyPlace is where a copy lies in a publication.
type copyPlace struct {
	row   int64 // of the publication
	there int64
	bit   int64 // of the copy
	size  int64
}

// has looks for a message row in the publication, and reports whether it is there.
func (p *copyPlace) has(row int64) bool {
	i := row - p.row
	if i < 0 || i >= emulator.MaxCopies {
		return false
	}
	p.bit = 1 << i
	return p.there&p.bit != 0
}

// holding looks for the publication that has a copy.
func (ps *publications) holding(row int64) (p copyPlace, found bool, err error) {
	if !ps.some {
		return p, false, nil
	}
	i, _ := ps.search(row + 1)
	if i > 0 {
		if p = ps.taken[i-1]; p.has(row) {
			return p, true, nil
		}
	}
	ps.find.bindInt(1, row)
	found, err = ps.find.step()
	if err != nil {
		return p, false, fmt.Errorf("look for message row %d: %w", row, err)
	}
	if !found {
		return p, false, nil
	}
	p.row, p.there = ps.find.columnInt(0), ps.find.columnInt(1)
	p.size = ps.find.columnInt(2)
	ps.find.reset()
	if i, changed := ps.search(p.row); changed {
		p = ps.taken[i]
	}
	return p, p.has(row), nil
}

// search returns the place in taken of the publication with that row, or where it would be.
func (ps *publications) search(row int64) (i int, found bool) {
	return slices.BinarySearchFunc(ps.taken, row, func(p copyPlace, row int64) int { return cmp.Compare(p.row, row) })
}

// take takes copies out of their publication, when write is called.
func (ps *publications) take(p copyPlace) {
	p.there &^= p.bit
	if i, found := ps.search(p.row); found {
		ps.taken[i] = p
	} else {
		ps.taken = slices.Insert(ps.taken, i, p)
	}
}

// write writes what was taken. What is left of a publication without copies goes too.
func (ps *publications) write() error {
	for _, p := range ps.taken {
		var err error
		if p.there == 0 {
			err = ps.removeRow.run(p.row)
		} else {
			err = ps.setThere.run(p.row, p.there)
		}
		if err != nil {
			return fmt.Errorf("take copies out of the publication with row %d: %w", p.row, err)
		}
	}
	ps.taken = ps.taken[:0]
	return nil
}

// drop forgets what was taken and not written.
func (ps *publications) drop() { ps.taken = ps.taken[:0] }

// leaveTombstone removes a copy if it is the last one of its publication, whose row becomes a tombstone. It returns
// that row, 0 if it did nothing.
func (ps *publications) leaveTombstone(row int64) (publication int64, err error) {
	if err := ps.write(); err != nil {
		return 0, err
	}
	p, found, err := ps.holding(row)
	if err != nil || !found || p.there != p.bit || p.size > tombstoneSize {
		return 0, err
	}
	return p.row, ps.setThere.run(p.row, 0)
}

// remove removes a copy, and reports whether there was one.
func (ps *publications) remove(row int64) (done bool, err error) {
	p, found, err := ps.holding(row)
	if err != nil || !found {
		return false, err
	}
	ps.take(p)
	return true, nil
}

// change makes a copy a message of its own, with other values, and reports whether there was one.
func (ps *publications) change(r *emulator.MessageRecord) (done bool, err error) {
	p, found, err := ps.holding(r.Row)
	if err != nil || !found {
		return false, err
	}
	ps.toMessage.bindInt(16, p.row)
	bindMessage(ps.toMessage, r)
	if err := ps.toMessage.exec(); err != nil {
		return false, err
	}
	ps.take(p)
	return true, nil
}
