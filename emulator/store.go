package emulator

import "minibus/emulator/clock"

// Store is the durable side of a [Broker]: it keeps the list of namespaces, and the journal of each. All of them
// share one order of commits, so a change of the list is committed after what was appended to any journal before it.
type Store interface {
	// Namespaces returns those that are not deleted, by id. The default one is always among them, even if it was
	// never put.
	Namespaces() ([]NamespaceRecord, error)
	// NextNamespace returns the first id of a namespace that was never used. Those of deleted namespaces are used.
	NextNamespace() int64
	// Journal returns the journal of a namespace in the list. That of a namespace which was put for the first time
	// has nothing to stream: it is used without a Load.
	Journal(id int64) Journal
	// PutNamespace creates a namespace with entities, or replaces what is kept of it, by its id. It does not block;
	// done is told when that is committed, as the completions of changes are.
	PutNamespace(r NamespaceRecord, entities []EntityRecord, done Completion)
	// DeleteNamespace marks a namespace as deleted, which is all that is committed before done is told. It is not in
	// the list any more, its name is free, and what is in it goes later, also after a restart. Nothing is appended
	// for it unless done is told of an error. It does not block.
	DeleteNamespace(id int64, done Completion)
	// BeginBatch says that the caller is about to append changes, and to call EndBatch soon. What is appended may wait
	// until then.
	BeginBatch()
	// EndBatch may commit on the caller's goroutine, and run completions there: the caller holds no lock that they
	// need.
	EndBatch()

	SnapshotStore
}

// NamespaceRecord is one stored namespace.
type NamespaceRecord struct {
	ID      int64    // unique in the database, never reused
	Name    string   // as created; names are compared without case
	Created int64    // milliseconds since the Unix epoch
	Secret  [16]byte // random, from which message ids are made (PROP-10)
	Options []byte   // JSON of NamespaceOptions; nil: none were ever set
}

// NamespaceOptions are the settings of a namespace. Who has them must not change what they point to.
type NamespaceOptions struct {
	Limits   *Profile            `json:"limits,omitempty"`   // nil: the broker's
	Aliases  []string            `json:"aliases,omitempty"`  // names of hosts that mean the namespace
	Port     int                 `json:"port,omitempty"`     // one of its own; 0: none
	Policies []AuthorizationRule `json:"policies,omitempty"` // keys that count for all of its entities

	// Entities are those with which it was created, for a reset.
	Entities []EntityConfig `json:"entities,omitempty"`

	Time clock.State `json:"time,omitzero"` // of its clock
}

// DefaultNamespaceID is the id of the namespace that always exists.
const DefaultNamespaceID = 1

// rowBits is how many bits of the id of a row, a body or an entity count within its namespace. What is above them
// names the namespace, so the rows of one lie together, and need no other mark of where they belong.
const rowBits = 40

// RowsOf returns the range of the ids of rows, bodies and entities of a namespace, ends included.
func RowsOf(namespace int64) (first, last int64) {
	first = (namespace-1)<<rowBits + 1
	return first, first + 1<<rowBits - 2
}

// NamespaceOf returns the id of the namespace to which a row, a body or an entity belongs.
func NamespaceOf(row int64) int64 { return row>>rowBits + 1 }

// maxNamespaces is how many ids of namespaces there are.
const maxNamespaces = 1 << (63 - rowBits)
