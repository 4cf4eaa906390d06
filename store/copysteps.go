package store

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"minibus/emulator"
)

// The places of copyPhases that others ask for.
const (
	phaseHistory = iota
	phaseSessions
	phaseRows
	phaseBodies
)

// prepare makes the statements. A process that copies nothing does not need them. The first parameters of those that insert are the
// distance of the ids and the number of the copy.
func (cs *copies) prepare() error {
	if cs.prepared {
		return nil
	}
	cs.prepared = true
	return prepareAll(cs.w.conn, map[string]**stmt{
		`INSERT INTO entity(id, ns, kind, path, deleted, history_from, options)
			SELECT id+?1, ?2, kind, path, 0, history_from, options FROM entity WHERE id BETWEEN ?3 AND ?4 AND deleted=0`: &cs.entities,
		`INSERT INTO counter(entity, partition, ns, last_seq)
			SELECT entity+?1, partition, ?2, last_seq FROM counter WHERE entity BETWEEN ?3 AND ?4 AND entity+?1 IN (SELECT id FROM entity)`: &cs.counters,
		historySQL: &cs.history,
		"INSERT OR IGNORE INTO history(ns, entity, at, keys) SELECT ?1, ?2, ?3, ?4 WHERE ?2 IN (SELECT id FROM entity)": &cs.addHistory,
		"SELECT entity, id FROM session WHERE (entity, id)>(?1, ?2) AND entity<=?3 ORDER BY entity, id LIMIT ?4":        &cs.sessions,
		`INSERT OR IGNORE INTO session(ns, entity, id, updated, state)
			SELECT ?2, entity+?1, id, updated, state FROM session WHERE entity=?3 AND id=?4 AND entity+?1 IN (SELECT id FROM entity)`: &cs.addSession,
		"SELECT max(row), count(*) FROM (SELECT row FROM message WHERE row>? AND row<=? ORDER BY row LIMIT ?)": &cs.lastOf,
		fmt.Sprintf(`INSERT OR IGNORE INTO message(row, ns, entity, body, sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops,
				session, message_id, reason, source, overlay, system)
			SELECT row+?1, ?2, entity+?1, body+?1, sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops,
				session, message_id, reason, source, overlay, system
			FROM message WHERE row BETWEEN ?3 AND ?4 AND state<%d AND entity+?1 IN (SELECT id FROM entity)`, stateGone): &cs.rows,
		fmt.Sprintf(`INSERT OR IGNORE INTO message(row, ns, entity, body, sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops,
				session, message_id)
			SELECT p.row+c.key+?1, ?2, ((?2-1)<<40)+json_extract(c.value, '$[0]') AS of, body+?1, 0, json_extract(c.value, '$[1]'), 0, 0, enqueued, ttl, 0,
				size, enqueued_seq, hops, session, message_id
			FROM publication p, json_each(p.copies) c
			WHERE p.row>?3-%d AND p.row<=?4 AND p.row+c.key BETWEEN ?3 AND ?4 AND (p.there>>c.key)&1 AND of IN (SELECT id FROM entity)`,
			emulator.MaxCopies): &cs.published,
		fmt.Sprintf("SELECT row FROM publication WHERE row>?-%d AND row<=? ORDER BY row LIMIT ?", emulator.MaxCopies): &cs.publishedFrom,
		`SELECT m.row, m.body, m.size, b.parts FROM message m LEFT JOIN body b ON b.id=m.body-?1
			WHERE m.row>?2 AND m.row<=?3 ORDER BY m.row LIMIT ?4`: &cs.sizes,
		`INSERT INTO body(id, ns, parts, crc, data) SELECT id+?1, ?2, parts, crc, data FROM body b
			WHERE id IN (SELECT body-?1 FROM message WHERE row BETWEEN ?3 AND ?4) AND NOT EXISTS(SELECT 1 FROM body WHERE id=b.id+?1)`: &cs.bodies,
		"SELECT parts FROM body b WHERE id=?2 AND NOT EXISTS(SELECT 1 FROM body WHERE id=?2+?1)": &cs.partsOf,
		`INSERT OR IGNORE INTO body_part(body, ns, part, data)
			SELECT body+?1, ?2, part, data FROM body_part WHERE body=?3 AND part=?4`: &cs.parts,
		`INSERT OR IGNORE INTO body(id, ns, parts, crc, data) SELECT id+?1, ?2, parts, crc, data FROM body
			WHERE id=(SELECT body-?1 FROM message WHERE row=?3+?1)`: &cs.keepBodies,
		`INSERT OR IGNORE INTO body_part(body, ns, part, data) SELECT body+?1, ?2, part, data FROM body_part
			WHERE body=(SELECT body-?1 FROM message WHERE row=?3+?1)`: &cs.keepParts,
		`INSERT OR IGNORE INTO body(id, ns, parts, crc, data) SELECT id+?1, ?2, parts, crc, data FROM body WHERE id=?3`:     &cs.keepOne,
		`INSERT OR IGNORE INTO body_part(body, ns, part, data) SELECT body+?1, ?2, part, data FROM body_part WHERE body=?3`: &cs.keepPartsOfOne,
	})
}

// historySQL reads history behind a row of it.
const historySQL = "SELECT entity, at, keys FROM history WHERE (entity, at, keys)>(?1, ?2, ?3) AND entity<=?4 ORDER BY entity, at, keys LIMIT ?5"

// copyEntities copies the entities and their counters at once: there are few.
func (c *copying) copyEntities() error {
	first, last := emulator.RowsOf(c.from.number)
	for _, st := range []*stmt{c.w.copies.entities, c.w.copies.counters} {
		if err := st.run(c.offset, c.to.number, first, last); err != nil {
			return fmt.Errorf("copy the entities of namespace %s: %w", c.from.record.Name, err)
		}
		if c.snapshot != nil && st == c.w.copies.entities {
			c.snapshot.Entities = int64(c.w.conn.changes())
		}
	}
	return nil
}

func (c *copying) copyHistory() (end bool, err error) {
	cs, wk := &c.w.copies, &c.walked
	_, last := emulator.RowsOf(c.from.number)
	cs.history.bindInts(wk.cursor, wk.at)
	cs.history.bindInt(4, last)
	cs.history.bindInt(5, int64(wk.left))
	if err := cs.history.bindBlob(3, wk.keys); err != nil {
		return false, err
	}
	n := 0
	err = cs.history.each(func(st *stmt) error {
		n++
		wk.cursor, wk.at, wk.keys = st.columnInt(0), st.columnInt(1), slices.Clone(st.columnView(2))
		if c.kept.history[historyKey{wk.cursor, wk.at, [keySize]byte(wk.keys)}] {
			return nil
		}
		cs.addHistory.bindInts(c.to.number, wk.cursor+c.offset, wk.at)
		return cmp.Or(cs.addHistory.bindBlob(4, wk.keys), cs.addHistory.exec())
	})
	if err != nil {
		return false, fmt.Errorf("copy the history of duplicate detection: %w", err)
	}
	end = n < wk.left
	wk.left -= n
	return end, nil
}

// stateCost is for how many rows the state of a session counts.
const stateCost = 20

func (c *copying) copySessions() (end bool, err error) {
	cs, wk := &c.w.copies, &c.walked
	_, last := emulator.RowsOf(c.from.number)
	limit := max(wk.left/stateCost, 1)
	cs.sessions.bindInt(1, wk.cursor)
	cs.sessions.bindInt(3, last)
	cs.sessions.bindInt(4, int64(limit))
	if err := cs.sessions.bindText(2, wk.session); err != nil {
		return false, err
	}
	n := 0
	err = cs.sessions.each(func(st *stmt) error {
		n++
		wk.cursor, wk.session = st.columnInt(0), string(st.columnView(1))
		if c.kept.sessions[sessionKey{wk.cursor, wk.session}] {
			return nil
		}
		return c.copySession(wk.cursor, wk.session)
	})
	if err != nil {
		return false, err
	}
	end = n < limit
	wk.left -= n * stateCost
	return end, nil
}

func (c *copying) copySession(entity int64, id string) error {
	st := c.w.copies.addSession
	st.bindInts(c.offset, c.to.number, entity)
	if err := cmp.Or(st.bindText(4, id), st.exec()); err != nil {
		return fmt.Errorf("copy the state of session %q: %w", id, err)
	}
	return nil
}

func (c *copying) copyRows() (end bool, err error) {
	wk := &c.walked
	if wk.cursor >= c.high {
		return true, nil
	}
	st := c.w.copies.lastOf
	st.bindInts(wk.cursor, c.high, int64(wk.left))
	if _, err := st.step(); err != nil {
		return false, fmt.Errorf("look for messages to copy: %w", err)
	}
	to, n := st.columnInt(0), int(st.columnInt(1))
	if st.reset(); n == 0 {
		to = c.high
	}
	if to, n, err = c.publishedUpTo(to, n); n == 0 || err != nil {
		return true, err
	}
	from := wk.cursor + 1
	for _, added := range slices.Sorted(maps.Keys(c.kept.rows)) {
		if added < from || added > to {
			continue
		}
		if err := c.copyRange(from, added-1); err != nil {
			return false, err
		}
		from = added + 1
	}
	if err := c.copyRange(from, to); err != nil {
		return false, err
	}
	wk.left -= n
	wk.cursor = to
	return false, nil
}

// publishedUpTo returns up to which row the step in hand copies, at most to, and how many rows it copies, with those that publications have besides n. Some
// publications always find room, as the rows of the first may be copied already.
func (c *copying) publishedUpTo(to int64, n int) (int64, int, error) {
	if !c.w.published.some {
		return to, n, nil
	}
	limit := c.walked.left/emulator.MaxCopies + emulator.MaxCopies/packedCopies + 1
	st, found := c.w.copies.publishedFrom, 0
	st.bindInts(c.walked.cursor+1, to, int64(limit+1))
	err := st.each(func(st *stmt) error {
		if found++; found > limit {
			to = st.columnInt(0) - 1
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("look for copies to copy: %w", err)
	}
	return to, n + min(found, limit)*emulator.MaxCopies, nil
}

// copyRange copies the messages with some rows, unless they are copied. They are messages of their own in the copy even if they share a row here.
func (c *copying) copyRange(from, to int64) error {
	if from > to {
		return nil
	}
	if c.w.published.some {
		if err := c.w.copies.published.run(c.offset, c.to.number, from, to); err != nil {
			return fmt.Errorf("copy the copies with the rows %d to %d: %w", from, to, err)
		}
	}
	if err := c.w.copies.rows.run(c.offset, c.to.number, from, to); err != nil {
		return fmt.Errorf("copy the message rows %d to %d: %w", from, to, err)
	}
	return nil
}

// copyBodies walks along the messages of the copy and copies their bodies, a large one in parts.
func (c *copying) copyBodies() (end bool, err error) {
	cs, wk := &c.w.copies, &c.walked
	bytes, large, to := int64(0), int64(0), int64(0)
	n, messages := 0, int64(0)
	cs.sizes.bindInts(c.offset, wk.cursor+c.offset, c.high+c.offset, int64(wk.left))
	for bytes < copyBytes && large == 0 {
		row, err := cs.sizes.step()
		if err != nil {
			return false, fmt.Errorf("look for bodies to copy: %w", err)
		}
		if !row {
			end = n < wk.left
			break
		}
		delete(c.kept.bodies, cs.sizes.columnInt(1)-c.offset)
		size := cs.sizes.columnInt(2)
		if cs.sizes.columnInt(3) > 0 {
			if large = cs.sizes.columnInt(1) - c.offset; n > 0 {
				large = 0 // it begins the next step
				break
			}
		}
		n, messages, bytes, to = n+1, messages+1, bytes+size, cs.sizes.columnInt(0)
	}
	cs.sizes.reset()
	if n == 0 {
		return end, nil
	}
	if large != 0 {
		if more, err := c.copyPart(large); more || err != nil {
			return false, err
		}
	}
	if err := cs.bodies.run(c.offset, c.to.number, wk.cursor+c.offset+1, to); err != nil {
		return false, fmt.Errorf("copy the bodies of messages: %w", err)
	}
	wk.messages, wk.bytes = wk.messages+messages, wk.bytes+bytes
	wk.cursor, wk.part = to-c.offset, 0
	wk.left -= n
	if bytes >= copyBytes {
		wk.left = 0
	}
	return end, nil
}

// copyPart copies the next part of a large body, and reports whether there are more. The row of the body comes after all parts.
func (c *copying) copyPart(body int64) (more bool, err error) {
	cs, wk := &c.w.copies, &c.walked
	parts, err := cs.partsOf.one(c.offset, body)
	if err != nil || wk.part >= parts {
		return false, err
	}
	if err := cs.parts.run(c.offset, c.to.number, body, wk.part); err != nil {
		return false, fmt.Errorf("copy a part of body %d: %w", body, err)
	}
	wk.part++
	wk.left = 0
	return true, nil
}

// dropLoose removes the bodies that were kept and that no message of the copy has.
func (c *copying) dropLoose() (end bool, err error) {
	wk := &c.walked
	for _, body := range slices.Sorted(maps.Keys(c.kept.bodies)) {
		if body <= wk.cursor {
			continue
		}
		if wk.left == 0 {
			return false, nil
		}
		if err := c.w.messages.removeBody(body + c.offset); err != nil {
			return false, err
		}
		wk.left--
		wk.cursor = body
	}
	return true, nil
}

func (c *copying) finish() (end bool, err error) {
	if c.snapshot != nil {
		c.snapshot.Messages, c.snapshot.Bytes = c.walked.messages, c.walked.bytes
	}
	return true, nil
}
