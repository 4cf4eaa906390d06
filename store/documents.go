package store

import (
	"bytes"
	"fmt"

	"minibus/emulator"
)

// Documents keeps texts by key, beside the namespaces and in the same order of commits: what Resource Manager knows
// of resources that is no setting of the broker.
type Documents struct{ s *Store }

// Documents returns the documents of the database.
func (s *Store) Documents() Documents { return Documents{s} }

// All returns every document by its key.
func (d Documents) All() (map[string][]byte, error) {
	w := d.s.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[string][]byte)
	err := w.conn.each("SELECT key, value FROM documents", func(st *stmt) error {
		all[string(st.columnView(0))] = bytes.Clone(st.columnView(1))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents of database %s: %w", d.s.path, err)
	}
	return all, nil
}

// Put stores a document, instead of the one that has the key. It returns once that is committed.
func (d Documents) Put(key string, value []byte) error {
	return d.change(emulator.Op{Kind: opPutDocument, Entity: emulator.EntityRecord{Path: key}, Data: value})
}

// Delete removes documents by one change, and returns once that is committed. A key that has none is no error.
func (d Documents) Delete(keys ...string) error {
	var ops []emulator.Op
	for _, key := range keys {
		ops = append(ops, emulator.Op{Kind: opDeleteDocument, Entity: emulator.EntityRecord{Path: key}})
	}
	return d.change(ops...)
}

func (d Documents) change(ops ...emulator.Op) error {
	result := make(chan error, 1)
	d.s.change(0, emulator.CompletionFunc(func(err error) { result <- err }), ops...)
	return <-result
}

// documents writes them.
type documents struct {
	w           *writer
	put, remove *stmt
}

func (d *documents) prepare() error {
	return prepareAll(d.w.conn, map[string]**stmt{
		"INSERT INTO documents(key, value) VALUES(?,?) ON CONFLICT DO UPDATE SET value=excluded.value": &d.put,
		"DELETE FROM documents WHERE key=?": &d.remove,
	})
}

func (d *documents) store(op *emulator.Op) error {
	d.put.bindText(1, op.Entity.Path)
	d.put.bindText(2, string(op.Data))
	return d.put.exec()
}

func (d *documents) delete(op *emulator.Op) error {
	d.remove.bindText(1, op.Entity.Path)
	return d.remove.exec()
}
