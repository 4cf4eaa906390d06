package store

import (
	"bytes"
	"sync"

	"minibus/emulator"
)

// loads streams the contents of namespaces, with statements that are prepared once for all of them. Each takes a range of ids, and those of which there may be
// many rows a page of them: others use the connection in between.
type loads struct {
	mu sync.Mutex // held for a load
	c  *conn

	counters, entities, messages, published, sessions, history *stmt
}

func newLoads(c *conn) (*loads, error) {
	ld := &loads{c: c}
	return ld, prepareAll(c, map[string]**stmt{
		"SELECT entity, partition, last_seq FROM counter WHERE entity BETWEEN ? AND ? ORDER BY entity, partition": &ld.counters,
		"SELECT id, kind, path, options, deleted, history_from FROM entity WHERE id BETWEEN ? AND ? ORDER BY id":  &ld.entities,
		historySQL: &ld.history,
		"SELECT entity, id, updated, state FROM session WHERE (entity, id)>(?1, ?2) AND entity<=?3 ORDER BY entity, id LIMIT ?4": &ld.sessions,
		`SELECT row, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size, enqueued_seq, hops, session, message_id,
			reason, source, overlay, system FROM message WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?`: &ld.messages,
		`SELECT row, there, body, enqueued, ttl, size, enqueued_seq, hops, session, message_id, copies
			FROM publication WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?`: &ld.published,
	})
}

// Rows of a page.
const (
	loadRows   = 2000
	loadCopies = 50 // publications
	loadStates = 100
)

// load streams what has the ids of a number, and returns the marked messages.
func (ld *loads) load(number int64, l emulator.Loader) ([]goner, error) {
	ld.mu.Lock()
	defer ld.mu.Unlock()
	one := &loading{loads: ld, l: l, last: map[int64][]emulator.CounterRecord{}, keysFrom: map[int64]int64{}}
	one.first, one.end = emulator.RowsOf(number)
	for _, part := range []func() error{one.loadCounters, one.loadEntities, one.loadMessages, one.loadCopies, one.loadSessions, one.loadHistory} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return one.gone, nil
}

// loading is the load of a namespace.
type loading struct {
	*loads
	l          emulator.Loader
	first, end int64 // ids
	last       map[int64][]emulator.CounterRecord
	dead       map[int64]bool // nil if there are none

	gone []goner

	keysFrom map[int64]int64 // of the entities that are not dead
}

// each hands over the rows of a statement.
func (ld *loading) each(st *stmt, row func(st *stmt) error) error {
	ld.c.mu.Lock()
	defer ld.c.mu.Unlock()
	st.bindInts(ld.first, ld.end)
	return st.each(row)
}

// pages hands over the rows of a statement page by page, each from where bind says.
func (ld *loading) pages(st *stmt, size int, bind func() error, row func(st *stmt) error) error {
	for n := size; n == size; {
		n = 0
		err := func() error {
			ld.c.mu.Lock()
			defer ld.c.mu.Unlock()
			if err := bind(); err != nil {
				return err
			}
			return st.each(func(st *stmt) error {
				n++
				return row(st)
			})
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func (ld *loading) loadCounters() error {
	return ld.each(ld.counters, func(st *stmt) error {
		id := st.columnInt(0)
		ld.last[id] = append(ld.last[id], emulator.CounterRecord{Partition: uint8(st.columnInt(1)), Seq: st.columnInt(2)})
		return nil
	})
}

func (ld *loading) loadEntities() error {
	return ld.each(ld.entities, func(st *stmt) error {
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
		ld.keysFrom[e.ID] = st.columnInt(5)
		return ld.l.LoadEntity(e)
	})
}

func (ld *loading) loadMessages() error {
	var r emulator.MessageRecord
	next := ld.first
	bind := func() error {
		ld.messages.bindInts(next, ld.end, loadRows)
		return nil
	}
	return ld.pages(ld.messages, loadRows, bind, func(st *stmt) error {
		readMessage(st, &r)
		next = r.Row + 1
		if r.State == stateGone {
			ld.gone = append(ld.gone, goner{row: r.Row, body: r.Body})
			return nil
		}
		if ld.dead[r.Entity] {
			return nil
		}
		return ld.l.LoadMessage(&r)
	})
}

func (ld *loading) loadSessions() error {
	entity, id := ld.first-1, ""
	bind := func() error {
		ld.sessions.bindInt(1, entity)
		ld.sessions.bindInt(3, ld.end)
		ld.sessions.bindInt(4, loadStates)
		return ld.sessions.bindText(2, id)
	}
	return ld.pages(ld.sessions, loadStates, bind, func(st *stmt) error {
		entity, id = st.columnInt(0), string(st.columnView(1))
		if ld.dead[entity] {
			return nil
		}
		state := append([]byte{}, st.columnView(3)...) // never nil: a state may be empty
		return ld.l.LoadSession(entity, id, state, st.columnInt(2))
	})
}

func (ld *loading) loadHistory() error {
	entity, at, last := ld.first-1, int64(0), []byte(nil)
	bind := func() error {
		ld.history.bindInts(entity, at)
		ld.history.bindInt(4, ld.end)
		ld.history.bindInt(5, loadRows)
		return ld.history.bindBlob(3, last)
	}
	return ld.pages(ld.history, loadRows, bind, func(st *stmt) error {
		keys := st.columnView(2)
		entity, at, last = st.columnInt(0), st.columnInt(1), append(last[:0], keys...)
		if ld.dead[entity] || at < ld.keysFrom[entity] {
			return nil
		}
		for ; len(keys) >= keySize; keys = keys[keySize:] {
			if err := ld.l.LoadDuplicate(entity, [keySize]byte(keys), at); err != nil {
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
