package emulator

// parked is the messages of a dead-letter queue that can't be forwarded to its target, whatever state that is in, for they
// have no session id and it needs one (FWD-6). In a dead-letter queue they can't be dead-lettered: they wait (DEC-28), apart,
// so that those behind them go on and nobody tries them again and again. They are tried again when the target is another
// entity, which is looked for now and then, and when the settings of the source change.
type parked struct {
	entries []*entry // marked as moving
	target  int64    // id of the target that they can't go to
	lookAt  int64    // ms; when to look for another one
}

// due reports whether it is time to look for another target.
func (p *parked) due(now int64) bool { return len(p.entries) > 0 && now >= p.lookAt }

// park sets messages of the dead-letter queue aside.
func (q *Queue) park(entries []*entry, target *Queue) {
	if len(entries) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.forwardTargetLocked(DeadLetter) == "" { // taken away meanwhile: nobody would look for another one
		for _, e := range entries {
			q.restLocked(e, q.ns.Now())
		}
		return
	}
	q.parked.entries = append(q.parked.entries, entries...)
	q.parked.target = target.id
	q.lookLaterLocked()
}

// reconsiderLocked lets parked messages be tried again if the target is another one than they could not go to; nil says
// that there is none.
func (q *Queue) reconsiderLocked(target *Queue) {
	switch now := q.ns.Now(); {
	case !q.parked.due(now):
	case target != nil && target.id != q.parked.target:
		q.unparkLocked()
	default:
		q.lookLaterLocked()
	}
}

func (q *Queue) lookLaterLocked() {
	q.parked.lookAt = q.laterLocked()
	q.rearmLocked(q.parked.lookAt)
}

// unparkLocked puts parked messages back in their places.
func (q *Queue) unparkLocked() {
	entries := q.parked.entries
	q.parked = parked{}
	for _, e := range entries {
		q.restLocked(e, q.ns.Now())
	}
}
