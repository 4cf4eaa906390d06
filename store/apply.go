package store

import (
	"fmt"

	"minibus/emulator"
)

// statements of the writer, prepared once.
type statements struct {
	begin, commit                *stmt
	insert, update, remove       *stmt
	insertBody, removeBody       *stmt
	insertPart, removeParts      *stmt
	dropParts                    *stmt
	putEntity, buryEntity, raise *stmt
	nextRow                      *stmt
}

func (st *statements) prepare(c *conn) error {
	return prepareAll(c, map[string]**stmt{
		"BEGIN IMMEDIATE": &st.begin,
		"COMMIT":          &st.commit,
		`INSERT INTO message(row, ns, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size,
			enqueued_seq, session, message_id, reason, overlay) VALUES(?,1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`: &st.insert,
		`UPDATE message SET sub=?, seq=?, state=?, delivery_count=?, enqueued=?, ttl=?, scheduled=?, reason=?, overlay=?
			WHERE row=?`: &st.update,
		"DELETE FROM message WHERE row=?":                                                    &st.remove,
		"INSERT INTO body(id, ns, parts, data) VALUES(?,1,?,?)":                              &st.insertBody,
		"DELETE FROM body WHERE id=?":                                                        &st.removeBody,
		"INSERT INTO body_part(ns, body, part, data) VALUES(1,?,?,?)":                        &st.insertPart,
		"DELETE FROM body_part WHERE body=?":                                                 &st.removeParts,
		`DELETE FROM body_part WHERE body=?1 AND NOT EXISTS(SELECT 1 FROM body WHERE id=?1)`: &st.dropParts,
		`INSERT INTO entity(id, ns, kind, path, last_seq, deleted, options) VALUES(?,1,?,?,?,0,?)
			ON CONFLICT(id) DO UPDATE SET kind=excluded.kind, path=excluded.path, last_seq=excluded.last_seq,
			options=excluded.options`: &st.putEntity,
		"UPDATE entity SET deleted=1 WHERE id=?":                &st.buryEntity,
		"UPDATE entity SET last_seq=? WHERE id=?":               &st.raise,
		"UPDATE meta SET value=? WHERE ns=1 AND key='next_row'": &st.nextRow,
	})
}

// apply does the operations of a change in the open transaction.
func (w *writer) apply(c *emulator.Change) error {
	for i := range c.Ops {
		if err := w.applyOp(&c.Ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) applyOp(op *emulator.Op) error {
	r := &op.Record
	switch op.Kind {
	case emulator.OpInsert:
		return w.insert(op)
	case emulator.OpUpdate:
		return w.update(op)
	case emulator.OpDelete:
		return w.remove(r.Row, r.Body, op.DropBody)
	case emulator.OpCounter:
		e, err := w.live(r.Entity)
		if err == nil {
			w.draw(e, r.Seq)
		}
		return err
	case emulator.OpPutEntity:
		return w.putEntity(&op.Entity)
	case emulator.OpDeleteEntity:
		return w.buryEntity(op.Entity.ID)
	}
	return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("operation of unknown kind %d", op.Kind)}
}

func (w *writer) insert(op *emulator.Op) error {
	r := &op.Record
	e, err := w.live(r.Entity)
	if err != nil {
		return err
	}
	if op.Data != nil {
		if err := w.insertBody(r.Body, op.Data); err != nil {
			return err
		}
	} else if w.sweep != nil {
		w.sweep.keep(r.Body)
	}
	if err := w.bindInsert(r); err != nil {
		return err
	}
	if err := w.st.insert.exec(); err != nil {
		return fmt.Errorf("insert message row %d: %w", r.Row, err)
	}
	w.draw(e, r.Seq)
	w.high = max(w.high, r.Row, r.Body)
	return nil
}

func (w *writer) bindInsert(r *emulator.MessageRecord) error {
	st := w.st.insert
	for i, v := range [...]int64{
		r.Row, r.Entity, int64(r.Sub), r.Seq, int64(r.State), int64(r.DeliveryCount),
		r.Body, r.Enqueued, r.TTL, r.Scheduled, r.Size, r.EnqueuedSeq,
	} {
		st.bindInt(i+1, v)
	}
	if !r.HasSession {
		st.bindNull(13)
	} else if err := st.bindText(13, r.SessionID); err != nil {
		return err
	}
	if err := st.bindTextOrNull(14, r.MessageID); err != nil {
		return err
	}
	if err := st.bindTextOrNull(15, r.Reason); err != nil {
		return err
	}
	return st.bindBlob(16, r.Overlay)
}

func (w *writer) insertBody(id int64, data []byte) error {
	st := w.st.insertBody
	st.bindInt(1, id)
	if len(data) > maxInline {
		st.bindInt(2, int64(partCount(data)))
		st.bindNull(3)
	} else {
		st.bindInt(2, 0)
		if err := st.bindBlob(3, data); err != nil {
			return err
		}
	}
	if err := st.exec(); err != nil {
		return fmt.Errorf("insert body %d: %w", id, err)
	}
	return nil
}

func (w *writer) update(op *emulator.Op) error {
	r, st := &op.Record, w.st.update
	if e := w.entities[r.Entity]; e != nil && e.dead {
		return emulator.NotFound(e.path)
	}
	for i, v := range [...]int64{
		int64(r.Sub), r.Seq, int64(r.State), int64(r.DeliveryCount), r.Enqueued, r.TTL, r.Scheduled,
	} {
		st.bindInt(i+1, v)
	}
	if err := st.bindTextOrNull(8, r.Reason); err != nil {
		return err
	}
	if err := st.bindBlob(9, r.Overlay); err != nil {
		return err
	}
	st.bindInt(10, r.Row)
	if err := st.exec(); err != nil {
		return fmt.Errorf("update message row %d: %w", r.Row, err)
	}
	if w.conn.changes() == 0 {
		return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("message row %d is not stored", r.Row)}
	}
	if op.DrawsNumber {
		e, err := w.live(r.Entity)
		if err != nil {
			return err
		}
		w.draw(e, r.Seq)
	}
	return nil
}

// remove deletes a message. A row that is not there is no error: what was asked for is so.
func (w *writer) remove(row, body int64, dropBody bool) error {
	w.st.remove.bindInt(1, row)
	if err := w.st.remove.exec(); err != nil {
		return fmt.Errorf("delete message row %d: %w", row, err)
	}
	if !dropBody {
		return nil
	}
	return w.removeBody(body)
}

func (w *writer) removeBody(id int64) error {
	w.st.removeBody.bindInt(1, id)
	if err := w.st.removeBody.exec(); err != nil {
		return fmt.Errorf("delete body %d: %w", id, err)
	}
	if !w.hasParts {
		return nil
	}
	w.st.removeParts.bindInt(1, id)
	if err := w.st.removeParts.exec(); err != nil {
		return fmt.Errorf("delete the parts of body %d: %w", id, err)
	}
	return nil
}

// putEntity stores an entity. The counter of one that is there already never goes back.
func (w *writer) putEntity(rec *emulator.EntityRecord) error {
	e := w.entities[rec.ID]
	switch {
	case e == nil:
		e = &entityState{id: rec.ID, firstRow: w.high + 1}
		w.entities[rec.ID] = e
		w.undo = append(w.undo, func() { delete(w.entities, rec.ID) })
	case e.dead:
		return emulator.NotFound(rec.Path)
	}
	oldPath := e.path
	w.undo = append(w.undo, func() { e.path = oldPath })
	e.path = rec.Path
	w.draw(e, rec.LastSeq)
	w.high = max(w.high, rec.ID)
	st := w.st.putEntity
	st.bindInt(1, rec.ID)
	st.bindInt(2, int64(rec.Kind))
	if err := st.bindText(3, rec.Path); err != nil {
		return err
	}
	st.bindInt(4, e.lastSeq)
	if err := st.bindTextOrNull(5, string(rec.Options)); err != nil {
		return err
	}
	if err := st.exec(); err != nil {
		return fmt.Errorf("store entity %s: %w", rec.Path, err)
	}
	return nil
}

func (w *writer) buryEntity(id int64) error {
	e, err := w.live(id)
	if err != nil {
		return err
	}
	w.st.buryEntity.bindInt(1, id)
	if err := w.st.buryEntity.exec(); err != nil {
		return fmt.Errorf("delete entity %s: %w", e.path, err)
	}
	e.dead = true
	w.undo = append(w.undo, func() { e.dead = false })
	w.buried = append(w.buried, e)
	return nil
}
