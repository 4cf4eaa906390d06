package store

import (
	"time"

	lib "modernc.org/sqlite/lib"
)

// patience is how long the writer waits for another program that holds the database's write lock, for example a
// sqlite3 shell in the middle of a transaction. Clients wait with it: SDKs give up after a minute. Then the batch fails,
// with all changes that have queued up behind it.
const patience = 30 * time.Second

// execPatiently runs a statement that takes the write lock. SQLite itself waits for busyTimeout; during Close
// execPatiently waits no longer than that.
func (w *writer) execPatiently(st *stmt) error {
	begin := time.Now()
	err := st.exec()
	if !isCode(err, lib.SQLITE_BUSY) {
		return err
	}
	w.s.log.Warn("another program holds the write lock of the database; messages and settlements wait until it lets go",
		"path", w.s.path)
	for isCode(err, lib.SQLITE_BUSY) && time.Since(begin) < w.patience && !w.s.inbox.isClosed() {
		err = st.exec()
	}
	return err
}
