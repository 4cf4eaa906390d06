package emulator

// undeliveredAtOnce is how often in a row messages that could not be delivered are put back at once.
const undeliveredAtOnce = 16

// undelivered are messages of an entity whose delivery failed for want of the journal. The entity's mutex guards them.
type undelivered struct {
	q      *Entity
	inARow int
}

// note counts how often in a row messages could not be delivered.
func (u *undelivered) note(failed bool) {
	if u.inARow++; !failed {
		u.inARow = 0
	}
}

// freeAll puts back messages that could not be delivered. Without any, deliveries work again.
func (u *undelivered) freeAll(entries []*entry) {
	u.note(len(entries) > 0)
	now := u.q.ns.Now()
	for _, e := range entries {
		u.free(e, now)
	}
}

// free puts back a message that could not be delivered: at once for the first few failures in a row, then after a
// pause, since a waiting consumer takes it again the moment it is there.
func (u *undelivered) free(e *entry, now int64) {
	if u.inARow <= undeliveredAtOnce {
		u.q.messages.free(e, now)
		return
	}
	u.q.locks.delayRedelivery(e, e.inSession(e.state), true)
}
