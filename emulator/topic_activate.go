package emulator

import "minibus/internal/amqp/message"

// dueRead is due messages of a topic whose properties are being read from disk: the rules need them.
type dueRead struct {
	read    BodyRead
	t       *Topic
	due     []*entry
	missing []*entry
}

// publishDueLocked sends messages that were scheduled in a topic to its subscriptions, by the rules of this moment
// (SCHED-16). Until that is committed they are still scheduled.
func (t *Topic) publishDueLocked(due []*entry, now int64) {
	r := &dueRead{t: t}
	t.usage.touch(now) // until now the topic was in use (SCHED-26)
	for _, e := range due {
		if e.mark != markFree {
			continue // it was due twice: a failed cancel adds it once more
		}
		e.mark = markBusy
		r.due = append(r.due, e)
		if e.body.data == nil {
			r.missing = append(r.missing, e)
			r.read.IDs = append(r.read.IDs, e.body.id)
		}
	}
	switch {
	case len(r.due) == 0:
	case len(r.missing) == 0:
		t.publishOwnLocked(r.due, nil, now)
	default:
		t.ns.reading.add()
		r.read.Done = r
		t.ns.journal.ReadBodies(&r.read)
	}
}

// Completed goes on when the bodies are there.
func (r *dueRead) Completed(err error) {
	t := r.t
	defer t.ns.reading.done()
	t.ns.deeds.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		err = t.may.use()
	}
	if err != nil {
		t.ns.logger.Error("scheduled messages could not be read; trying again", "entity", t.path, "error", err)
		for _, e := range r.due {
			t.schedule.retry(e)
		}
		return
	}
	bodies := make(map[int64][]byte, len(r.missing))
	for i, e := range r.missing {
		if bodies[e.row] = r.read.Bodies[i]; bodies[e.row] == nil {
			t.bodies.of(e, &r.read, i) // tells
		}
	}
	t.publishOwnLocked(r.due, bodies, t.ns.Now())
}

// retry lets a due message be tried again later.
func (s *schedule) retry(e *entry) {
	e.mark = markFree
	s.dues.add(e, s.q.alarm.later())
	s.q.alarm.set(s.q.alarm.later())
}

// publishOwnLocked makes the publication of due messages. bodies has, by row, those that are not in memory.
func (t *Topic) publishOwnLocked(due []*entry, bodies map[int64][]byte, now int64) {
	op := t.publicationLocked(false, untold)
	for _, e := range due {
		raw := e.body.data
		if raw == nil {
			raw = bodies[e.row]
		}
		if raw == nil { // a topic has no dead-letter queue, and the rules can't say where it belongs: it stays here
			t.schedule.retry(e)
			continue
		}
		in, err := e.reread(raw)
		if err != nil {
			t.ns.logger.Error("a scheduled message can't be read; trying again", "entity", t.path, "sequenceNumber", e.seq, "error", err)
			t.schedule.retry(e)
			continue
		}
		op.dueLocked(e, &in, max(now, e.due()))
	}
	op.endLocked()
	t.ns.append(&op.change)
}

// dueLocked adds one message, with the number and the time of this moment (SCHED-9, TIME-3).
func (op *publication) dueLocked(e *entry, in *incoming, at int64) {
	q := op.q
	o := &original{
		in: in, overlay: e.overlay(), system: e.system(), seq: q.counters.draw(&op.drawn, q.counters.partitionOf(e.seq)), first: e.first,
		at: at, ttl: e.ttl, hops: e.hops(), reason: e.reason(), source: e.source(),
		body: e.body.id, stored: true, kept: e.body.data != nil, of: e.body.copies,
	}
	if o.first == 0 {
		o.first = o.seq
	}
	s, remove := step{e: e, effect: effectHandOn, fallback: fallback{undo: undoDueLater}}, e.rowDeletion(q.id)
	copies := op.fanOutLocked(o)
	if copies == 0 {
		s.effect, remove = effectRemove, e.deletion(q.id)
	}
	op.passLocked(EventActivated, o, copies)
	op.addLocked(s, remove)
}

// reread makes of a stored message what it was when it came in, with what was changed of its properties.
func (e *entry) reread(raw []byte) (incoming, error) {
	m, err := message.Scan(raw)
	if err != nil {
		return incoming{}, err
	}
	info, err := m.Info()
	info.Overlay(e.system())
	return incoming{m: m, info: info}, err
}
