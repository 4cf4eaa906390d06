package emulator

import (
	"slices"
)

// Start sets a job to work on the messages of a sub-queue that are there now. Jobs leave alone what clients have locked. A purge works whatever
// the entity's status, as an administrator's work. A move is one change in the journal for each batch, so that no message is lost or doubled
// whenever the process ends. If its target does not take messages, the job fails, and what has not been moved is where it was.
//
// It fails with CodeArgument if the options are wrong, with CodeNotFound if there is no target, and with CodeQuotaExceeded if [MaxJobs] run.
func (t *Jobs) Start(q *Entity, o JobOptions) (*Job, error) {
	o.Select.Seqs = slices.Compact(slices.Sorted(slices.Values(o.Select.Seqs)))
	if len(o.Select.States) == 0 {
		o.Select.States = []State{Active}
	}
	wanted, err := newSelector(q, o.Sub, o.Select)
	if err != nil {
		return nil, err
	}
	j := &Job{selector: wanted, options: o, started: q.ns.Now(), from: -1 << 63, cancel: make(chan struct{}), done: make(chan struct{})}
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
		return errorf(CodeNotAllowed, target.path, "Messages can't be moved to the subscription '%s': move them to its topic '%s'. "+
			"Only those in its own dead-letter queue can go back to it.", target.path, target.subscription.topic.path)
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
	more, err := true, error(nil)
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

// takeLocked marks messages as being worked on, of those that are still as they were seen. The entity, should it be deleted, waits until giveUp.
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
		q.ns.forwarding.add()
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
		j.q.sessions.open(e)
	}
	j.q.mu.Unlock()
	j.q.forwarder.running.done()
	j.q.ns.forwarding.done()
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
