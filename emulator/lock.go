package emulator

import (
	crand "crypto/rand"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// lockTable has the locks of an entity's messages. The entity's mutex guards it.
type lockTable struct {
	q       *Entity
	byToken map[LockToken]*entry
	ends    deadlines[*entry] // of those that do not end with a session's
	tokens  *rand.ChaCha8     // nil until the first lock
}

func (lt *lockTable) init(q *Entity) {
	lt.q = q
	lt.ends = newDeadlines(func(e *entry, at int64) bool { return e.lock != nil && e.lock.until == at }, seqOf)
}

// newTokens returns a source of lock tokens. They are unique, not secret: a client that may settle may also receive.
func newTokens() *rand.ChaCha8 {
	var seed [32]byte
	crand.Read(seed[:])
	return rand.NewChaCha8(seed)
}

// newToken makes a version 4 UUID.
func (lt *lockTable) newToken() LockToken {
	if lt.tokens == nil {
		lt.tokens = newTokens()
	}
	var t LockToken
	binary.BigEndian.PutUint64(t[:8], lt.tokens.Uint64())
	binary.BigEndian.PutUint64(t[8:], lt.tokens.Uint64())
	t[6] = t[6]&0x0f | 0x40
	t[8] = t[8]&0x3f | 0x80
	return t
}

// hold gives e the lock l.
func (lt *lockTable) hold(e *entry, l *Lock) {
	e.mark, e.lock = markLocked, l
	if lt.byToken == nil {
		lt.byToken = make(map[LockToken]*entry)
	}
	lt.byToken[l.token] = e
	if l.until == sessionLock {
		l.holder.hold.locked++
		return
	}
	lt.ends.add(e, l.until)
	lt.q.alarm.set(l.until)
}

// sessionLock is the until of locks that end with their session's (SESS-12).
const sessionLock = math.MaxInt64

// expires returns when the lock ends, or would have ended.
func (l *Lock) expires() int64 {
	if l.until == sessionLock {
		return l.holder.hold.until
	}
	return l.until
}

// deferredUntil returns when the lock of a deferred message ends or has ended, 0 if that is not known: since a
// restart it has not been locked (DEC-21).
func (e *entry) deferredUntil() int64 {
	switch {
	case e.lock != nil:
		return e.lock.expires()
	case e.session != nil && e.session.hold != nil: // SESS-12
		return e.session.hold.until
	case e.extra == nil:
		return 0
	}
	return e.extra.until
}

// unlock takes the lock from e and leaves it busy; its token is dead from here on.
func (lt *lockTable) unlock(e *entry) *Lock {
	l := e.lock
	e.lock, e.mark = nil, markBusy
	delete(lt.byToken, l.token)
	if l.until == sessionLock {
		l.holder.hold.locked--
	} else {
		lt.ends.remove(l.until)
	}
	if l.blocksSession {
		e.session.returning--
	}
	if l.kept {
		l.holder.lockEndedLocked(l)
	}
	return l
}

// entryOfToken returns the entry that the token locks, or nil if the lock is gone or over (LOCK-8), or a transaction
// has the message (TXN-17).
func (lt *lockTable) entryOfToken(t LockToken, now int64) *entry {
	e := lt.byToken[t]
	if e == nil || e.lock.expires() <= now || e.lock.tx != nil {
		return nil
	}
	return e
}

// free puts an unlocked entry back in its place: an active one becomes available again (ORD-3), a deferred
// one is deferred again (DC-5, DEF-6), and one that expired while it was locked goes the way of expired messages
// (EXP-8).
func (m *messages) free(e *entry, now int64) {
	b := m.q.subQueue(e.sub)
	b.remark(e, markFree)
	if e.state != Active {
		return
	}
	b.makeAvailable(e)
	if b.selectorIndexes != nil {
		b.selectorIndexes.markReady(e)
	}
	if e.expired(now) {
		m.expire([]*entry{e}, now)
		return
	}
	m.announce(e)
}

// lockForDelivery locks an entry that was picked for a delivery, from now on (LOCK-2).
func (lt *lockTable) lockForDelivery(e *entry, now int64) {
	l := &Lock{token: lt.newToken(), until: now + lt.q.options.lockDuration().Milliseconds()}
	if e.session != nil {
		l.until, l.holder = sessionLock, e.session.hold.by
	}
	lt.hold(e, l)
}

// failuresAtOnce bounds how often in a row messages that could not be delivered are put back without a pause.
const failuresAtOnce = 16

// failedDeliveries counts the deliveries of an entity that failed because the journal did, and puts their messages
// back. The entity's mutex guards it.
type failedDeliveries struct {
	q      *Entity
	inARow int
}

// note counts how often in a row messages could not be delivered.
func (f *failedDeliveries) note(failed bool) {
	if f.inARow++; !failed {
		f.inARow = 0
	}
}

// freeAll puts back messages that could not be delivered. Without any, deliveries work again.
func (f *failedDeliveries) freeAll(entries []*entry) {
	f.note(len(entries) > 0)
	now := f.q.ns.Now()
	for _, e := range entries {
		f.free(e, now)
	}
}

// free puts back a message that could not be delivered: at once for the first few failures in a row, then after a
// pause, since a waiting consumer takes it again the moment it is there.
func (f *failedDeliveries) free(e *entry, now int64) {
	if f.inARow <= failuresAtOnce {
		f.q.messages.free(e, now)
		return
	}
	f.q.locks.delayRedelivery(e, e.inSession(e.state), true)
}
