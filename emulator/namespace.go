package emulator

import (
	"cmp"
	"log/slog"
	"sync"
	"sync/atomic"

	"minibus/emulator/clock"
	"minibus/internal/entitypath"
)

// defaultNamespace is the name of the namespace unless the configuration says otherwise (DEC-11).
const defaultNamespace = "sbemulatorns"

// Namespace is a set of entities, apart from all others. Its methods may be called from any goroutine.
type Namespace struct {
	// immutable
	id      int64
	name    string
	created int64 // ms
	opened  int64 // ms of the machine's time
	secret  [16]byte
	common  *common
	journal Journal
	clock   clock.Clock
	logger  *slog.Logger
	ids     messageIDs

	settings atomic.Pointer[NamespaceOptions] // as written last
	stage    atomic.Uint32                    // of its deletion
	deleted  chan struct{}                    // closed when its deletion is committed

	lastRow atomic.Int64 // last row id given out; bodies and entities draw from it too
	budget  bodyShare

	background running  // goroutines that forward, move messages, or remove bodies
	parkers    sync.Map // of *Entity: those with parked messages
	jobs       Jobs
	faults     Faults
	dueReads   running  // reads of scheduled messages that have become due
	damaged    sync.Map // ids of damaged bodies of which the log was told

	saving   sync.Mutex                     // held while a snapshot is saved, restored or deleted
	steering sync.Mutex                     // held while the clock is set, frozen or resumed, and for a whole advance
	keep     func(o NamespaceOptions) error // stores settings and waits; called with admin; nil: nothing keeps them
	home     *home                          // nil: it was opened by itself

	ownActions atomic.Int64 // what the broker did by itself
	fresh      atomic.Int64 // number of the first event after the last reset

	planned map[string]bool // lower-case paths of a configuration that is being made true; guarded by admin
	admin   sync.Mutex      // serialises changes of entities, commits included; nothing of a message's path takes it

	catalog catalog // entities of all kinds
	closed  atomic.Bool
}

// Options configure a [Broker], or a [Namespace] that is opened by itself. The zero value of a field means its default.
type Options struct {
	Name       string       // of the default namespace, used in texts; default "sbemulatorns" (DEC-11)
	Clock      clock.Clock  // default a clock.System, of which each namespace of a broker has one of its own
	BodyBudget int64        // bytes of message bodies kept in memory; default 64 MiB
	Logger     *slog.Logger // default discards
	Limits     Profile      // of all namespaces that do not say; default ProfileRelaxed (DEC-1)

	// NamespaceSuffixes are further domains under which hosts have the names of namespaces; see Broker.Find.
	NamespaceSuffixes []string

	// LazyExpiry leaves expired messages where they are, counted and peeked, until a receive comes upon them, as the
	// cloud may do (EXP-7, DEC-22). Default: they are treated at the instant.
	LazyExpiry bool

	Record *Record // of what happens to messages; nil: none

	// Deleted is called after each deletion of entities or of the whole namespace, by a client, a person or the broker
	// itself. Entities that replace them under the same names exist by then. Deleted may wait for the store. It must
	// not change a namespace.
	Deleted func(ns *Namespace)

	layout *layout // of logs; nil: usual
}

// common holds what all namespaces of a process share.
type common struct {
	clock   clock.Clock
	single  bool // the clock is the namespace's
	logger  *slog.Logger
	profile Profile
	lazy    bool    // Options.LazyExpiry
	layout  *layout // of logs; nil: usual
	bodies  *bodyBudget
	record  *Record
	beyond  beyondNotes

	searches chan struct{} // one for each search that has large bodies

	tellDeleted func(*Namespace) // Options.Deleted
}

func newCommon(o Options) *common {
	c := &common{clock: o.Clock, logger: o.Logger, profile: o.Limits, lazy: o.LazyExpiry, layout: o.layout,
		bodies: newBodyBudget(o.BodyBudget), record: o.Record, tellDeleted: o.Deleted,
		searches: make(chan struct{}, largeSearches)}
	if c.tellDeleted == nil {
		c.tellDeleted = func(*Namespace) {}
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	if c.clock == nil {
		c.clock = &clock.System{Jumped: clock.LogJumps(c.logger)}
	}
	return c
}

// Open builds a namespace by itself from what the journal holds. Schedules that fell due while the broker was down are
// activated, and messages that expired are treated, before it returns (DEC-21).
func Open(j Journal, o Options) (*Namespace, error) {
	r := NamespaceRecord{ID: DefaultNamespaceID, Name: cmp.Or(o.Name, defaultNamespace), Created: j.Created(),
		Secret: j.Secret()}
	c := newCommon(o)
	c.single = true
	ns, err := newNamespace(c, r, NamespaceOptions{})
	if err != nil {
		return nil, err
	}
	ns.journal = j
	ns.budget.namespaces = func() []*Namespace { return []*Namespace{ns} }
	if err := ns.load(); err != nil {
		return nil, err
	}
	return ns, nil
}

// newNamespace makes a namespace that is empty and has no journal yet. A new one has no id either.
func newNamespace(c *common, r NamespaceRecord, o NamespaceOptions) (*Namespace, error) {
	ids, err := newMessageIDs(r.Secret)
	if err != nil {
		return nil, err
	}
	ns := &Namespace{
		name: r.Name, created: r.Created, secret: r.Secret, common: c, clock: c.clock, logger: c.logger, ids: ids,
		deleted: make(chan struct{}), budget: bodyShare{bodyBudget: c.bodies},
		catalog: newCatalog(),
	}
	if base, ok := c.clock.(*clock.System); ok && !c.single {
		ns.clock = base.Another(o.Time)
	}
	if r.ID != DefaultNamespaceID {
		ns.logger = c.logger.With("namespace", r.Name)
	}
	ns.jobs.ns, ns.faults.ns = ns, ns
	ns.opened = ns.Clock().machineTime()
	setID(ns, r.ID)
	ns.settings.Store(&o)
	return ns, nil
}

// setID gives a namespace its id, which says from where it draws others.
func setID(ns *Namespace, id int64) {
	first, _ := RowsOf(id)
	ns.id, ns.ids.first = id, first
	ns.lastRow.Store(first - 1)
}

// Close stops the timers and waits until what was received and deleted, but given back, is stored again. Consumers
// have to be closed before. Operations that come later fail with the journal.
func (ns *Namespace) Close() { closeAll([]*Namespace{ns}) }

// closeAll closes namespaces.
func closeAll(list []*Namespace) {
	var all []*Entity
	for _, ns := range list {
		ns.closed.Store(true)
		ns.Faults().RemoveAll()
		all = append(all, ns.catalog.entities(anyKind)...)
	}
	for _, q := range all {
		q.alarm.stop()
	}
	for _, ns := range list {
		ns.jobs.end()
		ns.background.wait()
		ns.budget.reclaims.wait()
	}
	awaitRequeues(all)
}

// The stages of a namespace that is being deleted or reset.
const (
	stageThere   = iota
	stageLeaving // its entities end: nothing new begins
	stageGone    // its deletion is committed
)

// Options returns the settings of the namespace.
func (ns *Namespace) Options() NamespaceOptions { return *ns.settings.Load() }

// Deleted returns a channel that is closed when the namespace is deleted.
func (ns *Namespace) Deleted() <-chan struct{} { return ns.deleted }

// ID returns the namespace's id, which events name.
func (ns *Namespace) ID() int64 { return ns.id }

// Name returns the namespace's name, as error texts show it.
func (ns *Namespace) Name() string { return ns.name }

// Created returns when the namespace was created, in milliseconds since the Unix epoch. The default one is as old as
// its database.
func (ns *Namespace) Created() int64 { return ns.created }

// Profile returns the profile of limits that the namespace enforces.
func (ns *Namespace) Profile() Profile {
	if l := ns.settings.Load().Limits; l != nil {
		return *l
	}
	return ns.common.profile
}

// Now returns the broker's time in milliseconds since the Unix epoch.
func (ns *Namespace) Now() int64 { return millis(ns.clock.Now()) }

// Entity returns the entity with that path, of any kind: a queue, a topic, or a subscription by
// "topic/Subscriptions/name". Letters of any case are the same. It fails with CodeNotFound (ERR-4).
func (ns *Namespace) Entity(path string) (*Entity, error) {
	if q := ns.catalog.lookUp(path); q != nil {
		return q, nil
	}
	return nil, ns.catalog.missing(path)
}

// EntityAt returns the entity and the sub-queue of a path, such as orders/$DeadLetterQueue.
func (ns *Namespace) EntityAt(path string) (*Entity, SubQueue, error) {
	path, sub := entitypath.CutSubQueue(path)
	q, err := ns.Entity(path)
	return q, sub, err
}

// Kind returns what the entity with that path is; ok is false if there is none.
func (ns *Namespace) Kind(path string) (kind EntityKind, ok bool) {
	if q := ns.catalog.lookUp(path); q != nil {
		return q.kind, true
	}
	return 0, false
}

// Exists reports whether there is an entity with that path, or a topic of which the path names a subscription: that is
// what a put-token is checked against (ERR-4).
func (ns *Namespace) Exists(path string) bool {
	if ns.catalog.lookUp(path) != nil {
		return true
	}
	topic, _, ok := entitypath.SplitSubscription(path)
	if !ok {
		return false
	}
	t := ns.catalog.lookUp(topic)
	return t != nil && t.kind == KindTopic
}

func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// newRow returns an id that no row, body or entity ever had.
func (ns *Namespace) newRow() int64 { return ns.lastRow.Add(1) }

// newRows returns the first of n such ids that follow each other.
func (ns *Namespace) newRows(n int) int64 { return ns.lastRow.Add(int64(n)) - int64(n) + 1 }
