package store

import (
	"fmt"

	"minibus/emulator"
)

// keeping is what a copy has to know of changes that clients make meanwhile. The transaction of a change copies what it is about to overwrite or remove, unless
// that was copied before. What it adds does not belong to the copy. All of it is forgotten when the copy has passed the table.
type keeping struct {
	rows     map[int64]bool      // added although their ids were drawn before the copy began
	sessions map[sessionKey]bool // written
	history  map[historyKey]bool // added
	bodies   map[int64]bool      // copied because they were removed by themselves; no message of the copy is known to have them yet
}

type sessionKey struct {
	entity int64
	id     string
}

type historyKey struct {
	entity, at int64
	first      [keySize]byte
}

// forget forgets what phases before one needed.
func (k *keeping) forget(phase int) {
	if phase > phaseHistory {
		k.history = nil
	}
	if phase > phaseSessions {
		k.sessions = nil
	}
}

// note puts a key into a set, until the open transaction fails.
func note[K comparable](w *writer, set *map[K]bool, k K) {
	if *set == nil {
		*set = map[K]bool{}
	}
	m := *set
	if !m[k] {
		m[k] = true
		w.undo = append(w.undo, func() { delete(m, k) })
	}
}

// copyOf returns the copy to which the present state of a row, a body or an entity may belong; nil: none.
func (cs *copies) copyOf(id int64) *copying {
	if cs.live == 0 {
		return nil
	}
	if sp := cs.w.namespaces.byNumber[emulator.NamespaceOf(id)]; sp != nil {
		return sp.copying
	}
	return nil
}

// added notes that a message is stored.
func (cs *copies) added(row int64) {
	if c := cs.copyOf(row); c != nil && row <= c.high {
		note(cs.w, &c.kept.rows, row)
	}
}

// keepRow is called before a message changes.
func (cs *copies) keepRow(row int64) error {
	c := cs.copyOf(row)
	if c == nil || row > c.high || c.kept.rows[row] || c.walked.phase > phaseRows || c.walked.phase == phaseRows && row <= c.walked.cursor {
		return nil
	}
	return c.copyRange(row, row)
}

// keepBody is called before a message is removed, with keepRow. The body may go with it, or with another message that does not belong to the copy. A large body
// is copied whole by the same transaction.
func (cs *copies) keepBody(row int64) error {
	c := cs.copyOf(row)
	if c == nil || row > c.high || c.kept.rows[row] {
		return nil
	}
	err := cs.keepBodies.run(c.offset, c.to.number, row)
	if err == nil && cs.w.messages.hasParts {
		err = cs.keepParts.run(c.offset, c.to.number, row)
	}
	if err != nil {
		return fmt.Errorf("keep the body of message row %d for a snapshot: %w", row, err)
	}
	return nil
}

// keepLoose is called before a body is removed by itself: that of messages of deleted entities, whose rows stay until the sweep removes them, and the sweep waits
// for the copy. Whether a message of the copy has the body shows when its bodies are copied.
func (cs *copies) keepLoose(body int64) error {
	c := cs.copyOf(body)
	if c == nil || body > c.high || c.walked.phase > phaseBodies {
		return nil
	}
	if err := cs.keepOne.run(c.offset, c.to.number, body); err != nil {
		return fmt.Errorf("keep body %d for a snapshot: %w", body, err)
	}
	if cs.w.conn.changes() == 0 {
		return nil // the copy has it
	}
	note(cs.w, &c.kept.bodies, body)
	if !cs.w.messages.hasParts {
		return nil
	}
	if err := cs.keepPartsOfOne.run(c.offset, c.to.number, body); err != nil {
		return fmt.Errorf("keep the parts of body %d for a snapshot: %w", body, err)
	}
	return nil
}

// keepSession is called before the state of a session changes.
func (cs *copies) keepSession(entity int64, id string) error {
	c := cs.copyOf(entity)
	if c == nil || c.walked.phase > phaseSessions || c.kept.sessions[sessionKey{entity, id}] {
		return nil
	}
	note(cs.w, &c.kept.sessions, sessionKey{entity, id})
	return c.copySession(entity, id)
}

// remembered notes that a row of history is added.
func (cs *copies) remembered(entity, at int64, keys []byte) {
	if c := cs.copyOf(entity); c != nil && c.walked.phase <= phaseHistory {
		note(cs.w, &c.kept.history, historyKey{entity, at, [keySize]byte(keys)})
	}
}
