package store

import (
	"fmt"
	"path/filepath"
	"testing"

	"minibus/emulator"
)

// BenchmarkOpenNamespaces opens a database and loads what is in all of its namespaces.
func BenchmarkOpenNamespaces(b *testing.B) {
	const namespaces, entities = 1000, 10
	path := filepath.Join(b.TempDir(), "bench.db")
	s := mustOpen(b, path, Options{})
	for id := range int64(namespaces) {
		s.PutNamespace(emulator.NamespaceRecord{ID: id + 1, Name: fmt.Sprint("ns", id)}, nil, nil)
		first, _ := emulator.RowsOf(id + 1)
		c := &emulator.Change{}
		for i := range int64(entities) {
			c.Ops = append(c.Ops, putQueue(first+i, fmt.Sprint("q", i)), into(first+i, insertOp(first+100+i, 1, make([]byte, 1024))))
		}
		s.Append(c)
	}
	drain(s)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		s := mustOpen(b, path, Options{})
		list, err := s.Namespaces()
		if err != nil {
			b.Fatal(err)
		}
		var c countLoader
		for _, r := range list {
			if err := s.Journal(r.ID).Load(&c); err != nil {
				b.Fatal(err)
			}
		}
		if c.messages != namespaces*entities {
			b.Fatal(c)
		}
		drain(s)
		b.StopTimer()
		_ = s.Close()
		b.StartTimer()
	}
}

// BenchmarkNamespace makes a namespace with a queue and drops it, its rows included.
func BenchmarkNamespace(b *testing.B) {
	for _, ephemeral := range []bool{false, true} {
		b.Run(fmt.Sprintf("ephemeral=%v", ephemeral), func(b *testing.B) {
			s := benchStore(b, ephemeral)
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				id := int64(n) + 2
				first, _ := emulator.RowsOf(id)
				if err := putNamespace(s, id, "bench"); err != nil {
					b.Fatal(err)
				}
				wait(b, s, putQueue(first, "q"))
				if err := deleteNamespace(s, id); err != nil {
					b.Fatal(err)
				}
			}
			sweepNow(s)
		})
	}
}
