package emulator

import "minibus/internal/amqp/message"

// dueList has the due messages of a topic, in their order. The rules need their properties, so bodies that are on
// disk only are read, a turn of them at a time: what fell due while the broker was down may not fit into memory. The
// topic's mutex guards it.
type dueList struct {
	waiting []*entry // busy
	active  bool     // a turn is being read or committed
}

// dueTurn has the messages that go from the list at a time. The next turn begins when this one is committed.
type dueTurn struct {
	read    BodyRead
	t       *Topic
	due     []*entry
	missing []*entry // those of due that are being read
}

// publishDueLocked sends messages that were scheduled in a topic to its subscriptions, by the rules of this moment
// (SCHED-16). Until that is committed they are still scheduled.
func (t *Topic) publishDueLocked(due []*entry, now int64) {
	t.usage.touch(now) // until now the topic was in use (SCHED-26)
	for _, e := range due {
		if e.mark != markFree {
			continue // it was due twice: a failed cancel adds it once more
		}
		e.mark = markBusy
		t.activating.waiting = append(t.activating.waiting, e)
	}
	if !t.activating.active {
		t.nextDueLocked(now)
	}
}

// turnCopies is how many copies the due messages of a turn may become, unless it is those of one.
const turnCopies = 512

// nextDueLocked begins the next turn of due messages: at most quantumBytes of bodies have to be read, or they are
// those of one message.
func (t *Topic) nextDueLocked(now int64) {
	list := &t.activating
	if len(list.waiting) == 0 || t.may.use() != nil { // a deletion may be taken back
		t.retryDueLocked(nil)
		return
	}
	list.active = true
	d := &dueTurn{t: t}
	bytes := 0
	for _, e := range list.waiting[:min(turn, max(1, turnCopies/max(1, len(t.subs))), len(list.waiting))] {
		if bytes >= quantumBytes {
			break
		}
		d.due = append(d.due, e)
		if e.body.data == nil {
			bytes += int(e.body.size)
			d.missing = append(d.missing, e)
			d.read.IDs = append(d.read.IDs, e.body.id)
		}
	}
	list.waiting = list.waiting[len(d.due):]
	t.ns.dueReads.add()
	if len(d.missing) == 0 {
		d.publishLocked(nil, now)
		return
	}
	d.read.Done = CompletionFunc(d.goOn)
	t.ns.journal.ReadBodies(&d.read)
}

// goOn publishes the messages when their bodies are there.
func (d *dueTurn) goOn(err error) {
	t := d.t
	t.ns.ownActions.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		err = t.may.use()
	}
	if err != nil {
		t.ns.logger.Error("scheduled messages could not be read; trying again", "entity", t.path, "error", err)
		t.retryDueLocked(d.due)
		t.ns.dueReads.done()
		return
	}
	bodies := make(map[int64][]byte, len(d.missing))
	for i, e := range d.missing {
		if bodies[e.row] = d.read.Bodies[i]; bodies[e.row] == nil {
			t.bodies.of(e, &d.read, i) // tells
		}
	}
	d.publishLocked(bodies, t.ns.Now())
}

// Completed takes the next turn when this one is committed. If it failed, it is tried again later, and so are those
// behind it.
func (d *dueTurn) Completed(err error) {
	t := d.t
	defer t.ns.dueReads.done()
	t.ns.ownActions.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.retryDueLocked(nil)
		return
	}
	t.nextDueLocked(t.ns.Now())
}

// retryDueLocked empties the list: its messages are tried again later, behind those of a turn.
func (t *Topic) retryDueLocked(due []*entry) {
	for _, e := range append(due, t.activating.waiting...) {
		t.schedule.retry(e)
	}
	t.activating = dueList{}
}

// retry lets a due message be tried again later.
func (s *schedule) retry(e *entry) {
	e.mark = markFree
	s.dues.add(e, s.q.alarm.later())
	s.q.alarm.set(s.q.alarm.later())
}

// publishLocked makes the publication. bodies has, by row, those that are not in memory.
func (d *dueTurn) publishLocked(bodies map[int64][]byte, now int64) {
	t := d.t
	op := t.publicationLocked(false, d)
	for _, e := range d.due {
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
			t.ns.logger.Error("a scheduled message can't be read; trying again", "entity", t.path, "sequenceNumber",
				e.seq, "error", err)
			t.schedule.retry(e)
			continue
		}
		op.dueLocked(e, &in, max(now, e.extras().due))
	}
	op.endLocked()
	t.ns.journal.Append(&op.change)
}

// dueLocked adds one message, with the number and the time of this moment (SCHED-9, TIME-3).
func (op *publication) dueLocked(e *entry, in *incoming, at int64) {
	q := op.q
	o := &original{
		in: in, overlay: e.extras().overlay, system: e.extras().system, seq: q.counters.draw(&op.drawn,
			q.counters.partitionOf(e.seq)), first: e.first,
		at: at, ttl: e.ttl, hops: e.extras().hops, reason: e.extras().reason, source: e.extras().source,
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
	info.Overlay(e.extras().system)
	return incoming{m: m, info: info}, err
}
