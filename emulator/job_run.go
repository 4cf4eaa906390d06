package emulator

import (
	"slices"

	"minibus/internal/amqp/message"
)

// Start starts a job on the messages that are in a sub-queue now. Jobs leave alone what clients have locked. A purge
// works whatever the entity's status, as an administrator's work. A move is one change in the journal for each batch,
// so that no message is lost or doubled whenever the process ends. If its target does not take messages, the job
// fails, and what has not been moved is where it was.
//
// It fails with CodeArgument if the options are wrong, with CodeNotFound if there is no target, and with
// CodeQuotaExceeded if [MaxJobs] run.
func (t *Jobs) Start(q *Entity, o JobOptions) (*Job, error) {
	o.Select.Seqs = slices.Compact(slices.Sorted(slices.Values(o.Select.Seqs)))
	if len(o.Select.States) == 0 {
		o.Select.States = []State{Active}
	}
	wanted, err := newSelectionMatcher(q, o.Sub, o.Select)
	if err != nil {
		return nil, err
	}
	j := &Job{
		selectionMatcher: wanted, options: o, started: q.ns.Now(), from: -1 << 63,
		cancel: make(chan struct{}), done: make(chan struct{}),
	}
	if err := j.check(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	err = q.may.use()
	for _, c := range q.counters.of {
		j.last = append(j.last, c.base|c.last)
	}
	if b := q.subQueue(o.Sub); len(o.Select.Seqs) == 0 {
		j.progress.Total = int64(b.n - b.pending)
	} else {
		j.progress.Total = int64(len(o.Select.Seqs))
	}
	q.mu.Unlock()
	if err == nil {
		err = t.add(j)
	}
	if err != nil {
		return nil, err
	}
	go j.run()
	return j, nil
}

// check says what is wrong with the options.
func (j *Job) check() error {
	o := &j.options
	if o.Max < 0 {
		return errorf(CodeArgument, j.q.path, "The most messages must not be negative; it is %d.", o.Max)
	}
	if o.Kind == PurgeJob {
		return nil
	}
	target, err := j.target()
	if err != nil {
		return err
	}
	if o.Target != "" {
		o.Target = target.path
	}
	switch {
	case target == j.q && o.Sub == Main:
		return errorf(CodeArgument, j.q.path, "The messages of '%s' are there already. Name another target.", j.q.path)
	case target.subscription != nil && target != j.q:
		return errorf(CodeNotAllowed, target.path, "Messages can't be moved to the subscription '%s': move them to "+
			"its topic '%s'. Only those in its own dead-letter queue can go back to it.",
			target.path, target.subscription.topic.path)
	}
	return nil
}

// target returns the entity to which the messages go.
func (j *Job) target() (*Entity, error) {
	if j.options.Target == "" {
		return j.q, nil
	}
	return j.q.ns.Entity(j.options.Target)
}

func (j *Job) run() {
	defer j.q.ns.jobs.running.done()
	defer close(j.done)
	more := true
	var err error
	for more && err == nil && !j.stopped() {
		more, err = j.step()
	}
	j.note(func(p *JobProgress) {
		p.Ended = j.q.ns.Now()
		switch {
		case err != nil:
			p.State, p.Why = JobFailed, err.Error()
		case more:
			p.State = JobCancelled
		default:
			p.State, p.Why = JobDone, ""
		}
	})
}

func (j *Job) stopped() bool {
	select {
	case <-j.cancel:
		return true
	default:
		return false
	}
}

// step works on the next messages and reports whether to go on.
func (j *Job) step() (more bool, err error) {
	found, more, err := j.look()
	if err != nil {
		return false, err
	}
	if found, err = j.matching(found); err != nil {
		return false, err
	}
	if left := j.left(); left >= 0 && int64(len(found)) >= left {
		found, more = found[:left], false
	}
	if len(found) == 0 {
		return more, nil
	}
	if j.options.Kind == PurgeJob {
		return more, j.purge(found)
	}
	return more, j.move(found)
}

// left returns how many messages may still be done; -1: any number.
func (j *Job) left() int64 {
	if j.options.Max == 0 {
		return -1
	}
	return j.options.Max - j.Progress().Done
}

// purge removes messages in one change.
func (j *Job) purge(found []*Delivery) error {
	q := j.q
	var entries []*entry
	err := await(func(done Completion) {
		q.mu.Lock()
		defer q.mu.Unlock()
		var err error
		if entries, err = j.takeLocked(found); len(entries) == 0 {
			done.Completed(err)
			return
		}
		op := newTransition(q, len(entries), By(j.options.Client, done))
		for _, e := range entries {
			op.removeLocked(e, EventPurged, backTo(e))
		}
		op.appendLocked()
	})
	j.giveUp(entries)
	if err == nil {
		j.note(func(p *JobProgress) { p.Done += int64(len(entries)) })
	}
	return err
}

// takeLocked marks those messages as being worked on that are still as look found them. A deletion of the entity waits
// until giveUp.
func (j *Job) takeLocked(found []*Delivery) ([]*entry, error) {
	q := j.q
	if err := j.goesOnLocked(); err != nil {
		return nil, err
	}
	b := q.subQueue(j.options.Sub)
	var entries []*entry
	for _, d := range found {
		e := b.find(d.seq)
		switch {
		case e != nil && q.forwarder.parked.has(e) && e.body.id == d.bodyID:
			q.forwarder.takeLocked(e)
		case e == nil || e.mark != markFree || e.state != d.state || e.body.id != d.bodyID:
			j.note(func(p *JobProgress) { p.Skipped++ })
			continue
		default:
			q.messages.takeAside(e)
		}
		entries = append(entries, e)
	}
	if len(entries) > 0 {
		q.usage.touch(q.ns.Now())
		q.ns.background.add()
		q.forwarder.running.add()
	}
	return entries, nil
}

// giveUp ends what takeLocked began, once the entries are free or removed.
func (j *Job) giveUp(entries []*entry) {
	if len(entries) == 0 {
		return
	}
	j.q.mu.Lock()
	for _, e := range entries {
		j.q.sessions.unblock(e)
	}
	j.q.mu.Unlock()
	j.q.forwarder.running.done()
	j.q.ns.background.done()
}

// goesOnLocked fails if the entity is no more, or is about to end.
func (j *Job) goesOnLocked() error {
	if err := j.q.may.use(); err != nil {
		return err
	}
	if j.q.alarm.stopped || j.q.ns.stage.Load() != stageThere {
		j.stop(stopping)
	}
	return nil
}

// look returns the next messages that the job may concern, as far as that shows without their content, and reports
// whether there may be more. It looks at few in one critical section.
func (j *Job) look() (found []*Delivery, more bool, err error) {
	q := j.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := j.goesOnLocked(); err != nil {
		return nil, false, err
	}
	if len(j.want.Seqs) > 0 {
		return j.lookForLocked()
	}
	now := q.ns.Now()
	looked := 0
	bytes := 0
	q.subQueue(j.sub).look(j.from, func(e *entry) bool {
		if looked >= peekChunk || bytes >= quantumBytes {
			more = true
			return false
		}
		looked++
		j.from = e.seq + 1
		if d := j.considerLocked(e, now); d != nil {
			found = append(found, d)
			bytes += int(d.size)
		}
		return true
	})
	return found, more, nil
}

// lookForLocked is look for messages of which the numbers are given.
func (j *Job) lookForLocked() (found []*Delivery, more bool, err error) {
	now, bytes := j.q.ns.Now(), 0
	start, _ := slices.BinarySearch(j.want.Seqs, j.from)
	for looked, seq := range j.want.Seqs[start:] {
		if looked == peekChunk || bytes >= quantumBytes {
			return found, true, nil
		}
		j.from = seq + 1
		there := false
		j.q.subQueue(j.sub).look(seq, func(e *entry) bool {
			if e.seq != seq {
				return false
			}
			if e.mark == markPending {
				return true
			}
			there = true
			if d := j.considerLocked(e, now); d != nil {
				found = append(found, d)
				bytes += int(d.size)
			}
			return false
		})
		if !there {
			j.note(func(p *JobProgress) { p.Examined++ })
			j.fail(seq, j.q.Messages().missing(seq))
		}
	}
	return found, false, nil
}

// considerLocked returns what is to be known of a message that the job may concern, else nil.
func (j *Job) considerLocked(e *entry, now int64) *Delivery {
	if e.mark == markPending || e.seq > j.last[j.q.counters.partitionOf(e.seq)] {
		return nil
	}
	fits := slices.Contains(j.want.States, e.state) && j.fits(e) && (j.options.Kind == PurgeJob || !e.expired(now))
	held := fits && e.mark != markFree && !j.q.forwarder.parked.has(e)
	j.note(func(p *JobProgress) {
		p.Examined++
		if held {
			p.Skipped++
		}
	})
	if !fits || held {
		return nil
	}
	d := newDelivery(j.q, e, nil)
	d.e = nil // it may be shown in passing
	if j.reads() {
		d.body = e.body.data
	}
	return d
}

// move moves messages in one change. An error ends the job; what it could not move is where it was.
func (j *Job) move(found []*Delivery) error {
	q := j.q
	target, err := j.target()
	if err != nil {
		return err
	}
	q.mu.Lock()
	entries, err := j.takeLocked(found)
	q.mu.Unlock()
	if err != nil || len(entries) == 0 {
		return err
	}
	defer j.giveUp(entries)
	list, err := q.forwarder.read(entries)
	if err != nil {
		j.putBack(entries)
		return err
	}
	list = j.prepare(list, target)
	if len(list) == 0 {
		return nil
	}
	op := newTransfer(q, target, j.options.Client)
	moving, err := op.startMove(list, j)
	if err != nil {
		j.putBack(entriesOf(list))
		return err
	}
	j.putBack(op.left)
	if moving == 0 {
		return nil
	}
	if err := <-op.result; err != nil {
		return err
	}
	j.note(func(p *JobProgress) { p.Done += int64(moving) })
	return nil
}

// putBack lays messages back that were taken.
func (j *Job) putBack(entries []*entry) {
	q := j.q
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range entries {
		if e.state == Scheduled {
			q.schedule.putBack(e)
			continue
		}
		q.messages.free(e, q.ns.Now())
	}
}

// prepare makes of messages what the target is to get, and puts those back that can't be moved.
func (j *Job) prepare(list []forwarded, target *Entity) (good []forwarded) {
	needsSession, limit := target.Options().RequiresSession, target.MaxMessageSize()
	for _, m := range list {
		err := j.edit(&m)
		switch size := int64(len(m.in.m.Raw)); {
		case err != nil:
		case m.damaged:
			err = errorf(CodeNotAllowed, target.path,
				"The body of the message is damaged on disk. It stays where it is.")
		case needsSession && !m.in.info.HasGroupID:
			err = errorf(CodeNotAllowed, target.path,
				"The message has no session id, which '%s' requires.", target.path)
		case size > limit:
			err = messageTooLarge(target.path, size, limit)
		}
		if err != nil {
			j.fail(m.e.seq, err)
			j.putBack([]*entry{m.e})
			continue
		}
		good = append(good, m)
	}
	return good
}

// edit carries out the edit. The message starts as new: no transfers, and no dead-lettering except in its properties.
func (j *Job) edit(m *forwarded) error {
	edit := &j.options.Edit
	x := extra{overlay: m.e.extras().overlay, system: m.e.extras().system}
	if edit.Strip || len(edit.Remove) > 0 || edit.Properties != nil {
		x.overlay, x.system = edit.rewrite(&m.in.m, x.overlay, x.system)
	}
	x.system = message.MergeProperties(x.system, edit.System)
	fresh := edit.Body != nil
	if fresh {
		if !m.in.info.HasMessageID { // the id that the broker made follows from the body's
			made := j.q.ns.ids.of(m.e.body.id)
			id, err := message.EncodeProperties(message.Map{{Key: message.SystemMessageID, Value: made}})
			if err != nil {
				return err
			}
			x.system = message.MergeProperties(id, x.system)
		}
		if err := m.replaceBody(edit.Body); err != nil {
			return err
		}
	}
	if v, ok := message.LookupProperty(x.overlay, DeadLetterReason); ok {
		x.reason, _ = v.(string)
	}
	if len(x.overlay)+len(x.system) > maxHeaderBytes {
		return errorf(CodeArgument, j.q.path, "The changed properties have more than %d bytes.", maxHeaderBytes)
	}
	m.in.info.Overlay(x.system)
	m.moved = &moved{x, fresh}
	return nil
}

// rewrite returns the overlays of a message with the properties that the edit leaves and sets.
func (edit *Edit) rewrite(m *message.Message, overlay, system []byte) (users, brokers []byte) {
	removed := make(map[string]bool)
	for _, name := range edit.Remove {
		removed[name] = true
	}
	if edit.Strip {
		removed[DeadLetterReason], removed[DeadLetterErrorDescription] = true, true
	}
	for e := message.OverlayEntries(edit.Properties); e.Next(); {
		removed[string(e.Key())] = true // and comes again
	}
	p := message.Patch{Properties: overlay, System: system, OmitBody: true}
	now, err := message.Scan(p.Append(nil, m))
	if err != nil {
		return overlay, system // every stored message was scanned before
	}
	var o message.Overlay
	for e := now.UserProperties(); e.Next(); {
		if !removed[string(e.Key())] {
			o.Add(string(e.Key()), e.Encoded())
		}
	}
	for e := message.OverlayEntries(edit.Properties); e.Next(); {
		o.Add(string(e.Key()), e.Encoded())
	}
	var s message.Overlay
	s.Add(message.SystemReplace, message.Scalar{Type: message.TypeBool, Bits: 1}.Append(nil))
	return o.Bytes(), message.MergeProperties(system, s.Bytes())
}

// replaceBody puts other sections in the place of the body.
func (m *forwarded) replaceBody(body []byte) error {
	at := m.in.m.Body
	if at.Empty() {
		at = message.Span{Start: uint32(len(m.in.m.Raw)), End: uint32(len(m.in.m.Raw))}
	}
	scanned, err := message.Scan(slices.Concat(m.in.m.Raw[:at.Start], body, m.in.m.Raw[at.End:]))
	m.in = incoming{m: scanned, info: m.in.info, hops: m.in.hops}
	return err
}
