package emulator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"minibus/emulator"
)

// content is what a store has of a namespace, a line for each row, with ids that do not depend on where its rows are.
type content []string

func (c *content) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// plain is an id apart from the number of the rows.
func plain(id int64) int64 {
	first, _ := emulator.RowsOf(emulator.NamespaceOf(id))
	return id - first
}

func (c *content) LoadEntity(r emulator.EntityRecord) error {
	slices.SortFunc(r.Last, func(a, b emulator.CounterRecord) int { return int(a.Partition) - int(b.Partition) })
	c.add("entity %d %v %s %v %s", plain(r.ID), r.Kind, r.Path, r.Last, r.Options)
	return nil
}

func (c *content) LoadMessage(r *emulator.MessageRecord) error {
	m := *r
	m.Row, m.Entity, m.Body = plain(m.Row), plain(m.Entity), plain(m.Body)
	c.add("message %+v", m)
	return nil
}

func (c *content) LoadSession(entity int64, id string, state []byte, updated int64) error {
	c.add("session %d %s %q %d", plain(entity), id, state, updated)
	return nil
}

func (c *content) LoadDuplicate(entity int64, key [16]byte, at int64) error {
	c.add("remembered %d %x %d", plain(entity), key, at)
	return nil
}

// idOf returns the id of a namespace.
func (h *house) idOf(name string) int64 {
	h.t.Helper()
	list, err := h.m.Namespaces()
	i := slices.IndexFunc(list, func(r emulator.NamespaceRecord) bool { return r.Name == name })
	if err != nil || i < 0 {
		h.t.Fatalf("the namespace %q is not stored: %v, %v", name, list, err)
	}
	return list[i].ID
}

// content reads what the store has of a namespace.
func (h *house) content(name string) string {
	h.t.Helper()
	var c content
	if err := h.m.Journal(h.idOf(name)).Load(&c); err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(c)
	return strings.Join(c, "\n")
}

// wantContent compares what the store has of a namespace, and what is in memory with that.
func (h *house) wantContent(what, name, want string) {
	h.t.Helper()
	if have := h.content(name); have != want {
		h.t.Errorf("%s the namespace has\n%s\nwant\n%s", what, have, want)
	}
	ns, err := h.Namespace(name)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, fault := range append(ns.Verify(), ns.VerifyStored(h.m.Journal(h.idOf(name)))...) {
		h.t.Errorf("%s: %s", what, fault)
	}
}

func save(t *testing.T, ns *emulator.Namespace, name string) emulator.SnapshotRecord {
	t.Helper()
	r, err := ns.Snapshots().Save(context.Background(), name, false)
	if err != nil {
		t.Fatalf("save %s: %v", name, err)
	}
	return r
}

// putBack restores a snapshot and returns the namespace with its queue "q".
func (h *house) putBack(name, snapshot string) *broker {
	h.t.Helper()
	ns, err := h.Namespace(name)
	if err == nil {
		_, err = ns.Snapshots().Restore(context.Background(), snapshot)
	}
	if err != nil {
		h.t.Fatalf("restore %s: %v", snapshot, err)
	}
	return h.in(name)
}

// peeked shows the messages of a sub-queue as a client peeks them.
func (b *broker) peeked(sub emulator.SubQueue) string {
	b.t.Helper()
	var lines []string
	for _, g := range b.peekFrom(sub, 0, 250) {
		lines = append(lines, fmt.Sprintf("%d %s %d %d %v %v %v", g.seq(), g.body(), g.state(), g.count(), g.enqueued(), g.Properties.MessageID, g.ApplicationProperties))
	}
	return strings.Join(lines, "\n")
}
