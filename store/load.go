package store

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
	"sync"

	"minibus/emulator"
)

// loads streams the contents of namespaces, with statements that are prepared once for all of them. Each takes a
// range of ids. Tables that may be long are read in pages, so that others can use the connection in between.
type loads struct {
	mu sync.Mutex // held for a load
	c  *conn

	counters, entities, messages, publications, sessions, duplicates *stmt
}

func newLoads(c *conn) (*loads, error) {
	ld := &loads{c: c}
	return ld, prepareAll(c, map[string]**stmt{
		`SELECT entity, partition, last_seq FROM counter
			WHERE entity BETWEEN ? AND ? ORDER BY entity, partition`: &ld.counters,
		`SELECT id, kind, path, options, deleted, history_from FROM entity
			WHERE id BETWEEN ? AND ? ORDER BY id`: &ld.entities,
		historySQL: &ld.duplicates,
		`SELECT entity, id, updated, state FROM session
			WHERE (entity, id)>(?1, ?2) AND entity<=?3 ORDER BY entity, id LIMIT ?4`: &ld.sessions,
		`SELECT row, entity, sub, seq, state, delivery_count, body, enqueued, ttl, scheduled, size, enqueued_seq, hops,
			session, message_id, reason, source, overlay, system
			FROM message WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?`: &ld.messages,
		`SELECT row, there, body, enqueued, ttl, size, enqueued_seq, hops, session, message_id, copies
			FROM publication WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?`: &ld.publications,
	})
}

// Rows of a page.
const (
	loadRows         = 2000
	loadPublications = 50
	loadStates       = 100
)

// load streams what has the ids of a number, and returns the tombstones.
func (ld *loads) load(number int64, l emulator.Loader) ([]tombstone, error) {
	ld.mu.Lock()
	defer ld.mu.Unlock()
	one := &loading{loads: ld, l: l, last: map[int64][]emulator.CounterRecord{}, keysFrom: map[int64]int64{}}
	one.first, one.end = emulator.RowsOf(number)
	for _, part := range []func() error{
		one.loadCounters, one.loadEntities, one.loadMessages,
		one.loadPublications, one.loadSessions, one.loadDuplicates,
	} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return one.tombstones, nil
}

// loading is the load of a namespace.
type loading struct {
	*loads
	l          emulator.Loader
	first, end int64 // ids
	last       map[int64][]emulator.CounterRecord
	dead       map[int64]bool // nil if there are none

	tombstones []tombstone

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
func (ld *loading) pages(st *stmt, size int, bind func(), row func(st *stmt) error) error {
	for n := size; n == size; {
		n = 0
		err := func() error {
			ld.c.mu.Lock()
			defer ld.c.mu.Unlock()
			bind()
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
		last := emulator.CounterRecord{Partition: uint8(st.columnInt(1)), Seq: st.columnInt(2)}
		ld.last[id] = append(ld.last[id], last)
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
	bind := func() { ld.messages.bindInts(next, ld.end, loadRows) }
	return ld.pages(ld.messages, loadRows, bind, func(st *stmt) error {
		readMessage(st, &r)
		next = r.Row + 1
		if r.State == stateTombstone {
			ld.tombstones = append(ld.tombstones, tombstone{row: r.Row, body: r.Body})
			return nil
		}
		if ld.dead[r.Entity] {
			return nil
		}
		return ld.l.LoadMessage(&r)
	})
}

// loadPublications loads the messages of which several share a row.
func (ld *loading) loadPublications() error {
	var r emulator.MessageRecord
	next := ld.first
	bind := func() { ld.publications.bindInts(next, ld.end, loadPublications) }
	return ld.pages(ld.publications, loadPublications, bind, func(st *stmt) error {
		row, there := st.columnInt(0), uint64(st.columnInt(1))
		r.Body = st.columnInt(2)
		r.Enqueued, r.TTL = st.columnInt(3), st.columnInt(4)
		r.Size = st.columnInt(5)
		r.EnqueuedSeq, r.Hops = st.columnInt(6), uint8(st.columnInt(7))
		r.HasSession = !st.columnIsNull(8)
		r.SessionID, r.MessageID = st.columnString(8, r.SessionID), st.columnString(9, "")
		next = row + 1
		if there == 0 {
			ld.tombstones = append(ld.tombstones, tombstone{row: row, body: r.Body, publication: row})
			return nil
		}
		return eachCopy(st.columnView(10), there, row, func(i int, entity, seq int64) error {
			if r.Entity = ld.first - 1 + entity; ld.dead[r.Entity] {
				return nil
			}
			r.Row, r.Seq = row+int64(i), seq
			return ld.l.LoadMessage(&r)
		})
	})
}

// eachCopy calls f for each copy of a publication that is there, with its place, its entity, without the number of the
// namespace, and its sequence number. row, there and text are the columns of the publication.
func eachCopy(text []byte, there uint64, row int64, f func(i int, entity, seq int64) error) error {
	var numbers []int64
	for at := 0; at < len(text); at++ {
		from := at
		for at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at] == '-') {
			at++
		}
		if from == at {
			continue
		}
		n, err := strconv.ParseInt(string(text[from:at]), 10, 64)
		if err != nil {
			return fmt.Errorf("the publication with row %d has copies that are not numbers: %w", row, errMalformed)
		}
		numbers = append(numbers, n)
	}
	if len(numbers)%2 != 0 || len(numbers)/2 < bits.Len64(there) {
		return fmt.Errorf("the publication with row %d has fewer copies than bits: %w", row, errMalformed)
	}
	for ; there != 0; there &= there - 1 {
		i := bits.TrailingZeros64(there)
		if err := f(i, numbers[2*i], numbers[2*i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (ld *loading) loadSessions() error {
	entity, id := ld.first-1, ""
	bind := func() {
		ld.sessions.bindInt(1, entity)
		ld.sessions.bindInt(3, ld.end)
		ld.sessions.bindInt(4, loadStates)
		ld.sessions.bindText(2, id)
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

func (ld *loading) loadDuplicates() error {
	entity, at := ld.first-1, int64(0)
	var last []byte
	bind := func() {
		ld.duplicates.bindInts(entity, at)
		ld.duplicates.bindInt(4, ld.end)
		ld.duplicates.bindInt(5, loadRows)
		ld.duplicates.bindBlob(3, last)
	}
	return ld.pages(ld.duplicates, loadRows, bind, func(st *stmt) error {
		keys := st.columnView(2)
		entity, at = st.columnInt(0), st.columnInt(1)
		last = append(last[:0], keys...)
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
	r.Body = st.columnInt(6)
	r.Enqueued, r.TTL = st.columnInt(7), st.columnInt(8)
	r.Scheduled, r.Size = st.columnInt(9), st.columnInt(10)
	r.EnqueuedSeq = st.columnInt(11)
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
