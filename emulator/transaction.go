package emulator

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minibus/emulator/clock"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
)

// Limits of a transaction.
const (
	transactionTime = 2 * time.Minute // from its first operation (TXN-3)
	maxTransaction  = 100             // messages sent (TXN-12)
)

// Transaction collects sends, settlements, changes of schedules and states of sessions that take effect together,
// when it is committed, or not at all (TXN-2). Its methods may be called from any goroutine; those of one transaction
// take turns.
//
// Lock order: Transaction.mu before the queues' mutexes.
type Transaction struct {
	ns   *Namespace
	lost atomic.Bool // the lock of a message that it settles has ended (TXN-18)

	// guarded by mu
	mu       sync.Mutex
	entered  bool // it has taken an operation
	ended    bool
	timedOut bool
	timer    clock.Timer
	root     string // the entity that it is pinned to (TXN-8); "" until the first operation
	cross    bool   // it may send to other entities, through the root (TXN-9)
	messages int
	work     []txWork // in the order of the operations
	client   *Client  // does the next operation
}

// txWork is one operation to apply at commit.
type txWork struct {
	q        *Entity
	via      *Entity      // of a transfer: where it goes if its destination does not take it (TXN-11); else nil
	sends    []incoming   // messages to store
	numbers  *reservation // of messages that are scheduled; else nil
	entries  []*entry     // messages to settle or to cancel
	settle   Settlement
	own      bool // settled by the receiver that has the delivery, which hears of the end of the transaction
	isCancel bool
	holder   *Consumer // of the session that gets the state; else nil
	state    []byte
	client   *Client // did it

	partition int // of all of it, in what carries the transaction; only where that has partitions
}

// Begin opens a transaction. With cross it may send to several entities; it is then pinned to via, which may be ""
// until its first operation (TXN-9). A subscription stands for its topic there (TXN-10).
func (ns *Namespace) Begin(cross bool, via string) *Transaction {
	t := &Transaction{ns: ns}
	t.Rebind(cross, via)
	return t
}

// Introduce says who does the operations that follow, for the record.
func (t *Transaction) Introduce(w *Client) {
	t.mu.Lock()
	t.client = w
	t.mu.Unlock()
}

// Rebind pins a transaction as Begin does and reports whether it could: one that has taken an operation stays as it is,
// unless that was on a temporary queue.
func (t *Transaction) Rebind(cross bool, via string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entered && t.root != "" {
		return false
	}
	t.cross, t.root = cross, strings.ToLower(entitypath.Root(via))
	return true
}

// enterLocked checks that the transaction takes an operation on the entity.
func (t *Transaction) enterLocked(q *Entity, send bool) error {
	if t.ended {
		return t.endedLocked(q.path)
	}
	root := strings.ToLower(q.rootPath())
	if t.root != "" && t.root != root && !(send && t.cross) && !q.temporary { // JMS-6
		return errorf(CodeNotAllowed, q.path,
			"The transaction is bound to the entity '%s' and can't work on '%s' as well: "+
				"all operations of a transaction must be on the same entity.", t.root, q.path)
	}
	return nil
}

// enteredLocked notes that the transaction took an operation on the entity. The first one binds it to the entity
// (TXN-8, TXN-9) and starts its time (TXN-3); one that is refused is none (TXN-16).
func (t *Transaction) enteredLocked(q *Entity) {
	if t.root == "" && !q.temporary { // JMS-6
		t.root = strings.ToLower(q.rootPath())
	}
	if t.entered {
		return
	}
	t.entered = true
	t.timer = t.ns.clock.At(t.ns.clock.Now().Add(transactionTime), t.timeOut)
}

// endedLocked returns the error for the use of the transaction after its end.
func (t *Transaction) endedLocked(entity string) *Error {
	if t.timedOut {
		return errorf(CodeTransactionTimedOut, entity,
			"The transaction has timed out: it must be discharged within two minutes of its first operation.")
	}
	return errorf(CodeTransactionEnded, entity, "The transaction has ended.")
}

// rootPath names what counts as one entity in a transaction (TXN-8).
func (q *Entity) rootPath() string {
	if q.subscription != nil {
		return q.subscription.topic.path
	}
	return q.path
}

func (t *Transaction) timeOut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.timedOut = true
		t.rollbackLocked()
	}
}

// Send adds messages that are stored at commit, invisible and without numbers until then (TXN-2, SEQ-19). What can be
// checked now is (TXN-19).
func (t *Transaction) Send(q *Entity, msgs []message.Message) error {
	_, err := t.store(q, msgs, false)
	return err
}

// Schedule adds messages as Send does and returns their numbers, which name them once the transaction is committed
// (SCHED-19).
func (t *Transaction) Schedule(q *Entity, msgs []message.Message) ([]int64, error) {
	return t.store(q, msgs, true)
}

func (t *Transaction) store(q *Entity, msgs []message.Message, numbers bool) ([]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.enterLocked(q, !numbers); err != nil {
		return nil, err
	}
	if t.messages+len(msgs) > maxTransaction {
		return nil, errorf(CodeQuotaExceeded, q.path, "Cannot send more than %d messages in a single transaction.",
			maxTransaction)
	}
	in, err := q.inspectSent(nil, msgs)
	if err != nil {
		return nil, err
	}
	if len(in) == 0 {
		t.enteredLocked(q)
		return nil, nil
	}
	w := txWork{q: q, sends: in, client: t.client}
	if root := strings.ToLower(q.rootPath()); t.root != "" && root != t.root && !q.temporary {
		w.via, _ = t.ns.Entity(t.root)
		for i := range in {
			in[i].hops = 1 // FWD-9
		}
	}
	return t.storeLocked(&w, numbers)
}

// storeLocked adds a send that is prepared.
func (t *Transaction) storeLocked(w *txWork, numbers bool) (seqs []int64, err error) {
	q := w.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.store(w.sends); err != nil && !(w.via != nil && isDisabled(err)) {
		q.refusedLocked(w.sends, err, w.client)
		return nil, err
	}
	if numbers {
		if err := q.may.browse(Main); err != nil {
			return nil, err
		}
	}
	if w.partition, err = t.partitionOfSendLocked(q, w.via, w.sends); err != nil {
		return nil, err
	}
	if numbers {
		w.numbers = newReservation(q, w.sends)
		seqs = w.numbers.seqs
	}
	t.enteredLocked(q)
	t.messages += len(w.sends)
	t.work = append(t.work, *w)
	return seqs, nil
}

func isDisabled(err error) bool {
	e, ok := err.(*Error) //nolint:errorlint // store returns it unwrapped
	return ok && e.Code == CodeEntityDisabled
}

// Settle adds a settlement. Until the end of the transaction the messages stay locked, by the same locks, and their
// tokens settle nothing else (TXN-6, TXN-17). Errors are those of [Entity.Settle], and CodeNotAllowed if the
// transaction does not work on the entity or its partition. After any of them the messages are locked as before
// (TXN-15).
func (t *Transaction) Settle(q *Entity, tokens []LockToken, s Settlement) error {
	return t.settle(q, tokens, s, false)
}

// SettleIn settles a delivery of this consumer in a transaction, as [Transaction.Settle] does. The receiver forgets
// the delivery only once the transaction is committed, and is not told then that the lock has ended.
func (c *Consumer) SettleIn(t *Transaction, l *Lock, s Settlement) error {
	token := [1]LockToken{l.token}
	return t.settle(c.q, token[:], s, true)
}

func (t *Transaction) settle(q *Entity, tokens []LockToken, s Settlement, own bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.settle(); err != nil {
		return err
	}
	now := q.ns.Now()
	entries, err := q.locks.entriesOfTokens(nil, tokens, now)
	if err != nil {
		q.locks.refused(now, t.client, err)
		return err
	}
	if err := t.enterLocked(q, false); err != nil {
		return err
	}
	partition, err := t.partitionOfEntriesLocked(q, entries)
	if err != nil {
		return err
	}
	if s.Outcome == DeadLetterOutcome {
		if err := q.locks.refuseDeadLetter(entries); err != nil {
			return err
		}
	}
	for _, e := range entries {
		e.lock.tx = t
	}
	q.usage.touch(now)
	t.enteredLocked(q)
	t.work = append(t.work, txWork{q: q, entries: entries, settle: s, own: own, partition: partition, client: t.client})
	return nil
}

// Renew renews locks at once, as [Entity.Renew] does, those of messages that the transaction will settle too (TXN-1). A
// rollback does not undo it.
func (t *Transaction) Renew(q *Entity, tokens []LockToken) ([]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.enterLocked(q, false); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	untils, err := q.locks.renew(tokens, t, t.client)
	if err == nil {
		t.enteredLocked(q)
	}
	return untils, err
}

// CancelScheduled adds that scheduled messages are deleted (SCHED-19). They do not become due before the transaction
// ends.
func (t *Transaction) CancelScheduled(q *Entity, seqs []int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.enterLocked(q, false); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	found, err := q.schedule.find(seqs)
	if err != nil {
		return err
	}
	partition, err := t.partitionOfEntriesLocked(q, found)
	if err != nil {
		return err
	}
	for _, e := range found {
		e.mark = markBusy
	}
	t.enteredLocked(q)
	t.work = append(t.work, txWork{q: q, entries: found, isCancel: true, partition: partition, client: t.client})
	return nil
}

// SetSessionState adds that the state of a consumer's session becomes another one, as [Consumer.SetSessionState] says
// (SESS-25). The consumer must hold the session until the commit (TXN-18).
func (t *Transaction) SetSessionState(c *Consumer, state []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := c.q
	if err := t.enterLocked(q, false); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := c.holdsLocked(); err != nil {
		return err
	}
	if err := q.sessions.checkState(state); err != nil {
		return err
	}
	partition, err := t.partitionOfSessionLocked(q, c.session)
	if err != nil {
		return err
	}
	q.usage.touch(q.ns.Now())
	c.session.setState().writing++
	t.enteredLocked(q)
	t.work = append(t.work, txWork{q: q, holder: c, state: state, partition: partition, client: t.client})
	return nil
}

// Rollback ends the transaction without effect. Messages that it would have settled stay locked (TXN-6), but for those
// that their clients have forgotten (JMS-5).
func (t *Transaction) Rollback() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.rollbackLocked()
	}
}

func (t *Transaction) rollbackLocked() {
	t.endLocked()
	for _, w := range t.work {
		w.q.mu.Lock()
		t.undoLocked(&w)
		w.q.mu.Unlock()
	}
	t.work = nil
}

func (t *Transaction) endLocked() {
	t.ended = true
	if t.timer != nil {
		t.timer.Stop()
	}
}

// undoLocked gives up one operation; the caller holds its queue's mutex.
func (t *Transaction) undoLocked(w *txWork) {
	if w.holder != nil {
		w.releaseStateLocked()
	}
	var failed []*entry
	for _, e := range w.entries {
		switch {
		case w.isCancel:
			w.q.schedule.putBack(e)
		case e.lock != nil && e.lock.tx == t:
			if e.lock.tx = nil; w.settle.Forgotten {
				failed = append(failed, e)
			}
		}
	}
	if len(failed) > 0 && w.q.may.use() == nil {
		w.q.locks.fail(failed, EventAbandoned, w.q.ns.Now())
	}
}

// releaseStateLocked lets a session go that was kept for the state that it was to get.
func (w *txWork) releaseStateLocked() {
	s := w.holder.session
	s.state.writing--
	w.q.sessions.forget(s)
}
