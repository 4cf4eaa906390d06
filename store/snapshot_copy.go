package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"minibus/emulator"
)

// Sizes of a step of a copy: one or two milliseconds of work, so that commits hardly wait for it.
const (
	copyRows         = 100
	copyPublications = 10 // each has up to emulator.MaxCopies messages
	copyBytes        = 256 << 10
	stateRows        = 20 // the state of a session counts for so many rows
)

// snapshotCopier copies the rows of namespaces and snapshots to other numbers, one copy after the other, in small
// transactions between the batches. Changes of a namespace wait while its rows are copied, so its snapshot is that of
// one moment. They don't wait for the bodies, which are most of the work and never change: one that is removed
// meanwhile is kept until the copy has ended. Those of other namespaces go on.
//
// The copies lie in the same database. So a file and a database in memory do the same, the sweeper removes what a crash
// leaves, and no read transaction lasts long: it would keep the log from restarting, and the log has a ceiling.
type snapshotCopier struct {
	w      *writer
	asked  sync.Map        // *snapshotCopy by number: those whose change is not committed yet
	copies []*snapshotCopy // those that are being made, oldest first
	ready  []item          // changes that need no longer wait for a copy
	kept   []int64         // bodies to remove once there are no copies
	size   int             // rows of a step

	prepared                 bool
	entities, counters       *stmt
	duplicates, addDuplicate *stmt
	sessions, addSession     *stmt

	nextMessages, addMessages         *stmt
	nextPublications, addPublications *stmt

	sizes, bodies, partsLeft, addPart *stmt
}

// snapshotCopy is a copy that is being made.
type snapshotCopy struct {
	w        *writer
	ctx      context.Context          // of the request that waits for it
	of       int64                    // number of the snapshot to copy, if it is none of a namespace
	snapshot *emulator.SnapshotRecord // what the copy becomes; nil: it is to be adopted
	instead  int64                    // number of the snapshot that it replaces
	from, to *rowRange
	offset   int64 // from an id to that of its copy
	done     emulator.Completion
	waiting  []item // changes of the namespace

	progress copyProgress
}

// copyProgress is how far a copy has come. A step that fails is tried again from where it began.
type copyProgress struct {
	phase   int
	left    int    // rows that the step in hand may still copy
	cursor  int64  // last entity or row copied in this phase
	session string // last session of that entity
	at      int64  // last instant of duplicate detection of that entity
	keys    []byte // last keys of that instant
	part    int64  // next part of a large body

	messages, bytes int64
}

// copyPhases copy what is in a namespace, apart from the entities and counters, which the first transaction copies. The
// last one copies the bodies.
var copyPhases = []func(c *snapshotCopy) (end bool, err error){
	(*snapshotCopy).copyDuplicates, (*snapshotCopy).copySessions,
	(*snapshotCopy).copyMessages, (*snapshotCopy).copyPublications, (*snapshotCopy).copyBodies,
}

func (c *snapshotCopy) ended() bool { return c.progress.phase == len(copyPhases) }

// copiesRows reports whether there are rows left to copy that changes of the namespace could change.
func (c *snapshotCopy) copiesRows() bool { return c.progress.phase < len(copyPhases)-1 }

// prepare makes the statements. A process that copies nothing does not need them. In those that insert, ?1 is the
// offset and ?2 the number of the copy.
func (cp *snapshotCopier) prepare() error {
	if cp.prepared {
		return nil
	}
	cp.prepared = true
	const same = `sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops, session,
		message_id, reason, source, overlay, system`
	return prepareAll(cp.w.conn, map[string]**stmt{
		`INSERT INTO entity(id, ns, kind, path, deleted, history_from, options)
			SELECT id+?1, ?2, kind, path, 0, history_from, options FROM entity
			WHERE id BETWEEN ?3 AND ?4 AND deleted=0`: &cp.entities,
		`INSERT INTO counter(entity, partition, ns, last_seq) SELECT entity+?1, partition, ?2, last_seq FROM counter
			WHERE entity BETWEEN ?3 AND ?4 AND entity+?1 IN (SELECT id FROM entity)`: &cp.counters,

		historySQL: &cp.duplicates,
		`INSERT INTO history(ns, entity, at, keys)
			SELECT ?1, ?2, ?3, ?4 WHERE ?2 IN (SELECT id FROM entity)`: &cp.addDuplicate,

		`SELECT entity, id FROM session WHERE (entity, id)>(?1, ?2) AND entity<=?3
			ORDER BY entity, id LIMIT ?4`: &cp.sessions,
		`INSERT INTO session(ns, entity, id, updated, state) SELECT ?2, entity+?1, id, updated, state FROM session
			WHERE entity=?3 AND id=?4 AND entity+?1 IN (SELECT id FROM entity)`: &cp.addSession,

		nextOf("message"): &cp.nextMessages,
		fmt.Sprintf(`INSERT INTO message(row, ns, entity, body, %[1]s)
			SELECT row+?1, ?2, entity+?1, body+?1, %[1]s FROM message
			WHERE row BETWEEN ?3 AND ?4 AND state<%[2]d AND entity+?1 IN (SELECT id FROM entity)`,
			same, stateTombstone): &cp.addMessages,

		nextOf("publication"): &cp.nextPublications,
		// The messages of a publication have rows of their own in the copy.
		`INSERT INTO message(row, ns, entity, body, sub, seq, state, delivery_count, enqueued, ttl, scheduled,
				size, enqueued_seq, hops, session, message_id)
			SELECT p.row+c.key+?1, ?2, ((?2-1)<<40)+json_extract(c.value, '$[0]') AS of, body+?1,
				0, json_extract(c.value, '$[1]'), 0, 0, enqueued, ttl, 0, size, enqueued_seq, hops, session, message_id
			FROM publication p, json_each(p.copies) c
			WHERE p.row BETWEEN ?3 AND ?4 AND (p.there>>c.key)&1
			AND of IN (SELECT id FROM entity)`: &cp.addPublications,

		`SELECT m.row, m.body, m.size, b.parts FROM message m LEFT JOIN body b ON b.id=m.body-?1
			WHERE m.row>?2 AND m.row<=?3 ORDER BY m.row LIMIT ?4`: &cp.sizes,
		`INSERT INTO body(id, ns, parts, crc, data) SELECT id+?1, ?2, parts, crc, data FROM body b
			WHERE id IN (SELECT body-?1 FROM message WHERE row BETWEEN ?3 AND ?4)
			AND NOT EXISTS(SELECT 1 FROM body WHERE id=b.id+?1)`: &cp.bodies,
		"SELECT parts FROM body WHERE id=?2 AND NOT EXISTS(SELECT 1 FROM body WHERE id=?2+?1)": &cp.partsLeft,
		`INSERT INTO body_part(body, ns, part, data)
			SELECT body+?1, ?2, part, data FROM body_part WHERE body=?3 AND part=?4`: &cp.addPart,
	})
}

// nextOf returns the query for the last of the next rows of a table, and how many there are.
func nextOf(table string) string {
	return "SELECT max(row), count(*) FROM (SELECT row FROM " + table + " WHERE row>? AND row<=? ORDER BY row LIMIT ?)"
}

// historySQL reads keys of duplicate detection behind a row of them.
const historySQL = `SELECT entity, at, keys FROM history WHERE (entity, at, keys)>(?1, ?2, ?3) AND entity<=?4
	ORDER BY entity, at, keys LIMIT ?5`

// begin runs in the transaction of the change that asks for the copy, as the last one in it.
func (cp *snapshotCopier) begin(number int64) error {
	x, ok := cp.asked.Load(number)
	if !ok {
		text := fmt.Sprintf("copy %d was not asked for", number)
		return &emulator.Error{Code: emulator.CodeInternal, Text: text}
	}
	c := x.(*snapshotCopy)
	n := &cp.w.namespaces
	if c.snapshot != nil {
		c.from = n.current[c.snapshot.Namespace]
	} else {
		c.from = n.byNumber[c.of]
	}
	if c.from == nil || c.from.dead {
		return noNamespace(c.of)
	}
	if err := cp.prepare(); err != nil {
		return err
	}
	if err := cp.w.writePending(); err != nil { // what came before belongs to the copy
		return err
	}
	if err := n.reserve(c.from, c.to); err != nil {
		return err
	}
	first, last := emulator.RowsOf(c.from.number)
	firstOfCopy, _ := emulator.RowsOf(c.to.number)
	c.w, c.offset = cp.w, firstOfCopy-first
	c.progress = copyProgress{cursor: first - 1}
	for _, st := range []*stmt{cp.entities, cp.counters} {
		if err := st.run(c.offset, c.to.number, first, last); err != nil {
			return fmt.Errorf("copy the entities of namespace %s: %w", c.from.record.Name, err)
		}
		if c.snapshot != nil && st == cp.entities {
			c.snapshot.Entities = int64(cp.w.conn.changes())
		}
	}
	cp.copies = append(cp.copies, c)
	cp.w.undo = append(cp.w.undo, func() { cp.copies = cp.copies[:len(cp.copies)-1] })
	return nil
}

// admit returns what may be committed now: the changes that have waited long enough for a copy, and items, but for
// those of namespaces whose rows are being copied. These wait. The deletion of a namespace ends the copy.
func (cp *snapshotCopier) admit(items []item) []item {
	if len(cp.copies) == 0 && len(cp.ready) == 0 {
		return items
	}
	for _, it := range items {
		if c := cp.saving(it.namespace); c != nil && it.begins(opDeleteNamespace) {
			cp.end(c, noNamespace(it.namespace))
		}
	}
	if len(cp.ready) > 0 {
		items = append(cp.ready, items...)
		cp.ready = nil
	}
	return slices.DeleteFunc(items, func(it item) bool {
		c := cp.saving(it.namespace)
		if c != nil {
			c.waiting = append(c.waiting, it)
		}
		return c != nil
	})
}

// saving returns the copy that changes of a namespace wait for; nil: none.
func (cp *snapshotCopier) saving(namespace int64) *snapshotCopy {
	for _, c := range cp.copies {
		if c.snapshot != nil && c.snapshot.Namespace == namespace && c.copiesRows() {
			return c
		}
	}
	return nil
}

// awaited reports whether changes wait for a copy.
func (cp *snapshotCopier) awaited() bool { return cp.firstAwaited() >= 0 }

func (cp *snapshotCopier) firstAwaited() int {
	return slices.IndexFunc(cp.copies, func(c *snapshotCopy) bool { return len(c.waiting) > 0 })
}

// step does a step of a copy that changes wait for, or else of the oldest one, and reports whether there was one.
func (cp *snapshotCopier) step() bool {
	if len(cp.copies) == 0 {
		return false
	}
	c := cp.copies[max(cp.firstAwaited(), 0)]
	if err := c.ctx.Err(); err != nil { // who asked for it has gone
		cp.end(c, err)
		return true
	}
	before := c.progress
	var stored func()
	err := cp.aside(func() (err error) {
		c.progress, stored = before, nil
		c.progress.left = cp.size
		for c.progress.left > 0 && !c.ended() {
			end, err := copyPhases[c.progress.phase](c)
			if err != nil {
				return err
			}
			if end {
				first, _ := emulator.RowsOf(c.from.number)
				c.progress.phase++
				c.progress.cursor = first - 1
			}
		}
		if c.ended() && c.snapshot != nil {
			c.snapshot.Messages, c.snapshot.Bytes = c.progress.messages, c.progress.bytes
			stored, err = cp.w.namespaces.storeSnapshot(c.snapshot, c.instead)
		}
		return err
	})
	if err == nil && stored != nil {
		stored()
	}
	switch {
	case err != nil || c.ended():
		cp.end(c, err)
	case !c.copiesRows():
		cp.release(c)
	}
	return true
}

// release lets the changes go on that waited for a copy.
func (cp *snapshotCopier) release(c *snapshotCopy) {
	if len(c.waiting) == 0 {
		return
	}
	cp.ready = append(cp.ready, c.waiting...)
	c.waiting = nil
	cp.w.s.inbox.poke()
}

// aside runs a step in a transaction. Unlike housekeeping it leaves some disk space to clients, and the reserve too.
func (cp *snapshotCopier) aside(f func() error) error {
	if !cp.w.disk.fits(2 * copyBytes) {
		return errDiskFull
	}
	return cp.w.disk.orMakeSpace(func() error { return cp.w.tx.run(f) })
}

// end takes a copy off the list, and lets the changes go on that waited for it. If it failed, the sweeper removes what
// there is of it.
func (cp *snapshotCopier) end(c *snapshotCopy, err error) {
	cp.copies = slices.DeleteFunc(cp.copies, func(x *snapshotCopy) bool { return x == c })
	cp.release(c)
	if err != nil && !c.to.dead {
		c.to.dead = true
		cp.w.sweeper.clear(c.to)
	}
	if err != nil {
		err = domainError(err)
	}
	c.done.Completed(err)
}

// endOfDead ends the copies of what the transaction that was just committed deleted.
func (cp *snapshotCopier) endOfDead() {
	for _, c := range slices.Clone(cp.copies) {
		if c.from.dead || c.to.dead {
			cp.end(c, noNamespace(c.from.record.ID))
		}
	}
}

// close ends all copies when the store is closed. The next start removes what there is of them.
func (cp *snapshotCopier) close() {
	for len(cp.copies) > 0 {
		cp.end(cp.copies[0], errorOfClosed())
	}
}

// keep reports whether a copy may still need a body that is to be removed. Then it is removed later.
func (cp *snapshotCopier) keep(body int64) bool {
	number := emulator.NamespaceOf(body)
	if !slices.ContainsFunc(cp.copies, func(c *snapshotCopy) bool { return c.from.number == number }) {
		return false
	}
	n := len(cp.kept)
	cp.kept = append(cp.kept, body)
	cp.w.undo = append(cp.w.undo, func() { cp.kept = cp.kept[:n] })
	return true
}

// makeWay removes the row of a body that was kept, because it is stored again. Its parts have been replaced already.
func (cp *snapshotCopier) makeWay(body int64) error {
	i := slices.Index(cp.kept, body)
	if i < 0 {
		return nil
	}
	cp.kept = slices.Delete(cp.kept, i, i+1)
	cp.w.undo = append(cp.w.undo, func() { cp.kept = slices.Insert(cp.kept, i, body) })
	return cp.w.messages.deleteBody.run(body)
}

// removeKept removes some of the bodies that copies have kept, and reports whether there were any. After a crash the
// sweeper finds them.
func (cp *snapshotCopier) removeKept() bool {
	if len(cp.kept) == 0 || len(cp.copies) > 0 {
		return false
	}
	n := min(sweepDrop, len(cp.kept))
	err := cp.w.tx.aside(func() error {
		for _, body := range cp.kept[:n] {
			if err := cp.w.messages.dropBody(body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		cp.w.sweeper.note(err)
		n = len(cp.kept)
	}
	cp.kept = cp.kept[n:]
	return true
}

func (c *snapshotCopy) copyDuplicates() (end bool, err error) {
	cp, p := &c.w.copier, &c.progress
	_, last := emulator.RowsOf(c.from.number)
	cp.duplicates.bindInts(p.cursor, p.at)
	cp.duplicates.bindBlob(3, p.keys)
	cp.duplicates.bindInt(4, last)
	cp.duplicates.bindInt(5, int64(p.left))
	n := 0
	err = cp.duplicates.each(func(st *stmt) error {
		n++
		p.cursor, p.at = st.columnInt(0), st.columnInt(1)
		p.keys = slices.Clone(st.columnView(2))
		cp.addDuplicate.bindInts(c.to.number, p.cursor+c.offset, p.at)
		cp.addDuplicate.bindBlob(4, p.keys)
		return cp.addDuplicate.exec()
	})
	if err != nil {
		return false, fmt.Errorf("copy the keys of duplicate detection: %w", err)
	}
	end = n < p.left
	p.left -= n
	return end, nil
}

func (c *snapshotCopy) copySessions() (end bool, err error) {
	cp, p := &c.w.copier, &c.progress
	_, last := emulator.RowsOf(c.from.number)
	limit := max(p.left/stateRows, 1)
	cp.sessions.bindInt(1, p.cursor)
	cp.sessions.bindText(2, p.session)
	cp.sessions.bindInt(3, last)
	cp.sessions.bindInt(4, int64(limit))
	n := 0
	err = cp.sessions.each(func(st *stmt) error {
		n++
		p.cursor, p.session = st.columnInt(0), string(st.columnView(1))
		cp.addSession.bindInts(c.offset, c.to.number, p.cursor)
		cp.addSession.bindText(4, p.session)
		return cp.addSession.exec()
	})
	if err != nil {
		return false, fmt.Errorf("copy the states of sessions: %w", err)
	}
	p.left -= n * stateRows
	return n < limit, nil
}

func (c *snapshotCopy) copyMessages() (end bool, err error) {
	return c.copyRange(c.w.copier.nextMessages, c.w.copier.addMessages, c.progress.left, 1)
}

func (c *snapshotCopy) copyPublications() (end bool, err error) {
	cp := &c.w.copier
	return c.copyRange(cp.nextPublications, cp.addPublications, copyPublications, copyRows/copyPublications)
}

// copyRange copies the next rows of a table, which are as much work as weight rows of message each.
func (c *snapshotCopy) copyRange(next, add *stmt, limit, weight int) (end bool, err error) {
	p := &c.progress
	_, last := emulator.RowsOf(c.from.number)
	next.bindInts(p.cursor, last, int64(limit))
	if _, err := next.step(); err != nil {
		return false, fmt.Errorf("look for messages to copy: %w", err)
	}
	to, n := next.columnInt(0), int(next.columnInt(1))
	next.reset()
	if n == 0 {
		return true, nil
	}
	if err := add.run(c.offset, c.to.number, p.cursor+1, to); err != nil {
		return false, fmt.Errorf("copy the message rows %d to %d: %w", p.cursor+1, to, err)
	}
	p.cursor = to
	p.left -= n * weight
	return n < limit, nil
}

// copyBodies walks along the messages of the copy and copies their bodies, a large one in parts.
func (c *snapshotCopy) copyBodies() (end bool, err error) {
	cp, p := &c.w.copier, &c.progress
	_, last := emulator.RowsOf(c.to.number)
	var bytes, large, to int64
	n := 0
	cp.sizes.bindInts(c.offset, p.cursor+c.offset, last, int64(p.left))
	defer cp.sizes.reset()
	for bytes < copyBytes && large == 0 {
		row, err := cp.sizes.step()
		if err != nil {
			return false, fmt.Errorf("look for bodies to copy: %w", err)
		}
		if !row {
			end = n < p.left
			break
		}
		if cp.sizes.columnInt(3) > 0 {
			large = cp.sizes.columnInt(1) - c.offset
		}
		n++
		bytes += cp.sizes.columnInt(2)
		to = cp.sizes.columnInt(0)
	}
	cp.sizes.reset()
	if n == 0 {
		return end, nil
	}
	if large != 0 {
		if more, err := c.copyPart(large); more || err != nil {
			return false, err
		}
	}
	if err := cp.bodies.run(c.offset, c.to.number, p.cursor+c.offset+1, to); err != nil {
		return false, fmt.Errorf("copy the bodies of messages: %w", err)
	}
	p.messages += int64(n)
	p.bytes += bytes
	p.cursor, p.part = to-c.offset, 0
	p.left -= n
	if bytes >= copyBytes {
		p.left = 0
	}
	return end, nil
}

// copyPart copies the next part of a large body, and reports whether there are more. The row of the body comes after
// all.
func (c *snapshotCopy) copyPart(body int64) (more bool, err error) {
	cp, p := &c.w.copier, &c.progress
	parts, err := cp.partsLeft.one(c.offset, body)
	if err != nil || p.part >= parts {
		return false, err
	}
	if err := cp.addPart.run(c.offset, c.to.number, body, p.part); err != nil {
		return false, fmt.Errorf("copy a part of body %d: %w", body, err)
	}
	p.part++
	p.left = 0
	return true, nil
}
