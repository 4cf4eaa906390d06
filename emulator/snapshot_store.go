package emulator

import (
	"context"
	"sync/atomic"
)

// SnapshotStore is the part of a [Store] that keeps snapshots: copies of all that is in a namespace. The ids of a
// copy's rows are those of a number of its own, which a namespace has in common with no other and which is never used
// again: RowsOf(number). Numbers and ids of namespaces are drawn from one sequence. Apart from their number the ids of
// a copy are those of the original.
//
// Copies are made in steps beside what clients do, and the namespace may go on meanwhile. A copy that is not finished,
// or that is neither a snapshot nor adopted when the process ends, is removed at the next start.
type SnapshotStore interface {
	// Snapshots returns those of a namespace, in any order.
	Snapshots(namespace int64) []SnapshotRecord
	// SaveSnapshot copies what is in the namespace behind all that was appended before, and nothing that is appended
	// later. begun is told when that moment is committed, and may set Now and Frozen of r; if it gets an error, that
	// is all. done is told when the copy is durable as a whole, with the counts in r and in place of the snapshot with
	// the number replaced (0: none), or when it failed and nothing of it counts. It fails if ctx ends before.
	SaveSnapshot(ctx context.Context, r *SnapshotRecord, replaced int64, begun, done Completion)
	// CopySnapshot copies the snapshot with a number to another number, from which LoadCopy streams it. Errors are as
	// of SaveSnapshot.
	CopySnapshot(ctx context.Context, number, to int64, done Completion)
	// LoadCopy streams what a copy has, as [Journal.Load] does.
	LoadCopy(number int64, l Loader) error
	// AdoptCopy makes a copy what the namespace r.ID has, stores r, and marks all that the namespace had as deleted,
	// by one commit. Nothing may be appended for the namespace meanwhile. Rows with greater ids than any that the
	// namespace used are free afterwards, apart from the number.
	AdoptCopy(r NamespaceRecord, number int64, done Completion)
	// DropCopy removes a snapshot or a copy that was not adopted.
	DropCopy(number int64, done Completion)
}

// home is the store of a broker, for its namespaces.
type home struct {
	store Store
	next  *atomic.Int64 // the id of a namespace, or the number, that is drawn next
}

// SnapshotRecord is one stored snapshot.
type SnapshotRecord struct {
	Number    int64  // of its rows
	Namespace int64  // id
	Name      string // as given; names are compared without case
	Saved     int64  // milliseconds since the Unix epoch, by the machine's clock
	Now       int64  // milliseconds since the Unix epoch, by the clock of the namespace
	Frozen    bool   // that clock stood still

	Entities int64
	Messages int64
	Bytes    int64 // of its messages as their senders sent them; those that share a body count once each
}
