package store

import (
	"fmt"

	"minibus/emulator"
)

// statements are the writer's, prepared once.
type statements struct {
	begin, commit                 *stmt
	insert, update, remove        *stmt
	markGone                      *stmt
	entityOf                      *stmt
	insertBody, removeBody        *stmt
	insertPart, removeParts       *stmt
	dropParts                     *stmt
	putEntity, buryEntity         *stmt
	count, nextRow                *stmt
	putSession, removeSession     *stmt
	remember, forgetBefore, prune *stmt
}

func (st *statements) prepare(c *conn) error {
	return prepareAll(c, map[string]**stmt{
		"BEGIN IMMEDIATE": &st.begin,
		"COMMIT":          &st.commit,
		`INSERT INTO message(row, ns, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size,
			enqueued_seq, hops, session, message_id, reason, source, overlay, system)
			VALUES(?,1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`: &st.insert,
		`UPDATE message SET entity=?, sub=?, seq=?, state=?, delivery_count=?, enqueued=?, ttl=?, scheduled=?,
			enqueued_seq=?, hops=?, reason=?, source=?, overlay=?, system=? WHERE row=?`: &st.update,
		"DELETE FROM message WHERE row=?": &st.remove,
		fmt.Sprintf("UPDATE message SET state=%d, message_id=NULL WHERE row=? AND size<=%d", stateGone, goneSize): &st.markGone,
		"SELECT entity FROM message WHERE row=?":                                             &st.entityOf,
		"INSERT INTO body(id, ns, parts, data, crc) VALUES(?,1,?,?,?)":                       &st.insertBody,
		"DELETE FROM body WHERE id=?":                                                        &st.removeBody,
		"INSERT INTO body_part(ns, body, part, data) VALUES(1,?,?,?)":                        &st.insertPart,
		"DELETE FROM body_part WHERE body=?":                                                 &st.removeParts,
		`DELETE FROM body_part WHERE body=?1 AND NOT EXISTS(SELECT 1 FROM body WHERE id=?1)`: &st.dropParts,
		`INSERT INTO entity(id, ns, kind, path, deleted, history_from, options) VALUES(?,1,?,?,0,0,?)
			ON CONFLICT(id) DO UPDATE SET kind=excluded.kind, path=excluded.path, options=excluded.options`: &st.putEntity,
		"UPDATE entity SET deleted=1 WHERE id=?": &st.buryEntity,
		`INSERT INTO counter(ns, entity, partition, last_seq) VALUES(1,?,?,?)
			ON CONFLICT DO UPDATE SET last_seq=excluded.last_seq`: &st.count,
		"UPDATE meta SET value=? WHERE ns=1 AND key='next_row'": &st.nextRow,
		`INSERT INTO session(ns, entity, id, updated, state) VALUES(1,?,?,?,?)
			ON CONFLICT(entity, id) DO UPDATE SET updated=excluded.updated, state=excluded.state`: &st.putSession,
		"DELETE FROM session WHERE entity=? AND id=?":                         &st.removeSession,
		"INSERT OR IGNORE INTO history(ns, entity, at, keys) VALUES(1,?,?,?)": &st.remember,
		"UPDATE entity SET history_from=? WHERE id=?":                         &st.forgetBefore,
		pruneSQL: &st.prune,
	})
}

// apply runs the operations of a change in the open transaction.
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
		if w.marking && op.DropBody {
			if done, err := w.markGone(r.Row, r.Body); done || err != nil {
				return err
			}
		}
		return w.remove(r.Row, r.Body, op.DropBody)
	case emulator.OpCounter:
		e, err := w.live(r.Entity)
		if err == nil {
			w.draw(e, op)
		}
		return err
	case emulator.OpSessionState:
		return w.setSession(op)
	case emulator.OpHistory:
		return w.remember(op)
	case emulator.OpPruneHistory:
		return w.pruneHistory(r.Entity, r.Enqueued)
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
	}
	if w.sweep != nil {
		w.sweep.keep(r.Body)
	}
	if err := w.bindInsert(r); err != nil {
		return err
	}
	if err := w.st.insert.exec(); err != nil {
		return fmt.Errorf("insert message row %d: %w", r.Row, err)
	}
	e.holds(r.Row)
	if op.DrawsNumber {
		w.draw(e, op)
	}
	w.high = max(w.high, r.Row, r.Body)
	return nil
}

func (w *writer) bindInsert(r *emulator.MessageRecord) error {
	st := w.st.insert
	for i, v := range [...]int64{
		r.Row, r.Entity, int64(r.Sub), r.Seq, int64(r.State), int64(r.DeliveryCount),
		r.Body, r.Enqueued, r.TTL, r.Scheduled, r.Size, r.EnqueuedSeq, int64(r.Hops),
	} {
		st.bindInt(i+1, v)
	}
	if !r.HasSession {
		st.bindNull(14)
	} else if err := st.bindText(14, r.SessionID); err != nil {
		return err
	}
	for i, v := range [...]string{r.MessageID, r.Reason, r.Source} {
		if err := st.bindTextOrNull(i+15, v); err != nil {
			return err
		}
	}
	if err := st.bindBlob(18, r.Overlay); err != nil {
		return err
	}
	return st.bindBlob(19, r.System)
}

func (w *writer) insertBody(id int64, data []byte) error {
	if id <= w.high {
		if err := w.makeWay(id); err != nil {
			return err
		}
	}
	st := w.st.insertBody
	st.bindInt(1, id)
	st.bindInt(4, int64(checksum(data)))
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

// update writes the changeable columns of a message, which may move to another entity.
func (w *writer) update(op *emulator.Op) error {
	r := &op.Record
	e, err := w.live(r.Entity)
	if err != nil {
		return err
	}
	if err := w.checkAlive(r.Row); err != nil {
		return err
	}
	if err := w.bindUpdate(r); err != nil {
		return err
	}
	if err := w.st.update.exec(); err != nil {
		return fmt.Errorf("update message row %d: %w", r.Row, err)
	}
	if w.conn.changes() == 0 {
		return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("message row %d is not stored", r.Row)}
	}
	e.holds(r.Row)
	if op.DrawsNumber {
		w.draw(e, op)
	}
	return nil
}

func (w *writer) bindUpdate(r *emulator.MessageRecord) error {
	st := w.st.update
	for i, v := range [...]int64{
		r.Entity, int64(r.Sub), r.Seq, int64(r.State), int64(r.DeliveryCount), r.Enqueued, r.TTL, r.Scheduled,
		r.EnqueuedSeq, int64(r.Hops),
	} {
		st.bindInt(i+1, v)
	}
	for i, v := range [...]string{r.Reason, r.Source} {
		if err := st.bindTextOrNull(i+11, v); err != nil {
			return err
		}
	}
	if err := st.bindBlob(13, r.Overlay); err != nil {
		return err
	}
	if err := st.bindBlob(14, r.System); err != nil {
		return err
	}
	st.bindInt(15, r.Row)
	return nil
}

// checkAlive fails for a row of a deleted entity: it is gone, even if the sweep has not removed it yet, and must not move
// to another entity.
func (w *writer) checkAlive(row int64) error {
	if w.sweep == nil && !w.sweepFailed && len(w.buried) == 0 {
		return nil
	}
	w.st.entityOf.bindInt(1, row)
	id, err := w.st.entityOf.one()
	if err != nil {
		return fmt.Errorf("look for message row %d: %w", row, err)
	}
	if e := w.entities[id]; e != nil && e.dead {
		return emulator.NotFound(e.path)
	}
	return nil
}

// remove deletes a message. A missing row is no error.
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
