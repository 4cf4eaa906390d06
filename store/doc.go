// Package store is the journal of the domain on SQLite: it implements [emulator.Journal].
//
// Package server opens it and hands it to the domain, and metrics reads its numbers; no other package calls it. It knows nothing of
// queues, locks or AMQP. It writes changes in order, streams them back at start and reads bodies.
//
// Goroutines: a [Store] owns three, which end in Close. The writer commits all changes that have queued up, without a timer
// (natural group commit), and tells the completions. Between batches it keeps house: checkpoints, removal of
// deleted entities and of what duplicate detection has forgotten, giving space back. The reader answers ReadBodies on
// a connection of its own. The checkpointer, which a database in memory does not have, copies the log into the database and checks that both
// still exist. If a change or a read comes after Close, a goroutine that lives while there are any fails them.
//
// Storage: rows of state and bodies are apart (see migrations/0001_init.sql), beside counters, session states and the
// history of duplicate detection, in a database in WAL mode, which the sqlite3 shell can read while Minibus
// runs. Two advisory locks keep a second Minibus out, one on the database and one on a file beside it.
//
// The package calls SQLite through modernc.org/sqlite/lib, without database/sql and its driver. In batches of 200 messages of
// 1 KiB this inserts two to three times as many a second, because a statement allocates nothing. Only conn.go and stmt.go are unsafe.
//
// Ephemeral databases are the same code on ":memory:", with one connection that writer and reader share. Other
// ways were considered: a temporary file needs a writable directory, which a read-only container
// does not have, and kill -9 leaves it behind; the memdb VFS has no WAL, so its reader would block its writer.
//
// The package never blocks a caller of Append, derives a counter from rows, uses a row id twice, or reports
// success before the commit.
package store
