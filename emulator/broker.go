package emulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"minibus/emulator/clock"
)

// Broker is the namespaces of a process. They have nothing in common but the room for bodies in memory, which is
// divided among them, and the store, which commits for all. Its methods may be called from any goroutine.
type Broker struct {
	// immutable
	store    Store
	common   *common
	first    *Namespace // the default one
	suffixes []string   // of hosts, the longest first

	next      atomic.Int64 // id of a namespace that was never used
	passing   passing
	directory directory
}

// OpenBroker opens every namespace that the store has. Options.Name is the name of the default one, whatever the
// store says. What is true of [Open] is true of each.
func OpenBroker(s Store, o Options) (*Broker, error) {
	records, err := s.Namespaces()
	if err != nil {
		return nil, fmt.Errorf("list the namespaces: %w", err)
	}
	b := &Broker{store: s, common: newCommon(o), suffixes: suffixesOf(o.NamespaceSuffixes), directory: newDirectory()}
	b.next.Store(s.NextNamespace())
	b.common.bodies.namespaces = b.directory.all
	for _, r := range records {
		if r.ID == DefaultNamespaceID {
			r.Name = cmp.Or(o.Name, defaultNamespace)
		}
		if err := b.open(r); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

// open opens a stored namespace.
func (b *Broker) open(r NamespaceRecord) error {
	var o NamespaceOptions
	if r.Options != nil {
		if err := json.Unmarshal(r.Options, &o); err != nil {
			return fmt.Errorf("read the settings of the namespace %q: %w", r.Name, err)
		}
	}
	ns, err := b.newNamespace(r, o)
	if err != nil {
		return err
	}
	handles := o.handles(r.Name)
	if err := b.directory.claim(ns, handles); err != nil {
		return errorf(CodeAlreadyExists, "",
			"The configuration names the default namespace '%s', and the database has another namespace of that name. "+
				"Name the default namespace first in the configuration, as before, or give it a new name.", r.Name)
	}
	ns.journal = b.store.Journal(r.ID)
	if err := ns.load(); err != nil {
		return fmt.Errorf("open the namespace %q: %w", r.Name, err)
	}
	if r.ID == DefaultNamespaceID {
		b.first = ns
	}
	if o.Time != (clock.State{}) {
		shown := ns.Clock().Read()
		ns.logger.Warn("the clock of a namespace was steered before, and goes on from there", "namespace", ns.name,
			"now", textOf(shown.Now), "ahead", shown.Ahead.Round(time.Second), "frozen", shown.Frozen)
	}
	b.directory.replace(ns, handles, handles)
	return nil
}

// Default returns the namespace that always exists.
func (b *Broker) Default() *Namespace { return b.first }

// Namespace returns the namespace with that name, in letters of any case. It fails with CodeNotFound.
func (b *Broker) Namespace(name string) (*Namespace, error) {
	if ns := b.directory.find(handle{name: strings.ToLower(name)}); ns != nil {
		return ns, nil
	}
	return nil, namespaceNotFound(name)
}

// Namespaces returns all namespaces by name.
func (b *Broker) Namespaces() []*Namespace { return b.directory.all() }

// BeginBatch and EndBatch enclose operations of a caller that then waits for them. If they are few and no commit is
// running, EndBatch commits on the caller's goroutine, which saves two wake-ups. The caller holds no lock at EndBatch
// but its own, which no completion takes.
func (b *Broker) BeginBatch() { b.store.BeginBatch() }

// EndBatch ends what BeginBatch began.
func (b *Broker) EndBatch() { b.store.EndBatch() }

// Quiesce waits until nothing is under way in any namespace, as [Namespace.Quiesce] does in one.
func (b *Broker) Quiesce() {
	for _, ns := range b.Namespaces() {
		ns.Quiesce()
	}
}

// Close closes all namespaces, as [Namespace.Close] closes one.
func (b *Broker) Close() { closeAll(b.Namespaces()) }

// Beyond returns what Azure would have refused since the process began, by namespace and entity.
func (b *Broker) Beyond() []Beyond {
	return b.first.common.beyond.list()
}

// Untouched reports whether no message has ever come to the entities that there are, which holds after a restart too.
func (b *Broker) Untouched() bool {
	for _, ns := range b.Namespaces() {
		for _, kind := range []EntityKind{KindQueue, KindTopic, KindSubscription} {
			entities, _ := ns.Entities().Page(kind, 0, math.MaxInt)
			if slices.ContainsFunc(entities, (*Entity).hasDrawn) {
				return false
			}
		}
	}
	return true
}

// hasDrawn reports whether a message of the entity has ever got a number.
func (q *Entity) hasDrawn() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.counters.of, func(c counter) bool { return c.last != 0 })
}
