package emulator

import (
	"bytes"
	"fmt"
	"strings"
)

// kept is the content of a journal.
type kept struct {
	entities   map[int64]EntityRecord
	rows       map[int64]MessageRecord
	sessions   map[string]*sessionState
	duplicates map[string]int64
}

func (s *kept) LoadEntity(r EntityRecord) error    { s.entities[r.ID] = r; return nil }
func (s *kept) LoadMessage(r *MessageRecord) error { s.rows[r.Row] = *r; return nil }
func (s *kept) LoadSession(entity int64, id string, state []byte, updated int64) error {
	s.sessions[fmt.Sprint(entity, "/", id)] = &sessionState{data: state, updated: updated}
	return nil
}
func (s *kept) LoadDuplicate(entity int64, key [16]byte, at int64) error {
	s.duplicates[fmt.Sprintf("%d/%x", entity, key)] = at
	return nil
}

// VerifyStored compares what is in memory with what the journal has, while nothing is being written.
func (ns *Namespace) VerifyStored(j Journal) (faults []string) {
	s := &kept{map[int64]EntityRecord{}, map[int64]MessageRecord{}, map[string]*sessionState{}, map[string]int64{}}
	if err := j.Load(s); err != nil {
		return []string{err.Error()}
	}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	now := ns.Now()
	for _, q := range ns.catalog.entities(anyKind) {
		q.mu.Lock()
		r, ok := s.entities[q.id]
		if !ok || r.Path != q.path {
			fault("%s is not stored", q.path)
		}
		delete(s.entities, q.id)
		if want, _ := q.encodeAll(); !strings.HasPrefix(string(r.Options), want) {
			fault("%s: settings %s, stored %s", q.path, want, r.Options)
		}
		for _, c := range r.Last {
			n := &q.counters.of[int(c.Partition)%len(q.counters.of)]
			if c.Seq&^n.base != n.committed {
				fault("%s: partition %d ended at %d, stored %d", q.path, c.Partition, n.committed, c.Seq)
			}
		}
		for i := range q.messages.subQueues {
			q.messages.subQueues[i].look(-1<<63, func(e *entry) bool {
				r, ok := s.rows[e.row]
				if e.mark == markPending && !ok {
					return true // given back, and to be stored again
				}
				delete(s.rows, e.row)
				if e.session != nil && (!r.HasSession || r.SessionID != e.session.id) {
					fault("%s: entry %d is of session %q, stored %q", q.path, e.seq, e.session.id, r.SessionID)
				}
				want := e.record(q.id)
				want.HasSession, want.SessionID, want.MessageID = r.HasSession, r.SessionID, r.MessageID
				if have, want := fmt.Sprintf("%+v", r), fmt.Sprintf("%+v", want); !ok || have != want {
					fault("%s: entry is %s, stored %s", q.path, want, have)
				}
				return true
			})
		}
		for id, x := range q.sessions.byKey {
			key := fmt.Sprint(q.id, "/", id)
			have := s.sessions[key]
			switch {
			case x.hasState() != (have != nil):
				fault("%s: session %q has a state: %t, stored: %t", q.path, id, x.hasState(), have != nil)
			case have == nil:
			case x.updated() != have.updated || x.stateSize() != int64(len(have.data)) || x.state.data != nil && !bytes.Equal(x.state.data, have.data):
				fault("%s: state of session %q is %+v, stored %+v", q.path, id, *x.state, *have)
			}
			delete(s.sessions, key)
		}
		since := now - q.options.dedupWindow()
		for k, at := range q.duplicates.seen {
			key := fmt.Sprintf("%d/%x", q.id, k)
			if at > since && s.duplicates[key] != at {
				fault("%s: key %x is of %d, stored %d", q.path, k, at, s.duplicates[key])
			}
			delete(s.duplicates, key)
		}
		for key, at := range s.duplicates {
			if at > since && strings.HasPrefix(key, fmt.Sprint(q.id, "/")) {
				fault("%s: key %s of %d is stored and not known", q.path, key, at)
			}
		}
		q.mu.Unlock()
	}
	for _, r := range s.rows {
		fault("row %d of %d is stored and not known: %+v", r.Row, r.Entity, r)
	}
	for key := range s.sessions {
		fault("the state of session %s is stored and not known", key)
	}
	for _, r := range s.entities {
		fault("entity %s is stored and not known", r.Path)
	}
	return faults
}

// encodeAll returns what the journal should have of the settings of an entity; nothing of a subscription's.
func (q *Entity) encodeAll() (string, error) {
	var o any = q.options
	switch {
	case q.subscription != nil:
		return "", nil
	case q.topic != nil:
		o = q.topic.settings
	}
	b, err := encodeOptions(o)
	return strings.TrimSuffix(string(b), "}"), err
}
