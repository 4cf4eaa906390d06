package emulator

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
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

// lockTable has the locks of an entity's messages. The entity's mutex guards it.
type lockTable struct {
	q       *Entity
	byToken map[LockToken]*entry
	ends    deadlines[*entry] // of those that do not end with a session's
	tokens  *rand.ChaCha8
}

func (lt *lockTable) init(q *Entity) {
	*lt = lockTable{q: q, byToken: make(map[LockToken]*entry), tokens: newTokens()}
	lt.ends = newDeadlines(func(e *entry, at int64) bool { return e.lock != nil && e.lock.until == at }, seqOf)
}

// newToken makes a version 4 UUID.
func (lt *lockTable) newToken() LockToken {
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
	lt.byToken[l.token] = e
	if l.until == sessionLock {
		e.session.locked++
		return
	}
	lt.ends.add(e, l.until)
	lt.q.alarm.set(l.until)
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

// unlock takes the lock from e and leaves it busy; its token is dead from here on.
func (lt *lockTable) unlock(e *entry) *Lock {
	l := e.lock
	e.lock, e.mark = nil, markBusy
	delete(lt.byToken, l.token)
	if l.until == sessionLock {
		e.session.locked--
	} else {
		lt.ends.remove(l.until)
	}
	if l.back {
		e.session.returning--
	}
	if l.kept {
		l.holder.lapseLocked(l)
	}
	return l
}

// entryOfToken returns the entry that the token locks, or nil if the lock is gone or over (LOCK-8), or a transaction
// has the message (TXN-17).
func (lt *lockTable) entryOfToken(t LockToken, now int64) *entry {
	e := lt.byToken[t]
	if e == nil || e.lockedUntil() <= now || e.lock.tx != nil {
		return nil
	}
	return e
}

// rest puts an unlocked entry back in its place: an active one becomes available again (ORD-3), a deferred
// one is deferred again (DC-5, DEF-6), and one that expired while it was locked goes the way of expired messages
// (EXP-8).
func (m *messages) rest(e *entry, now int64) {
	b := m.q.box(e.sub)
	b.remark(e, markFree)
	if e.state != Active {
		return
	}
	b.makeAvailable(e)
	if e.expired(now) {
		m.expire([]*entry{e}, now)
		return
	}
	m.stir(e)
}

// Renew lets the locks of all tokens end one lock duration from now and returns when that is, in the order of the
// tokens (LOCK-4). If one of the locks is gone none is renewed and the error is CodeMessageLockLost (LOCK-5, LOCK-6).
func (q *Entity) Renew(tokens []LockToken) ([]int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.locks.renew(tokens, nil)
}

// renew is Renew; tx may renew the locks of messages that it will settle.
func (lt *lockTable) renew(tokens []LockToken, tx *Transaction) ([]int64, error) {
	if err := lt.q.may.settle(); err != nil {
		return nil, err
	}
	now := lt.q.ns.Now()
	for _, t := range tokens {
		if e := lt.byToken[t]; lt.entryOfToken(t, now) == nil &&
			(e == nil || tx == nil || e.lock.tx != tx || e.lockedUntil() <= now) {
			return nil, lockLost(lt.q.path)
		}
	}
	until := now + lt.q.options.lockDuration().Milliseconds()
	untils := make([]int64, len(tokens))
	for i, t := range tokens {
		e := lt.byToken[t]
		old := e.lock.until
		if old == sessionLock { // SESS-21
			untils[i] = e.session.until
			continue
		}
		e.lock.until = until
		lt.ends.remove(old)
		lt.ends.add(e, until)
		untils[i] = until
	}
	lt.q.usage.touch(now)
	lt.q.alarm.set(until)
	return untils, nil
}

// lockForDelivery locks an entry that was picked for a delivery, from now on (LOCK-2).
func (lt *lockTable) lockForDelivery(e *entry, now int64) {
	l := &Lock{token: lt.newToken(), until: now + lt.q.options.lockDuration().Milliseconds()}
	if e.session != nil {
		l.until, l.holder = sessionLock, e.session.holder
	}
	lt.hold(e, l)
}
