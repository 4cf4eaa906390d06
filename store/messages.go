package store

import (
	"fmt"
	"hash/crc32"
	"slices"

	"minibus/emulator"
)

// messages writes the rows of messages and their bodies.
type messages struct {
	w        *writer
	hasParts bool             // there may be bodies in parts
	sums     map[int64]uint32 // checksums of bodies whose parts are written, and whose row is not

	insertRow, updateRow, removeRow *stmt
	entityOf                        *stmt
	insertBody, deleteBody          *stmt
	insertPart, removeParts         *stmt
	dropOrphans                     *stmt
}

func (m *messages) prepare() error {
	err := prepareAll(m.w.conn, map[string]**stmt{
		// The first fifteen parameters of these two are those that bindMessage sets.
		`INSERT INTO message(row, entity, sub, seq, state, delivery_count, enqueued, ttl, scheduled, enqueued_seq, hops,
			reason, source, overlay, system, body, size, ns, session, message_id)
			VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`: &m.insertRow,
		`UPDATE message SET entity=?2, sub=?3, seq=?4, state=?5, delivery_count=?6, enqueued=?7, ttl=?8, scheduled=?9,
			enqueued_seq=?10, hops=?11, reason=?12, source=?13, overlay=?14, system=?15 WHERE row=?1`: &m.updateRow,

		"DELETE FROM message WHERE row=?": &m.removeRow,
		fmt.Sprintf(`SELECT entity FROM message WHERE row=?1 UNION ALL
			SELECT ((ns-1)<<40)+json_extract(copies, '$['||(?1-row)||'][0]') FROM publication
			WHERE row<=?1 AND row>?1-%d AND (there>>(?1-row))&1`,
			emulator.MaxCopies): &m.entityOf,
		"INSERT INTO body(id, ns, parts, crc, data) VALUES(?,?,?,?,?)":                       &m.insertBody,
		"DELETE FROM body WHERE id=?":                                                        &m.deleteBody,
		"INSERT OR REPLACE INTO body_part(ns, body, part, data) VALUES(?,?,?,?)":             &m.insertPart,
		"DELETE FROM body_part WHERE body=?":                                                 &m.removeParts,
		"DELETE FROM body_part WHERE body=?1 AND NOT EXISTS(SELECT 1 FROM body WHERE id=?1)": &m.dropOrphans,
	})
	if err != nil {
		return err
	}
	parts, err := m.w.conn.queryInt("SELECT EXISTS(SELECT 1 FROM body_part)")
	m.hasParts = parts != 0
	return err
}

func (m *messages) insert(op *emulator.Op) error {
	switch {
	case m.w.published.takes(op):
		return m.w.published.insert(op)
	case len(op.Copies) > 0:
		return op.Each(m.insert)
	}
	r := &op.Record
	e, err := m.w.entities.live(r.Entity)
	if err != nil {
		return err
	}
	if op.Data != nil {
		if err := m.storeBody(e.rows, r.Body, op.Data); err != nil {
			return err
		}
	}
	m.w.sweeper.keep(r.Body)
	st := m.insertRow
	bindMessage(st, r)
	st.bindInt(16, r.Body)
	st.bindInt(17, r.Size)
	st.bindInt(18, emulator.NamespaceOf(r.Row))
	if !r.HasSession {
		st.bindNull(19)
	} else {
		st.bindText(19, r.SessionID)
	}
	st.bindTextOrNull(20, r.MessageID)
	if err := st.exec(); err != nil {
		return fmt.Errorf("insert message row %d: %w", r.Row, err)
	}
	m.took(e, op)
	m.w.namespaces.use(e.rows, max(r.Row, r.Body))
	return nil
}

// took notes that an entity got a message, whose row can be older than the entity if it moved there, and the number
// that it drew, if any.
func (m *messages) took(e *entityState, op *emulator.Op) {
	e.firstRow = min(e.firstRow, op.Record.Row)
	if op.DrawsNumber {
		m.w.entities.draw(e, op.Partition, op.Record.Seq)
	}
}

// bindMessage sets the parameters that inserting and updating have in common.
func bindMessage(st *stmt, r *emulator.MessageRecord) {
	st.bindInts(r.Row, r.Entity, int64(r.Sub), r.Seq, int64(r.State), int64(r.DeliveryCount),
		r.Enqueued, r.TTL, r.Scheduled, r.EnqueuedSeq, int64(r.Hops))
	st.bindTextOrNull(12, r.Reason)
	st.bindTextOrNull(13, r.Source)
	st.bindBlob(14, r.Overlay)
	st.bindBlob(15, r.System)
}

func (m *messages) storeBody(rows *rowRange, id int64, data []byte) error {
	if id <= rows.high {
		if err := m.w.tombstones.makeWay(id); err != nil {
			return err
		}
		if err := m.w.copier.makeWay(id); err != nil {
			return err
		}
	}
	parts, inline := 0, data
	if len(data) > maxInline {
		parts, inline = partCount(data), nil
	}
	sum, known := m.sums[id]
	if !known {
		sum = checksum(data)
	}
	m.insertBody.bindInts(id, rows.number, int64(parts), int64(sum))
	m.insertBody.bindBlob(5, inline)
	if err := m.insertBody.exec(); err != nil {
		return fmt.Errorf("insert body %d: %w", id, err)
	}
	return nil
}

// Bodies are stored with a checksum, because SQLite has none and would deliver a body with a flipped bit as if it
// were good.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) // processors compute it

// checksum goes in steps: nothing can interrupt one, and the garbage collector, and all with it, would wait for that
// of a hundred mebibytes.
func checksum(data []byte) uint32 {
	sum := uint32(0)
	for step := range slices.Chunk(data, 1<<20) {
		sum = crc32.Update(sum, castagnoli, step)
	}
	return sum
}

// update writes the changeable columns of a message, which may move to another entity.
func (m *messages) update(op *emulator.Op) error {
	r := &op.Record
	e, err := m.w.entities.live(r.Entity)
	if err != nil {
		return err
	}
	if err := m.checkAlive(r.Row); err != nil {
		return err
	}
	done := true
	bindMessage(m.updateRow, r)
	err = m.updateRow.exec()
	if err == nil && m.w.conn.changes() == 0 {
		done, err = m.w.published.change(r)
	}
	if err != nil {
		return fmt.Errorf("update message row %d: %w", r.Row, err)
	}
	if !done {
		text := fmt.Sprintf("message row %d is not stored", r.Row)
		return &emulator.Error{Code: emulator.CodeInternal, Text: text}
	}
	m.took(e, op)
	return nil
}

// checkAlive fails for a row of a deleted entity: it is gone, even if the sweep has not removed it yet, and must not
// move to another entity.
func (m *messages) checkAlive(row int64) error {
	if !m.w.sweeper.leftRows() && len(m.w.entities.buried) == 0 {
		return nil
	}
	id, err := m.entityOf.one(row)
	if err != nil {
		return fmt.Errorf("look for message row %d: %w", row, err)
	}
	if e := m.w.entities.byID[id]; e != nil && e.dead {
		return emulator.NotFound(e.path)
	}
	return nil
}

// delete removes a message, or leaves a tombstone.
func (m *messages) delete(op *emulator.Op) error {
	r := &op.Record
	if op.DropBody {
		if done, err := m.w.tombstones.leave(r.Row, r.Body); done || err != nil {
			return err
		}
	}
	return m.remove(r.Row, r.Body, op.DropBody)
}

// remove deletes the row of a message, or a copy in a publication, and its body. A missing row is no error. Row 0
// stands for none: the body is removed by itself.
func (m *messages) remove(row, body int64, dropBody bool) error {
	if row == 0 {
		return m.removeBody(body)
	}
	published := false
	var err error
	if row != body { // mostly a copy: the row of any other message is also the id of its body
		published, err = m.w.published.remove(row)
	}
	if err == nil && !published {
		if err = m.removeRow.run(row); err != nil {
			err = fmt.Errorf("delete message row %d: %w", row, err)
		} else if row == body && m.w.conn.changes() == 0 {
			_, err = m.w.published.remove(row)
		}
	}
	if err != nil || !dropBody {
		return err
	}
	return m.removeBody(body)
}

// removeBody removes a body, or leaves that to a copy that may need it.
func (m *messages) removeBody(id int64) error {
	if m.w.copier.keep(id) {
		return nil
	}
	return m.dropBody(id)
}

func (m *messages) dropBody(id int64) error {
	if err := m.deleteBody.run(id); err != nil {
		return fmt.Errorf("delete body %d: %w", id, err)
	}
	if !m.hasParts {
		return nil
	}
	if err := m.removeParts.run(id); err != nil {
		return fmt.Errorf("delete the parts of body %d: %w", id, err)
	}
	return nil
}
