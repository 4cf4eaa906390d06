package store

import (
	"bytes"
	"fmt"

	"minibus/emulator"
)

// Load implements [emulator.Journal]. Messages come in the order of their rows. If it fails because the file is
// damaged, Close leaves the file as it is.
func (s *Store) Load(l emulator.Loader) error {
	c := s.reader.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	dead, err := loadEntities(c, l)
	if err == nil {
		err = loadMessages(c, l, dead)
	}
	switch {
	case err == nil:
		return nil
	case isDamage(err):
		s.damaged.Store(true)
		return fmt.Errorf("load database %s: the file is damaged: %w", s.path, err)
	default:
		return fmt.Errorf("load database %s: %w", s.path, err)
	}
}

func loadEntities(c *conn, l emulator.Loader) (dead map[int64]bool, err error) {
	st, err := c.prepare("SELECT id, kind, path, last_seq, options, deleted FROM entity ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer st.finalize()
	dead = map[int64]bool{}
	for {
		row, err := st.step()
		if err != nil || !row {
			return dead, err
		}
		e := emulator.EntityRecord{
			ID: st.columnInt(0), Kind: emulator.EntityKind(st.columnInt(1)), Path: string(st.columnView(2)),
			LastSeq: st.columnInt(3), Options: bytes.Clone(st.columnView(4)),
		}
		if st.columnInt(5) != 0 {
			dead[e.ID] = true
			continue
		}
		if err := l.LoadEntity(e); err != nil {
			return nil, err
		}
	}
}

func loadMessages(c *conn, l emulator.Loader, dead map[int64]bool) error {
	st, err := c.prepare("SELECT row, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size, " +
		"enqueued_seq, session, message_id, reason, overlay FROM message ORDER BY row")
	if err != nil {
		return err
	}
	defer st.finalize()
	var r emulator.MessageRecord
	for {
		row, err := st.step()
		if err != nil || !row {
			return err
		}
		readMessage(st, &r)
		if len(dead) > 0 && dead[r.Entity] {
			continue
		}
		if err := l.LoadMessage(&r); err != nil {
			return err
		}
	}
}

func readMessage(st *stmt, r *emulator.MessageRecord) {
	r.Row, r.Entity = st.columnInt(0), st.columnInt(1)
	r.Sub, r.Seq = emulator.SubQueue(st.columnInt(2)), st.columnInt(3)
	r.State, r.DeliveryCount = emulator.State(st.columnInt(4)), uint32(st.columnInt(5))
	r.Body, r.Enqueued, r.TTL = st.columnInt(6), st.columnInt(7), st.columnInt(8)
	r.Scheduled, r.Size, r.EnqueuedSeq = st.columnInt(9), st.columnInt(10), st.columnInt(11)
	r.HasSession = !st.columnIsNull(12)
	r.SessionID = st.columnString(12, r.SessionID)
	r.MessageID = st.columnString(13, "")
	r.Reason = st.columnString(14, r.Reason)
	r.Overlay = bytes.Clone(st.columnView(15))
}

// columnString returns a text. Where it equals the one before, that one is returned, so that the many messages of a
// session share one string.
func (s *stmt) columnString(i int, before string) string {
	v := s.columnView(i)
	if string(v) == before {
		return before
	}
	return string(v)
}
