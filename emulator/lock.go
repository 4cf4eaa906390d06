package emulator

import (
	"encoding/binary"
	"encoding/hex"
	"math"
)

// LockToken identifies one delivery of a message (LOCK-3), in RFC 4122 byte order.
type LockToken [16]byte

// String returns the usual text form of a UUID.
func (t LockToken) String() string {
	var b [36]byte
	hex.Encode(b[0:8], t[0:4])
	hex.Encode(b[9:13], t[4:6])
	hex.Encode(b[14:18], t[6:8])
	hex.Encode(b[19:23], t[8:10])
	hex.Encode(b[24:36], t[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// newTokenLocked makes a version 4 UUID.
func (q *Queue) newTokenLocked() LockToken {
	var t LockToken
	binary.BigEndian.PutUint64(t[:8], q.tokens.Uint64())
	binary.BigEndian.PutUint64(t[8:], q.tokens.Uint64())
	t[6] = t[6]&0x0f | 0x40
	t[8] = t[8]&0x3f | 0x80
	return t
}

// holdLocked gives e the lock l.
func (q *Queue) holdLocked(e *entry, l *Lock) {
	e.mark, e.lock = markLocked, l
	q.locks[l.token] = e
	if l.until == sessionLock {
		e.session.locked++
		return
	}
	q.lockEnds.add(e, l.until)
	q.rearmLocked(l.until)
}

// sessionLock is the until of locks that end with their session's (SESS-12).
const sessionLock = math.MaxInt64

// lockedUntil returns when the entry's lock ends.
func (e *entry) lockedUntil() int64 {
	if e.lock.until == sessionLock {
		return e.session.until
	}
	return e.lock.until
}

// unlockLocked takes the lock from e and leaves it busy; its token is dead from here on.
func (q *Queue) unlockLocked(e *entry) *Lock {
	l := e.lock
	e.lock, e.mark = nil, markBusy
	delete(q.locks, l.token)
	if l.until == sessionLock {
		e.session.locked--
	} else {
		q.lockEnds.remove(l.until)
	}
	if l.back {
		e.session.returning--
	}
	if l.kept {
		l.holder.lapseLocked(l)
	}
	return l
}

// lockedLocked returns the entry that the token locks, or nil if the lock is gone or over (LOCK-8), or a transaction
// has the message (TXN-17).
func (q *Queue) lockedLocked(t LockToken, now int64) *entry {
	e := q.locks[t]
	if e == nil || e.lockedUntil() <= now || e.lock.tx != nil {
		return nil
	}
	return e
}

// restLocked puts an unlocked entry back in its place: an active one becomes available again (ORD-3), a deferred
// one is deferred again (DC-5, DEF-6), and one that expired while it was locked goes the way of expired messages
// (EXP-8).
func (q *Queue) restLocked(e *entry, now int64) {
	b := q.box(e.sub)
	b.remark(e, markFree)
	if e.state != Active {
		return
	}
	b.makeAvailable(e)
	if e.expired(now) {
		q.expireLocked([]*entry{e}, now)
		return
	}
	q.stirLocked(e)
}

// Renew lets the locks of all tokens end one lock duration from now and returns when that is, in the order of the
// tokens (LOCK-4). If one of the locks is gone none is renewed and the error is CodeMessageLockLost (LOCK-5, LOCK-6).
func (q *Queue) Renew(tokens []LockToken) ([]int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.renewLocked(tokens, nil)
}

// renewLocked is Renew; tx may renew the locks of messages that it will settle.
func (q *Queue) renewLocked(tokens []LockToken, tx *Transaction) ([]int64, error) {
	if err := q.canSettleLocked(); err != nil {
		return nil, err
	}
	now := q.ns.Now()
	for _, t := range tokens {
		if e := q.locks[t]; q.lockedLocked(t, now) == nil &&
			(e == nil || tx == nil || e.lock.tx != tx || e.lockedUntil() <= now) {
			return nil, lockLost(q.path)
		}
	}
	until := now + q.options.lockDuration().Milliseconds()
	untils := make([]int64, len(tokens))
	for i, t := range tokens {
		e := q.locks[t]
		old := e.lock.until
		if old == sessionLock { // SESS-21
			untils[i] = e.session.until
			continue
		}
		e.lock.until = until
		q.lockEnds.remove(old)
		q.lockEnds.add(e, until)
		untils[i] = until
	}
	q.touchLocked(now)
	q.rearmLocked(until)
	return untils, nil
}

// lockLocked locks an entry that was picked for a delivery, from now on (LOCK-2).
func (q *Queue) lockLocked(e *entry, now int64) {
	l := &Lock{token: q.newTokenLocked(), until: now + q.options.lockDuration().Milliseconds()}
	if e.session != nil {
		l.until, l.holder = sessionLock, e.session.holder
	}
	q.holdLocked(e, l)
}
