package emulator

// faultsAtOnce is how often in a row messages that could not be delivered are put back at once.
const faultsAtOnce = 16

// faults are deliveries of an entity that failed for want of the journal. The entity's mutex guards them.
type faults struct {
	q      *Entity
	inARow int
}

// note counts how often in a row messages could not be delivered.
func (f *faults) note(failed bool) {
	if f.inARow++; !failed {
		f.inARow = 0
	}
}

// restAll puts back messages that could not be delivered. Without any, the fault is over.
func (f *faults) restAll(entries []*entry) {
	f.note(len(entries) > 0)
	now := f.q.ns.Now()
	for _, e := range entries {
		f.rest(e, now)
	}
}

// rest puts back a message that could not be delivered: at once for the first few failures in a row, then after a
// pause, since a waiting consumer takes it again the moment it is there.
func (f *faults) rest(e *entry, now int64) {
	if f.inARow <= faultsAtOnce {
		f.q.messages.rest(e, now)
		return
	}
	f.q.locks.withhold(e, e.inSession(e.state), true)
}
