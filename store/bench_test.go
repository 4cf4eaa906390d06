package store

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"minibus/emulator"
)

const benchID = "0123456789abcdef0123456789abcdef"

func benchStore(tb testing.TB, ephemeral bool) *Store {
	tb.Helper()
	s, err := Open(filepath.Join(tb.TempDir(), "bench.db"), Options{Ephemeral: ephemeral})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	wait(tb, s, putQueue(1, "q"))
	return s
}

// wait appends one change and waits for its result.
func wait(tb testing.TB, s *Store, ops ...emulator.Op) {
	tb.Helper()
	res := make(chan error, 1)
	s.Append(&emulator.Change{Ops: ops, Done: emulator.CompletionFunc(func(err error) { res <- err })})
	if err := <-res; err != nil {
		tb.Fatal(err)
	}
}

// flight appends b.N changes, at most width at a time, as many connections would.
func flight(b *testing.B, s *Store, width int, change func(n int64) *emulator.Change) {
	slots := make(chan struct{}, width)
	var failed atomic.Int64
	done := emulator.CompletionFunc(func(err error) {
		if err != nil {
			failed.Add(1)
		}
		<-slots
	})
	before := s.Stats()
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		slots <- struct{}{}
		c := change(int64(n))
		c.Done = done
		s.Append(c)
	}
	for range width {
		slots <- struct{}{}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	after := s.Stats()
	b.ReportMetric(float64(after.Changes-before.Changes)/float64(after.Commits-before.Commits), "changes/commit")
	if failed.Load() > 0 {
		b.Fatalf("%d changes failed", failed.Load())
	}
}

func insertChange(n int64, data []byte) *emulator.Change {
	row := 2*n + 2
	c := &emulator.Change{}
	c.Single[0] = emulator.Op{Kind: emulator.OpInsert, DrawsNumber: true, Data: data, Record: emulator.MessageRecord{
		Row: row, Entity: 1, Seq: n + 1, Body: row + 1,
		Enqueued: 1_700_000_000_000 + n, Size: int64(len(data)), MessageID: benchID,
	}}
	c.Ops = c.Single[:]
	return c
}

func eachWidth(b *testing.B, f func(b *testing.B, s *Store, width int)) {
	for _, ephemeral := range []bool{false, true} {
		for _, width := range []int{1, 200} {
			name := "file"
			if ephemeral {
				name = "memory"
			}
			b.Run(fmt.Sprintf("%s/flight=%d", name, width), func(b *testing.B) {
				f(b, benchStore(b, ephemeral), width)
			})
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	data := make([]byte, 1024)
	eachWidth(b, func(b *testing.B, s *Store, width int) {
		flight(b, s, width, func(n int64) *emulator.Change { return insertChange(n, data) })
	})
}

func fill(tb testing.TB, s *Store, n int, size int) {
	tb.Helper()
	data := make([]byte, size)
	for i := range n {
		s.Append(insertChange(int64(i), data))
		if i%1000 == 0 {
			drain(s)
		}
	}
	drain(s)
}

func drain(s *Store) {
	res := make(chan error, 1)
	s.Flush(emulator.CompletionFunc(func(err error) { res <- err }))
	<-res
}

func BenchmarkDelete(b *testing.B) {
	eachWidth(b, func(b *testing.B, s *Store, width int) {
		fill(b, s, b.N, 1024)
		flight(b, s, width, func(n int64) *emulator.Change {
			c := &emulator.Change{}
			r := emulator.MessageRecord{Row: 2*n + 2, Body: 2*n + 3, Entity: 1}
			c.Single[0] = emulator.Op{Kind: emulator.OpDelete, DropBody: true, Record: r}
			c.Ops = c.Single[:]
			return c
		})
	})
}

func BenchmarkUpdate(b *testing.B) {
	eachWidth(b, func(b *testing.B, s *Store, width int) {
		fill(b, s, b.N, 1024)
		flight(b, s, width, func(n int64) *emulator.Change {
			c := insertChange(n, nil)
			c.Ops[0].Kind, c.Ops[0].DrawsNumber = emulator.OpUpdate, false
			c.Ops[0].Record.DeliveryCount = 1
			return c
		})
	})
}

type countLoader struct{ entities, messages, keys int }

func (c *countLoader) LoadEntity(emulator.EntityRecord) error    { c.entities++; return nil }
func (c *countLoader) LoadMessage(*emulator.MessageRecord) error { c.messages++; return nil }

func (c *countLoader) LoadSession(int64, string, []byte, int64) error { return nil }
func (c *countLoader) LoadDuplicate(int64, [16]byte, int64) error     { c.keys++; return nil }

// BenchmarkLoad streams a million messages of 1 KiB, as a start of the program does.
func BenchmarkLoad(b *testing.B) {
	const rows = 1_000_000
	dir := b.TempDir()
	path := filepath.Join(dir, "bench.db")
	s, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	wait(b, s, putQueue(1, "q"))
	fill(b, s, rows, 1024)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		start := time.Now()
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Since(start)
		var c countLoader
		if err := s.Load(&c); err != nil || c.messages != rows {
			b.Fatal(err, c)
		}
		b.ReportMetric(float64(opened.Milliseconds()), "open-ms")
		_ = s.Close()
	}
}
