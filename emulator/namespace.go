package emulator

import (
	crand "crypto/rand"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"minibus/internal/entitypath"
)

// defaultNamespace is the name of the namespace unless the configuration says otherwise (DEC-11).
const defaultNamespace = "sbemulatorns"

// defaultBodyBudget is how many bytes of message bodies stay in memory.
const defaultBodyBudget = 64 << 20

// Namespace is the set of entities of one broker. Its methods may be called from any goroutine.
type Namespace struct {
	// immutable
	name    string
	journal Journal
	clock   Clock
	logger  *slog.Logger
	ids     messageIDs
	layout  *layout // of logs; nil: usual

	lastRow atomic.Int64 // last row id given out; bodies and entities draw from it too
	budget  bodyBudget

	limits     Limits
	forwarding running  // goroutines that forward
	parkers    sync.Map // of *Entity: those with parked messages
	reading    running  // reads of scheduled messages that have become due
	lazy       bool     // Options.LazyExpiry
	damaged    sync.Map // ids of damaged bodies of which the log was told

	appended atomic.Int64 // changes handed to the journal

	planned map[string]bool // lower-case paths of a configuration that is being made true; guarded by admin
	admin   sync.Mutex      // serialises changes of entities, commits included; nothing of a message's path takes it

	catalog catalog // entities of all kinds
	closed  atomic.Bool
}

// Options configure a [Namespace]. The zero value of a field means its default.
type Options struct {
	Name       string       // namespace name used in texts; default "sbemulatorns" (DEC-11)
	Clock      Clock        // default SystemClock
	BodyBudget int64        // bytes of message bodies kept in memory; default 64 MiB
	Logger     *slog.Logger // default discards
	Limits     Limits       // default LimitsRelaxed (DEC-1)

	// LazyExpiry leaves expired messages where they are, counted and peeked, until a receive comes upon them, as the
	// cloud may do (EXP-7, DEC-22). Default: they are treated at the instant.
	LazyExpiry bool

	layout *layout // of logs; nil: usual
}

// Open builds the namespace from what the journal holds. Schedules that fell due while the broker was down are
// activated, and messages that expired are treated, before it returns (DEC-21).
func Open(j Journal, o Options) (*Namespace, error) {
	ids, err := newMessageIDs(j.Secret())
	if err != nil {
		return nil, err
	}
	ns := &Namespace{
		name: o.Name, limits: o.Limits, lazy: o.LazyExpiry, journal: j, clock: o.Clock, logger: o.Logger, ids: ids, budget: bodyBudget{limit: o.BodyBudget},
		catalog: catalog{byKey: make(map[string]*Entity), byPath: make(map[EntityKind][]*Entity)}, layout: o.layout,
	}
	if ns.name == "" {
		ns.name = defaultNamespace
	}
	if ns.clock == nil {
		ns.clock = &SystemClock{Jumped: func(by time.Duration) { tellJump(ns.logger, by) }}
	}
	if ns.logger == nil {
		ns.logger = slog.New(slog.DiscardHandler)
	}
	if ns.budget.limit <= 0 {
		ns.budget.limit = defaultBodyBudget
	}
	if err := ns.load(); err != nil {
		return nil, err
	}
	return ns, nil
}

// Close stops the timers and waits until what was received and deleted, but given back, is stored again. Consumers have to be
// closed before. Operations that come later fail with the journal.
func (ns *Namespace) Close() {
	ns.closed.Store(true)
	for _, q := range ns.catalog.entities(anyKind) {
		q.alarm.stop()
	}
	ns.forwarding.wait()
	ns.awaitReturns()
}

// Name returns the namespace's name, as error texts show it.
func (ns *Namespace) Name() string { return ns.name }

// Created returns when the namespace was created, in milliseconds since the Unix epoch: it is as old as its database.
func (ns *Namespace) Created() int64 { return ns.journal.Created() }

// Limits returns the profile that the namespace enforces.
func (ns *Namespace) Limits() Limits { return ns.limits }

// Now returns the broker's time in milliseconds since the Unix epoch.
func (ns *Namespace) Now() int64 { return millis(ns.clock.Now()) }

// Entity returns the entity with that path, of any kind: a queue, a topic, or a subscription by "topic/Subscriptions/name".
// Letters of any case are the same. It fails with CodeNotFound (ERR-4).
func (ns *Namespace) Entity(path string) (*Entity, error) {
	if q := ns.catalog.lookUp(path); q != nil {
		return q, nil
	}
	return nil, ns.catalog.missing(path)
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

// Queues returns all queues by path.
func (ns *Namespace) Queues() []*Queue {
	return mapped(ns.catalog.entities(KindQueue), func(q *Entity) *Queue { return &Queue{q} })
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

// newTokens returns a source of lock tokens. They are unique, not secret: a client that may settle may also receive.
func newTokens() *rand.ChaCha8 {
	var seed [32]byte
	crand.Read(seed[:])
	return rand.NewChaCha8(seed)
}
