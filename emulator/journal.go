package emulator

import "minibus/internal/entitypath"

// SubQueue names one of the message logs of a queue.
type SubQueue = entitypath.SubQueue

// The logs of a queue (DLQ-1, DLQ-16).
const (
	Main               = entitypath.Main
	DeadLetter         = entitypath.DeadLetter
	TransferDeadLetter = entitypath.TransferDeadLetter
)

// State is a message's state in the journal. A lock is not journaled (DEC-21): a locked message is Active or
// Deferred there.
type State uint8

// The values of the message state annotation (PEEK-3).
const (
	Active    State = 0
	Deferred  State = 1
	Scheduled State = 2
)

// Completion is told the result of an operation, exactly once. It runs on the journal's goroutine, on one that has
// called [Store.EndBatch], or on the caller's when there was nothing to wait for; it must not block and must not call
// back into the package.
type Completion interface {
	Completed(err error)
}

// CompletionFunc adapts a function to [Completion].
type CompletionFunc func(err error)

// Completed calls f.
func (f CompletionFunc) Completed(err error) { f(err) }

// MessageRecord is one stored message: the row of the narrow state table.
type MessageRecord struct {
	Row           int64 // unique in the database, never reused, in the range of its namespace (RowsOf)
	Entity        int64 // id of the owning entity
	Seq           int64 // sequence number (SEQ-4)
	Body          int64 // id of the body row; several rows may share one body
	Enqueued      int64 // milliseconds since the Unix epoch (TIME-7)
	TTL           int64 // effective time to live in milliseconds; 0 means that it never expires
	Scheduled     int64 // due time in milliseconds; 0 when not scheduled
	Size          int64 // bytes of the encoded message as the sender sent it
	DeliveryCount uint32
	Sub           SubQueue
	State         State
	HasSession    bool
	SessionID     string
	MessageID     string // canonical text, for people and for duplicate detection
	Overlay       []byte // encoded map of application properties that the broker or a settlement changed; nil if none
	System        []byte // encoded map of broker properties that a rule's action changed (message.Patch); nil if none
	Reason        string // dead-letter reason, for people; the overlay has it too
	EnqueuedSeq   int64  // number at first submission (SEQ-16); 0 on messages sent directly
	Hops          uint8  // transfers from entity to entity so far (FWD-9)
	Source        string // path of the entity whose dead-letter queue it was forwarded from (DLQ-10)
}

// OpKind says what an [Op] does.
type OpKind uint8

// The operations of a change.
const (
	OpInsert OpKind = iota + 1 // store Record, or Copies of it, and Data under Record.Body if Data is not nil
	// write the changeable columns of Record: Entity, Sub, Seq, State, Enqueued, TTL, Scheduled, DeliveryCount,
	// Overlay, System, Reason, EnqueuedSeq, Hops, Source
	OpUpdate
	// remove row Record.Row (0: none), and body Record.Body, which may take a while, if DropBody
	OpDelete
	OpCounter   // nothing but the counter: Record.Entity's last number becomes Record.Seq
	OpPutEntity // store Entity (insert or replace by id)
	// remove the entity Entity.ID and everything in it but bodies that messages of others share
	OpDeleteEntity
	// state of session Record.SessionID of Record.Entity becomes Data, set at Record.Enqueued; nil Data removes it
	OpSessionState
	// remember the key Data (16 bytes) of Record.Entity for duplicate detection, since Record.Enqueued
	OpDuplicate
	OpPruneDuplicates // forget the keys of Record.Entity that were remembered before Record.Enqueued
)

// Op is one operation of a [Change].
//
// The journal also keeps, per entity and partition, the last sequence number drawn: after a commit it is the Record.Seq
// of the last operation so far that has DrawsNumber. It is never derived from the rows left (SEQ-4: a number is never
// given twice).
type Op struct {
	Kind        OpKind
	DropBody    bool  // OpDelete: the body has no other copy
	DrawsNumber bool  // OpInsert, OpUpdate, OpCounter: Record.Seq was newly drawn from Record.Entity
	Partition   uint8 // from which partition; 0 where there are none
	Record      MessageRecord
	Data        []byte // OpInsert: the encoded message; not changed and not kept after Completed
	Entity      EntityRecord

	// Copies are the messages that an OpInsert stores, if there are several: Record, which is the first of them, and
	// copies of it in other entities or with other numbers. Their rows follow that of Record, in their order. All
	// have newly drawn numbers.
	Copies []CopyRecord
}

// CopyRecord says where one of [Op.Copies] belongs, and its number there.
type CopyRecord struct {
	Entity    int64
	Seq       int64
	Partition uint8 // from which partition of Entity the number was drawn
}

// MaxCopies is how many [Op.Copies] there may be.
const MaxCopies = 64

// Each calls f for each message that an OpInsert stores, as an operation of its own, until f fails.
func (o *Op) Each(f func(*Op) error) error {
	if len(o.Copies) == 0 {
		return f(o)
	}
	one := *o
	one.Copies = nil
	for i, c := range o.Copies {
		one.Record.Row = o.Record.Row + int64(i)
		one.Record.Entity = c.Entity
		one.Record.Seq = c.Seq
		one.Partition = c.Partition
		if err := f(&one); err != nil {
			return err
		}
		one.Data = nil
	}
	return nil
}

// Change is an atomic unit: all its operations are committed in one transaction, or none is.
type Change struct {
	Ops  []Op
	Done Completion // may be nil
	ties *ties      // nil: none; see Unmet

	// Requeues says that the change only stores again what was removed for a client and did not reach it. A journal
	// takes it even when the disk has no space for anything new.
	Requeues bool

	// Single is backing space for changes of one operation, so that they cost no second allocation.
	Single [1]Op
}

// ties bind a change to later ones that depend on it, and to earlier ones on which it depends.
type ties struct {
	dependents []*dependency
	dependsOn  []*dependency
}

// dependency of a change on an earlier one has the error of the earlier one, once that has failed.
type dependency struct{ err error }

// Needs makes c fail if first, which is to be appended before it, fails. Both are not appended yet.
func (c *Change) Needs(first *Change) {
	d := &dependency{}
	first.tie().dependents = append(first.tie().dependents, d)
	c.tie().dependsOn = append(c.tie().dependsOn, d)
}

// tie returns the change's ties, to add to them.
func (c *Change) tie() *ties {
	if c.ties == nil {
		c.ties = &ties{}
	}
	return c.ties
}

// Tied reports whether the change needs others, or others need it.
func (c *Change) Tied() bool { return c.ties != nil }

// Unmet returns the error of a change that this one needs, if it has failed. A journal asks before it applies the
// change, which fails with that error then. It is called on the journal's goroutine, as Failed is.
func (c *Change) Unmet() error {
	if c.ties == nil {
		return nil
	}
	for _, d := range c.ties.dependsOn {
		if d.err != nil {
			return d.err
		}
	}
	return nil
}

// Failed tells those that need the change that it has failed. A journal calls it for a change that fails alone, before
// it goes on to the next one.
func (c *Change) Failed(err error) {
	if c.ties == nil {
		return
	}
	for _, d := range c.ties.dependents {
		d.err = err
	}
}

// inherit gives c the ties of a change that becomes part of it.
func (c *Change) inherit(part *Change) {
	if part.ties == nil {
		return
	}
	t := c.tie()
	t.dependents = append(t.dependents, part.ties.dependents...)
	t.dependsOn = append(t.dependsOn, part.ties.dependsOn...)
}

// EntityRecord is one stored entity.
type EntityRecord struct {
	// unique in the database, never reused, in the range of its namespace: a re-created entity is another one (DEL-3)
	ID      int64
	Kind    EntityKind
	Path    string          // as created; names are compared without case
	Last    []CounterRecord // of each partition that drew a number, in any order; only when loading
	Options []byte          // JSON of QueueOptions, TopicOptions or SubscriptionOptions
}

// CounterRecord is the last sequence number that was drawn from a partition of an entity.
type CounterRecord struct {
	Partition uint8
	Seq       int64
}

// EntityKind tells entities apart.
type EntityKind uint8

// The kinds of entities.
const (
	KindQueue        EntityKind = 1
	KindTopic        EntityKind = 2
	KindSubscription EntityKind = 3 // its path is topic/Subscriptions/name
)

// BodyRead asks the journal for bodies. Bodies has the length of IDs; a body that is gone or damaged is nil. With
// State it asks for the state of a session instead, which Bodies then has alone; it is nil if there is none.
type BodyRead struct {
	IDs     []int64
	State   *StateKey
	Bodies  [][]byte
	Damaged map[int]Damage // by place in IDs: the bodies that are there and not what was stored; nil if there are none
	Done    Completion
}

// StateKey names the state of a session.
type StateKey struct {
	Entity    int64
	SessionID string
}

// Damage describes a body that differs from the one that was stored.
type Damage struct {
	Why  string
	Rest []byte // what could be read of it, if anything
}

// Loader receives what a journal holds, at start: all entities first, then the messages in any order, then the rest.
type Loader interface {
	LoadEntity(EntityRecord) error
	LoadMessage(*MessageRecord) error // the record is reused by the caller; byte slices may be kept
	LoadSession(entity int64, id string, state []byte, updated int64) error
	LoadDuplicate(entity int64, key [16]byte, at int64) error // by ascending at for each entity
}

// Journal is the durable side of a namespace. The store package implements it on SQLite.
//
// Append and ReadBodies never block and may be called under a queue's mutex. Changes of an entity are committed in
// the order in which they were appended, many in one transaction where they have queued up, and so are changes that
// are tied to others, and all around one that is about more than what is in entities. Else changes of other entities
// may be committed before one with a large body. So a change is appended only when those of the same messages and
// bodies are completed, unless it Requeues. Completions of changes run one at a time, in commit order, after the
// commit, on the journal's goroutine or on one that has called [Store.EndBatch].
//
// When a commit fails, every change of its batch and every change appended behind it, until all their completions
// have run, fails too, in order; a change that is alone at fault fails alone, but for those that need it
// (Change.Unmet, Change.Failed). After Close, appended changes fail.
type Journal interface {
	// Load streams the content. It is called once, before the first Append, unless the namespace is new.
	Load(Loader) error
	// NextRow returns the first row id of the namespace that was never used (rows and bodies share one sequence of
	// ids).
	NextRow() int64
	// Secret returns the namespace's random bytes, from which message ids are made (PROP-10).
	Secret() [16]byte
	// Created returns when the namespace was made, in milliseconds since the Unix epoch, by the machine's clock: the
	// default one with the database.
	Created() int64
	Append(*Change)
	// ReadBodies reads bodies on a goroutine of the journal and then calls Done. A body whose insert is not yet
	// committed may be reported as gone.
	ReadBodies(*BodyRead)
	// Flush calls done when everything that was appended before is committed or failed.
	Flush(done Completion)
}
