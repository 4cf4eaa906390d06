package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"minibus/emulator"
)

// Sizes of a step of a copy: one or two milliseconds of work, so that commits hardly wait for it.
const (
	copyRows  = 100
	copyBytes = 256 << 10
)

// copies makes the copies, one after the other, in small transactions between the batches. A copy is that of one moment although the namespace goes on
// meanwhile: what a change is about to overwrite or remove is copied before, by the transaction of the change (keeping.go).
//
// The copies lie in the same database. So those of a file and in memory are the same, a crash needs no other remedy than what removes deleted
// namespaces, and there is no long read: one would keep the write-ahead log from beginning anew, and the log has a ceiling.
type copies struct {
	w      *writer
	active []*copying
	size   int // rows of a step
	live   int // those of namespaces that go on meanwhile

	turn copyTurn

	prepared   bool
	entities   *stmt
	counters   *stmt
	history    *stmt
	addHistory *stmt
	sessions   *stmt
	addSession *stmt
	lastOf     *stmt
	rows       *stmt

	published     *stmt
	publishedFrom *stmt

	sizes      *stmt
	bodies     *stmt
	partsOf    *stmt
	parts      *stmt
	keepBodies *stmt
	keepParts  *stmt

	keepOne        *stmt
	keepPartsOfOne *stmt
}

// copying is a copy that is being made.
type copying struct {
	w        *writer
	ctx      context.Context          // of the request that waits for it
	of       int64                    // number of the snapshot to copy, if it is none of a namespace
	snapshot *emulator.SnapshotRecord // what the copy becomes; nil: it is one to be adopted
	instead  int64
	from, to *space
	offset   int64 // what makes an id of one an id of the other
	high     int64 // greatest id when the copy began; newer rows do not belong to it
	done     emulator.Completion

	kept   keeping
	walked progress
}

// progress is how far a copy has come. A step that fails is tried again from where it began.
type progress struct {
	phase   int
	left    int   // rows that the step in hand may still copy
	cursor  int64 // last row, entity or body
	session string
	at      int64
	keys    []byte
	part    int64 // of a large body

	messages, bytes int64
}

// phases of a copy. Entities and counters are copied by its first transaction.
var copyPhases = []func(c *copying) (end bool, err error){
	(*copying).copyHistory, (*copying).copySessions, (*copying).copyRows, (*copying).copyBodies, (*copying).dropLoose, (*copying).finish,
}

// ended reports whether there is nothing left to do.
func (c *copying) ended() bool { return c.walked.phase == len(copyPhases) }

// begin runs in the transaction of the change that asks for the copy.
func (cs *copies) begin(number int64) error {
	x, ok := cs.w.s.copies.Load(number)
	if !ok {
		return &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf("copy %d was not asked for", number)}
	}
	c := x.(*copying)
	n := &cs.w.namespaces
	if c.snapshot != nil {
		c.from = n.current[c.snapshot.Namespace]
	} else {
		c.from = n.byNumber[c.of]
	}
	if c.from == nil || c.from.dead || c.from.copying != nil {
		return noNamespace(c.of)
	}
	if err := cs.prepare(); err != nil {
		return err
	}
	if err := cs.w.writePending(); err != nil { // what came before belongs to the copy
		return err
	}
	c.w, c.high, c.offset = cs.w, c.from.high, (c.to.number-c.from.number)*rowsOfNumber
	if err := n.reserve(c.from, c.to); err != nil {
		return err
	}
	if err := c.copyEntities(); err != nil {
		return err
	}
	cs.add(c)
	return nil
}

// rowsOfNumber is the distance of the ids of a number to those of the next.
var rowsOfNumber = func() int64 {
	first, _ := emulator.RowsOf(1)
	next, _ := emulator.RowsOf(2)
	return next - first
}()

// add lets a copy go on once the open transaction is committed. Changes that follow in it have to keep what they overwrite.
func (cs *copies) add(c *copying) {
	cs.active = append(cs.active, c)
	first, _ := emulator.RowsOf(c.from.number)
	c.kept = keeping{}
	c.walked = progress{cursor: first - 1}
	cs.turn.passed(cs.w.sweeper.pending())
	live := c.snapshot != nil
	if live {
		cs.live++
		c.from.copying = c
	}
	cs.w.undo = append(cs.w.undo, func() {
		cs.active = cs.active[:len(cs.active)-1]
		if live {
			cs.live--
			c.from.copying = nil
		}
	})
}

// step does a step of the copy that has waited longest, and reports whether there was one.
func (cs *copies) step() bool {
	if len(cs.active) == 0 {
		return false
	}
	c := cs.active[0]
	if err := c.ctx.Err(); err != nil { // who asked for it has gone
		cs.end(c, err)
		return true
	}
	before := c.walked
	var noted func()
	err := cs.aside(func() (err error) {
		c.walked, noted = before, nil
		c.walked.left = cs.size
		for c.walked.left > 0 && !c.ended() && err == nil {
			var end bool
			if end, err = copyPhases[c.walked.phase](c); end {
				first, _ := emulator.RowsOf(c.from.number)
				c.walked.phase, c.walked.cursor = c.walked.phase+1, first-1
			}
		}
		if err == nil && c.ended() && c.snapshot != nil {
			noted, err = cs.w.namespaces.keep(c.snapshot, c.instead)
		}
		return err
	})
	if err == nil && noted != nil {
		noted()
	}
	if err == nil {
		c.kept.forget(c.walked.phase)
	}
	if err != nil || c.ended() {
		cs.end(c, err)
	}
	return true
}

// aside runs a step in a transaction. Unlike housekeeping it leaves some room on the disk to clients, and the reserve too.
func (cs *copies) aside(f func() error) error {
	if !cs.w.disk.fits(2 * copyBytes) {
		return errDiskFull
	}
	return cs.w.disk.orMakeSpace(func() error { return cs.w.tx.run(f) })
}

// end takes a copy off the list. If it failed, the sweeper removes what there is of it.
func (cs *copies) end(c *copying, err error) {
	cs.active = slices.DeleteFunc(cs.active, func(x *copying) bool { return x == c })
	if c.from.copying == c {
		c.from.copying = nil
		cs.live--
	}
	c.kept = keeping{}
	if err != nil && !c.to.dead {
		c.to.dead = true
		cs.w.sweeper.clear(c.to)
	}
	if err != nil {
		err = domainError(err)
	}
	c.done.Completed(err)
}

// endOfDead ends the copies of namespaces that the transaction which was just committed deleted.
func (cs *copies) endOfDead() {
	for _, c := range slices.Clone(cs.active) {
		if c.from.dead || c.to.dead {
			cs.end(c, noNamespace(c.from.record.ID))
		}
	}
}

// giveUp ends the copies of namespaces that go on meanwhile, because the disk is full and a change has no room for what it has to keep for them. It reports
// whether there were any.
func (cs *copies) giveUp(err error) bool {
	some := cs.live > 0
	for _, c := range slices.Clone(cs.active) {
		if c.from.copying == c {
			cs.end(c, err)
		}
	}
	return some
}

// close ends all copies when the store is closed. The next start removes what there is of them.
func (cs *copies) close(err error) {
	for _, c := range cs.active {
		c.done.Completed(err)
	}
	cs.active, cs.live = nil, 0
	cs.sweepEnded(allSweeps)
}

// copyTurn lets a copy wait for sweeps that another one has passed: sweeps wait for copies, and copies without a
// pause would keep them waiting for ever.
type copyTurn struct {
	mu    sync.Mutex
	ended int // sweeps
	after int // so many sweeps must have ended when the next copy begins
	held  []func()
}

// passed notes that a copy begins before so many sweeps.
func (t *copyTurn) passed(sweeps int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.after = max(t.after, t.ended+sweeps)
}

// await calls begin once the next copy may begin.
func (t *copyTurn) await(begin func()) {
	t.mu.Lock()
	if t.ended < t.after {
		t.held = append(t.held, begin)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	begin()
}

// sweepEnded notes the end of sweeps.
func (cs *copies) sweepEnded(sweeps int) {
	t := &cs.turn
	t.mu.Lock()
	t.ended = min(t.ended+sweeps, t.after)
	var held []func()
	if t.ended == t.after {
		t.ended, t.after = 0, 0
		held, t.held = t.held, nil
	}
	t.mu.Unlock()
	for _, begin := range held {
		begin()
	}
}
