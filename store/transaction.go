package store

import (
	"time"

	lib "modernc.org/sqlite/lib"
)

// patience is how long the writer waits for another program that holds the database's write lock, for example a
// sqlite3 shell in the middle of a transaction. Clients wait with it: SDKs give up after a minute. Then the batch fails,
// with all changes that have queued up behind it.
const patience = 30 * time.Second

// transactions runs the writer's transactions beside other programs and on a disk that may be full.
type transactions struct {
	w             *writer
	begin, commit *stmt
	patience      time.Duration // how long to wait for programs that hold the write lock
	begun         bool          // tryBegin has begun the next transaction
}

func (t *transactions) prepare() error {
	return prepareAll(t.w.conn, map[string]**stmt{"BEGIN IMMEDIATE": &t.begin, "COMMIT": &t.commit})
}

// run runs f in a transaction of its own.
func (t *transactions) run(f func() error) error {
	if err := t.start(); err != nil {
		return err
	}
	t.w.conn.inside = true
	defer func() { t.w.conn.inside, t.w.conn.lost = false, false }()
	err := f()
	if err == nil && t.w.s.beforeCommit != nil {
		err = t.w.s.beforeCommit()
	}
	if err == nil {
		err = t.w.room.checkGrowth()
	}
	if err == nil {
		err = t.commit.exec()
	}
	if err != nil {
		t.w.conn.rollback()
	}
	return err
}

// tryBegin begins the next transaction, unless another program holds the write lock: then it returns false, and does not wait. In memory there is no other
// program, and the reader has the same connection.
func (t *transactions) tryBegin() bool {
	if !t.w.log.durable {
		return true
	}
	t.w.conn.mu.Lock()
	defer t.w.conn.mu.Unlock()
	if t.w.s.checkLog(t.w.conn) != nil {
		return false // start tells it
	}
	t.w.conn.patience(0)
	defer t.w.conn.patience(busyTimeout)
	t.begun = t.begin.exec() == nil
	return t.begun
}

// endBegun ends a transaction of tryBegin for which there was no use.
func (t *transactions) endBegun() {
	if t.begun {
		t.begun = false
		t.w.conn.mu.Lock()
		defer t.w.conn.mu.Unlock()
		t.w.conn.rollback()
	}
}

// start begins a transaction and takes the write lock. SQLite itself waits for busyTimeout; during Close
// start waits no longer than that.
func (t *transactions) start() error {
	if t.begun {
		if t.begun = false; t.w.conn.inTransaction() {
			return nil
		}
	}
	if err := t.w.s.checkLog(t.w.conn); err != nil {
		return err
	}
	since := time.Now()
	err := t.begin.exec()
	if !isCode(err, lib.SQLITE_BUSY) {
		return err
	}
	t.w.s.log.Warn("another program holds the write lock of the database; messages and settlements wait until it lets go",
		"path", t.w.s.path)
	for isCode(err, lib.SQLITE_BUSY) && time.Since(since) < t.patience && !t.w.s.inbox.isClosed() {
		err = t.begin.exec()
	}
	return err
}

// withRoom runs a transaction, and once more if the disk was full.
func (t *transactions) withRoom(f func() error) error {
	err := f()
	if isFull(err) && t.w.log.durable {
		t.w.log.beginAnew()
		err = f()
	}
	return err
}

// withReserve is withRoom for a transaction that may use the reserve.
func (t *transactions) withReserve(f func() error) error {
	r := &t.w.room
	r.spending = true
	defer func() { r.spending = false }()
	err := t.withRoom(f)
	if isFull(err) && t.w.log.durable {
		r.reserve.release()
		err = f()
		t.w.log.beginAnew() // and takes the reserve back
	}
	return err
}

// aside runs a step of housekeeping.
func (t *transactions) aside(f func() error) error {
	t.w.conn.mu.Lock()
	defer t.w.conn.mu.Unlock()
	return t.withReserve(func() error {
		return t.run(func() error {
			defer t.w.published.drop()
			if err := f(); err != nil {
				return err
			}
			return t.w.published.write()
		})
	})
}
