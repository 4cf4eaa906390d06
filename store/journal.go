package store

import (
	"fmt"

	"minibus/emulator"
)

// journal is the journal of a namespace: the writer and the reader are the same for all.
type journal struct {
	s       *Store
	record  emulator.NamespaceRecord
	number  int64 // of its rows, when it was made
	nextRow int64
}

var (
	_ emulator.Store   = (*Store)(nil)
	_ emulator.Journal = (*journal)(nil)
)

// Namespaces implements [emulator.Store].
func (s *Store) Namespaces() ([]emulator.NamespaceRecord, error) {
	return s.writer.namespaces.list(), nil
}

// NextNamespace implements [emulator.Store].
func (s *Store) NextNamespace() int64 {
	n := &s.writer.namespaces
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next
}

// Journal implements [emulator.Store].
func (s *Store) Journal(id int64) emulator.Journal { return s.journalOf(id) }

func (s *Store) journalOf(id int64) *journal {
	n := &s.writer.namespaces
	n.mu.Lock()
	defer n.mu.Unlock()
	sp := n.current[id]
	return &journal{s: s, record: sp.record, number: sp.number, nextRow: sp.opened}
}

// PutNamespace implements [emulator.Store].
func (s *Store) PutNamespace(r emulator.NamespaceRecord, entities []emulator.EntityRecord, done emulator.Completion) {
	ops := []emulator.Op{putNamespaceOp(r)}
	for _, e := range entities {
		ops = append(ops, emulator.Op{Kind: emulator.OpPutEntity, Entity: e})
	}
	s.change(done, ops...)
}

func putNamespaceOp(r emulator.NamespaceRecord) emulator.Op {
	return emulator.Op{
		Kind: opPutNamespace, Entity: emulator.EntityRecord{ID: r.ID, Path: r.Name, Options: r.Options},
		Record: emulator.MessageRecord{Enqueued: r.Created}, Data: r.Secret[:],
	}
}

// DeleteNamespace implements [emulator.Store].
func (s *Store) DeleteNamespace(id int64, done emulator.Completion) {
	s.change(done, emulator.Op{Kind: opDeleteNamespace, Entity: emulator.EntityRecord{ID: id}})
}

func (s *Store) change(done emulator.Completion, ops ...emulator.Op) {
	s.Append(&emulator.Change{Ops: ops, Done: done})
}

// NextRow implements [emulator.Journal].
func (j *journal) NextRow() int64 { return j.nextRow }

// Secret implements [emulator.Journal].
func (j *journal) Secret() [16]byte { return j.record.Secret }

// Created implements [emulator.Journal].
func (j *journal) Created() int64 { return j.record.Created }

// Append implements [emulator.Journal].
func (j *journal) Append(c *emulator.Change) { j.s.inbox.put(item{change: c}) }

// Flush implements [emulator.Journal]. The completion gets nil even if what came before it failed.
func (j *journal) Flush(done emulator.Completion) { j.s.inbox.put(item{flush: done}) }

// ReadBodies implements [emulator.Journal].
func (j *journal) ReadBodies(r *emulator.BodyRead) { j.s.reads.put(r) }

// Load implements [emulator.Journal]. Messages come in the order of their rows, and then those that share a row. If it fails because the file is
// damaged, Close leaves the file as it is.
func (j *journal) Load(l emulator.Loader) error {
	s := j.s
	gone, err := s.loads.load(j.number, l)
	switch {
	case err == nil:
		j.Flush(emulator.CompletionFunc(func(error) { s.writer.marks.adopt(j.number, gone) }))
		return nil
	case isDamage(err):
		s.damaged.Store(true)
		return fmt.Errorf("load database %s: the file is damaged: %w; put a copy in its place, or name another file with --data", s.path, err)
	default:
		return fmt.Errorf("load database %s: %w", s.path, err)
	}
}
