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
	ld := &loading{c: c, l: l, last: map[int64][]emulator.CounterRecord{}, historyFrom: map[int64]int64{}}
	var err error
	for _, part := range []func() error{ld.counters, ld.entities, ld.messages, ld.sessions, ld.history} {
		if err = part(); err != nil {
			break
		}
	}
	switch {
	case err == nil:
		s.Flush(emulator.CompletionFunc(func(error) { s.writer.adopt(ld.gone) })) // the first item makes the writer tidy up
		return nil
	case isDamage(err):
		s.damaged.Store(true)
		return fmt.Errorf("load database %s: the file is damaged: %w; put a copy in its place, or name another file with --data", s.path, err)
	default:
		return fmt.Errorf("load database %s: %w", s.path, err)
	}
}

// loading is the state of one Load.
type loading struct {
	c    *conn
	l    emulator.Loader
	last map[int64][]emulator.CounterRecord
	dead map[int64]bool // nil if there are none

	gone []goner

	historyFrom map[int64]int64 // of the entities that are not dead
}

// each runs a query and hands over its rows.
func (ld *loading) each(sql string, row func(st *stmt) error) error {
	st, err := ld.c.prepare(sql)
	if err != nil {
		return err
	}
	defer st.finalize()
	for {
		more, err := st.step()
		if err != nil || !more {
			return err
		}
		if err := row(st); err != nil {
			return err
		}
	}
}

func (ld *loading) counters() error {
	return ld.each("SELECT entity, partition, last_seq FROM counter ORDER BY entity, partition", func(st *stmt) error {
		id := st.columnInt(0)
		ld.last[id] = append(ld.last[id], emulator.CounterRecord{Partition: uint8(st.columnInt(1)), Seq: st.columnInt(2)})
		return nil
	})
}

func (ld *loading) entities() error {
	return ld.each("SELECT id, kind, path, options, deleted, history_from FROM entity ORDER BY id", func(st *stmt) error {
		e := emulator.EntityRecord{
			ID: st.columnInt(0), Kind: emulator.EntityKind(st.columnInt(1)), Path: string(st.columnView(2)),
			Options: bytes.Clone(st.columnView(3)),
		}
		if st.columnInt(4) != 0 {
			if ld.dead == nil {
				ld.dead = map[int64]bool{}
			}
			ld.dead[e.ID] = true
			return nil
		}
		e.Last = ld.last[e.ID]
		ld.historyFrom[e.ID] = st.columnInt(5)
		return ld.l.LoadEntity(e)
	})
}

func (ld *loading) messages() error {
	var r emulator.MessageRecord
	return ld.each("SELECT row, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size, "+
		"enqueued_seq, hops, session, message_id, reason, source, overlay, system FROM message ORDER BY row", func(st *stmt) error {
		readMessage(st, &r)
		if r.State == stateGone {
			ld.gone = append(ld.gone, goner{r.Row, r.Body})
			return nil
		}
		if ld.dead[r.Entity] {
			return nil
		}
		return ld.l.LoadMessage(&r)
	})
}

func (ld *loading) sessions() error {
	return ld.each("SELECT entity, id, updated, state FROM session ORDER BY row", func(st *stmt) error {
		entity := st.columnInt(0)
		if ld.dead[entity] {
			return nil
		}
		state := append([]byte{}, st.columnView(3)...) // never nil: a state may be empty
		return ld.l.LoadSession(entity, string(st.columnView(1)), state, st.columnInt(2))
	})
}

func (ld *loading) history() error {
	return ld.each("SELECT entity, at, keys FROM history ORDER BY entity, at", func(st *stmt) error {
		entity, at, keys := st.columnInt(0), st.columnInt(1), st.columnView(2)
		if ld.dead[entity] || at < ld.historyFrom[entity] {
			return nil
		}
		for ; len(keys) >= keySize; keys = keys[keySize:] {
			if err := ld.l.LoadHistory(entity, [keySize]byte(keys), at); err != nil {
				return err
			}
		}
		return nil
	})
}

func readMessage(st *stmt, r *emulator.MessageRecord) {
	r.Row, r.Entity = st.columnInt(0), st.columnInt(1)
	r.Sub, r.Seq = emulator.SubQueue(st.columnInt(2)), st.columnInt(3)
	r.State, r.DeliveryCount = emulator.State(st.columnInt(4)), uint32(st.columnInt(5))
	r.Body, r.Enqueued, r.TTL = st.columnInt(6), st.columnInt(7), st.columnInt(8)
	r.Scheduled, r.Size, r.EnqueuedSeq = st.columnInt(9), st.columnInt(10), st.columnInt(11)
	r.Hops = uint8(st.columnInt(12))
	r.HasSession = !st.columnIsNull(13)
	r.SessionID = st.columnString(13, r.SessionID)
	r.MessageID = st.columnString(14, "")
	r.Reason = st.columnString(15, r.Reason)
	r.Source = st.columnString(16, r.Source)
	r.Overlay = bytes.Clone(st.columnView(17))
	r.System = bytes.Clone(st.columnView(18))
}

// columnString returns the text of column i. If it equals before, it returns before, so that the many messages of a
// session share one string.
func (s *stmt) columnString(i int, before string) string {
	v := s.columnView(i)
	if string(v) == before {
		return before
	}
	return string(v)
}
