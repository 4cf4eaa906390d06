// Package store keeps the namespaces of a broker and the journal of each on SQLite: it implements [emulator.Store].
//
// Package server opens it and hands it to the domain; server/metrics reads its numbers. It knows nothing of
// queues, locks or AMQP. It writes changes in order, streams them back at start and reads bodies.
//
// All namespaces share one database, one writer and one reader, so changes are committed together, whatever their
// namespaces. The id of a row, a body or an entity says to which namespace it belongs. So the rows of one lie
// together in each table, and are loaded and removed by ranges of ids.
//
// Goroutines: a [Store] owns three, which end in Close. The writer commits all changes that have queued up, without a
// timer (natural group commit), and runs their completions; a caller of EndBatch commits one or two small ones itself
// if nobody commits. Between batches it keeps house: it starts checkpoints, removes deleted entities, deleted
// namespaces and forgotten keys of duplicate detection, and shrinks the file. The reader answers ReadBodies on a
// connection of its own. The checkpointer, which a database in memory does not have, copies the log into the database
// and checks that both files still exist. A temporary goroutine fails changes and reads that come after Close.
//
// The way of a change: Append puts it into the inbox. From there six functions in commit.go take it, each of which
// adds one thing:
//
//   - commitQueued splits what has queued up into batches, and fails what stands behind a batch that failed;
//   - commitBatch runs the completions of a batch, with the result of each change;
//   - store writes the parts of a large body first, and deals with a full disk: it makes space, tries again, and
//     refuses what needs space;
//   - transact runs one transaction; it undoes what failed, and tries one by one if a change is itself at fault;
//   - applyBatch decides which changes are left out, each with an error of its own;
//   - apply runs the operations of a change: a method of messages, entities, duplicates or namespaces for each.
//
// Storage: message rows and bodies are in separate tables (see schema.sql), beside counters, session
// states and the keys of duplicate detection, in a database in WAL mode, which the sqlite3 shell can read while
// Minibus runs. Two advisory locks keep a second Minibus out, one on the database and one on a file beside it.
//
// The package calls SQLite through modernc.org/sqlite/lib, without database/sql and its driver. In batches of 200
// messages of 1 KiB this inserts two to three times as many a second, because a statement allocates nothing. Only
// conn.go imports unsafe.
//
// An ephemeral database runs the same code on ":memory:", with one connection that writer and reader share. A
// temporary file would need a writable directory, which a read-only container does not have, and kill -9 would leave it
// behind; the memdb VFS has no WAL, so its reader would block its writer.
//
// The package never blocks a caller of Append, derives a counter from rows, uses a row id twice, or reports
// success before the commit.
package store
