package store

import (
	"bytes"
	"fmt"
	"testing"

	"minibus/emulator"
)

// shelf is a store with bodies, and a copy of them.
type shelf struct {
	*Store
	bodies map[int64][]byte
}

func newShelf(t *testing.T, ephemeral bool) shelf {
	t.Helper()
	s := mustOpen(t, t.TempDir()+"/a.db", Options{Ephemeral: ephemeral})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	wait(t, s, putQueue(1, "q"))
	return shelf{s, map[int64][]byte{}}
}

// put stores a body of that size in bytes.
func (s shelf) put(id int64, size int) {
	s.bodies[id] = bytes.Repeat([]byte{byte(id)}, size)
	begin(s.Store, insertOp(id, 1, s.bodies[id]))
}

func (s shelf) putRange(from, to int64) {
	for id := from; id <= to; id++ {
		s.put(id, 100)
	}
}

// split turns a body into one of three parts, like that of a message larger than a batch.
func (s shelf) split(t *testing.T, id int64) {
	t.Helper()
	s.sql(t, fmt.Sprintf(`UPDATE body SET parts=3, data=NULL, crc=%[2]d WHERE id=%[1]d;
		INSERT INTO body_part(ns, body, part, data) VALUES (1,%[1]d,1,'two'), (1,%[1]d,0,'one'), (1,%[1]d,2,'three')`,
		id, checksum([]byte("onetwothree"))))
	s.bodies[id] = []byte("onetwothree")
}

func (s shelf) sql(t *testing.T, sql string) {
	t.Helper()
	var err error
	onWriter(s.Store, func() {
		s.writer.conn.mu.Lock()
		defer s.writer.conn.mu.Unlock()
		err = s.writer.conn.exec(sql)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// read asks for all lists at once, so that the reader answers them in one round, or two, and returns the first error.
func (s shelf) read(lists ...[]int64) ([]*emulator.BodyRead, error) {
	reads := make([]*emulator.BodyRead, len(lists))
	res := make(chan error, len(lists))
	drain(s.Store)
	s.reader.conn.mu.Lock()
	for i, ids := range lists {
		reads[i] = &emulator.BodyRead{IDs: ids, Done: emulator.CompletionFunc(func(err error) { res <- err })}
		s.ReadBodies(reads[i])
	}
	s.reader.conn.mu.Unlock()
	var first error
	for range lists {
		if err := <-res; first == nil {
			first = err
		}
	}
	return reads, first
}

// check reads lists and compares the bodies with those that were put.
func (s shelf) check(t *testing.T, lists ...[]int64) {
	t.Helper()
	reads, err := s.read(lists...)
	if err != nil {
		t.Fatalf("read %v: %v", lists, err)
	}
	for _, r := range reads {
		if len(r.Bodies) != len(r.IDs) {
			t.Fatalf("%d bodies for %d ids", len(r.Bodies), len(r.IDs))
		}
		for i, id := range r.IDs {
			want, there := s.bodies[id]
			if got := r.Bodies[i]; !bytes.Equal(got, want) || (got != nil) != there {
				t.Fatalf("body %d of %v is %.20q of %d bytes (nil: %t), want %.20q of %d, there: %t",
					id, r.IDs, got, len(got), got == nil, want, len(want), there)
			}
		}
	}
}

func eachShelf(t *testing.T, f func(t *testing.T, s shelf)) {
	for _, ephemeral := range []bool{false, true} {
		t.Run(fmt.Sprint("ephemeral=", ephemeral), func(t *testing.T) { f(t, newShelf(t, ephemeral)) })
	}
}
