package emulator

import (
	crand "crypto/rand"
	"encoding/json"
	"fmt"

	"minibus/emulator/clock"
)

// Create makes a namespace with the entities of o, by one change in the store, and waits until that is durable. If o
// has no policies it gets [RootPolicy], with keys of its own. Create fails with CodeArgument for what no namespace
// can have, and with CodeAlreadyExists if another one has the name, an alias or the port. It refuses entities as
// [Configuration.Apply] does.
func (b *Broker) Create(name string, o NamespaceOptions) (*Namespace, error) {
	if err := b.Check(name, o); err != nil {
		return nil, err
	}
	if len(o.Policies) == 0 {
		o.Policies = []AuthorizationRule{newRootPolicy()}
	}
	b.passing.mu.RLock() // Advance counts for it from now on or not at all
	defer b.passing.mu.RUnlock()
	o.Time = clock.State{Ahead: b.passing.passed.Milliseconds()}
	r := NamespaceRecord{Name: name}
	crand.Read(r.Secret[:])
	ns, err := b.newNamespace(r, o)
	if err != nil {
		return nil, err
	}
	ns.created = ns.Now()
	if err := b.write(ns, o); err != nil {
		return nil, err
	}
	return ns, nil
}

// newNamespace makes a namespace of the broker, which keeps its settings.
func (b *Broker) newNamespace(r NamespaceRecord, o NamespaceOptions) (*Namespace, error) {
	ns, err := newNamespace(b.common, r, o)
	if err == nil {
		ns.keep, ns.home = func(o NamespaceOptions) error { return b.put(ns, o) }, &home{store: b.store, next: &b.next}
	}
	return ns, err
}

// Update changes the settings of a namespace and waits until that is durable. They count at once, but for the clock
// and for the entities of the creation, which stay. Update fails as Create does, and with CodeNotFound.
func (b *Broker) Update(name string, o NamespaceOptions) error {
	ns, err := b.hold(name)
	if err != nil {
		return err
	}
	defer ns.admin.Unlock()
	before := ns.Options()
	if err := b.checkOptions(name, &before, &o); err != nil {
		return err
	}
	o.Time, o.Entities = before.Time, before.Entities
	if err := b.write(ns, o); err != nil {
		return err
	}
	for _, q := range ns.catalog.entities(KindTopic) {
		q.mu.Lock()
		q.topic.largest.Store(q.options.maxMessageBytes(ns.Profile()))
		q.mu.Unlock()
	}
	return nil
}

// hold returns a namespace with its admin locked, so that its settings and entities don't change meanwhile.
func (b *Broker) hold(name string) (*Namespace, error) {
	ns, err := b.Namespace(name)
	if err != nil {
		return nil, err
	}
	ns.admin.Lock()
	if ns.stage.Load() == stageGone {
		ns.admin.Unlock()
		return nil, namespaceNotFound(name)
	}
	return ns, nil
}

// write stores a namespace with new settings, and lets it be found by them once that is committed. From now on
// nothing else may have what it is found by. A new one gets its id, its journal and its entities.
func (b *Broker) write(ns *Namespace, o NamespaceOptions) error {
	before := ns.Options()
	was, will := before.handles(ns.name), o.handles(ns.name)
	if err := b.directory.claim(ns, will); err != nil {
		return err
	}
	var err error
	if ns.journal == nil {
		err = b.begin(ns, o)
	} else {
		err = b.put(ns, o)
	}
	if err != nil {
		b.directory.release(ns, will)
		return err
	}
	ns.settings.Store(&o)
	b.directory.replace(ns, was, will)
	return nil
}

// begin stores a new namespace with its entities by one change, and makes them.
func (b *Broker) begin(ns *Namespace, o NamespaceOptions) error {
	id := b.next.Add(1) - 1
	if id > maxNamespaces {
		return errorf(CodeQuotaExceeded, "",
			"The namespace '%s' can't be created: the database has had %d. Begin with an empty one.",
			ns.name, int64(maxNamespaces))
	}
	setID(ns, id)
	entities, err := ns.entitiesOf(o.Entities, ns.created)
	if err == nil {
		err = b.put(ns, o, entities...)
	}
	if err != nil {
		return err
	}
	if ns.journal = b.store.Journal(ns.id); len(entities) == 0 {
		return nil
	}
	if err = (&replacement{ns: ns}).load(entities); err != nil {
		_ = await(func(done Completion) { b.store.DeleteNamespace(ns.id, done) }) // the first error matters
	}
	return err
}

// put stores a namespace with new settings, and with entities that are new, and waits.
func (b *Broker) put(ns *Namespace, o NamespaceOptions, entities ...EntityRecord) error {
	r, err := ns.record(o)
	if err != nil {
		return err
	}
	return await(func(done Completion) { b.store.PutNamespace(r, entities, done) })
}

// record returns what is stored of the namespace with some settings.
func (ns *Namespace) record(o NamespaceOptions) (NamespaceRecord, error) {
	settings, err := json.Marshal(o)
	if err != nil {
		return NamespaceRecord{}, fmt.Errorf("encode the settings of the namespace %q: %w", ns.name, err)
	}
	return NamespaceRecord{ID: ns.id, Name: ns.name, Created: ns.created, Secret: ns.secret, Options: settings}, nil
}

// Delete removes a namespace with everything in it, and waits until that is durable. Its clients' operations are
// refused from the beginning, and its Deleted channel is closed at the end. If it fails the namespace lives on.
// Delete fails with CodeNotFound, and with CodeNotAllowed for the default namespace.
func (b *Broker) Delete(name string) error {
	ns, err := b.hold(name)
	if err != nil {
		return err
	}
	defer ns.admin.Unlock()
	if ns == b.first {
		return errorf(CodeNotAllowed, "",
			"The namespace '%s' is the default one and can't be deleted. Delete its entities.", name)
	}
	var d deletion
	d.retireAll(ns)
	if err := await(func(done Completion) { b.store.DeleteNamespace(ns.id, done) }); err != nil {
		ns.stage.Store(stageThere)
		d.undo()
		return err
	}
	ns.stage.Store(stageGone)
	o := ns.Options()
	b.directory.replace(ns, o.handles(ns.name), nil)
	ns.catalog.clear()
	ns.Faults().RemoveAll()
	close(ns.deleted)
	d.finish()
	ns.common.tellDeleted(ns)
	return nil
}
