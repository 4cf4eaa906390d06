// Package store is the journal of the domain on SQLite: it implements [emulator.Journal].
//
// Package server opens it and hands it to the domain; nobody else calls it. It knows nothing of queues, locks or AMQP:
// it writes changes in order, streams them back at start and reads bodies.
//
// Goroutines: a [Store] owns three, which end in Close. The writer commits whatever has queued up, without a timer
// (natural group commit), tells the completions, and between batches does the housekeeping: checkpoints, removal of
// deleted entities and of what duplicate detection has forgotten, giving space back. The reader answers ReadBodies on
// a connection of its own. The checkpointer copies the log into the database, and looks whether both are still there.
//
// Storage: rows of state and bodies live apart (see migrations/0001_init.sql), beside counters, session states and the
// history of duplicate detection, in a database in WAL mode that anybody may read with the sqlite3 shell while Minibus
// runs. A second Minibus is kept out by an advisory lock on a file beside the database.
//
// SQLite is called through modernc.org/sqlite/lib, without database/sql and its driver: in batches of 200 messages of
// 1 KiB this inserts two to three times as many a second, because nothing is allocated per statement. The unsafe
// part is conn.go and stmt.go and nothing else.
//
// Ephemeral databases are the same code on ":memory:", with one connection that writer and reader share. The other
// ways were measured or thought through: a temporary file needs a writable directory, which a read-only container
// does not have, and is left behind by kill -9; the memdb VFS has no WAL, so that its reader would block its writer.
//
// What the package never does: block a caller of Append, derive a counter from rows, use a row id twice, or report
// success before the commit.
package store
