package storetest

import (
	"fmt"
	"sync"
	"testing"

	"minibus/emulator"
)

func testAtomic(t *testing.T, h *harness) {
	q := h.queue("q")
	ok, gone := h.message(q, 1, "ok"), h.message(q, 2, "gone")
	h.must(ok, gone)
	a, b := h.message(q, 3, "a"), h.message(q, 4, "b")
	b.Record.Row = ok.Record.Row // taken
	remove := emulator.Op{Kind: emulator.OpDelete, Record: gone.Record, DropBody: true}
	if err := h.try(remove, a, putQueue(h.id(), "new"), b); err == nil {
		t.Fatal("a change with a row that exists already succeeded")
	}
	c := h.restart()
	if len(c.rows) != 2 || len(c.entities) != 1 || c.last(q, 0) != 2 {
		t.Errorf("after the failed change there are %+v and %+v", c.entities, c.rows)
	}
	got := h.bodies(ok.Record.Body, gone.Record.Body, a.Record.Body)
	if string(got[0]) != "ok" || string(got[1]) != "gone" || got[2] != nil {
		t.Errorf("bodies are %q", got)
	}
}

// testOwnFault puts a change that cannot succeed among others: only it fails, however the journal batches them.
func testOwnFault(t *testing.T, h *harness) {
	q := h.queue("q")
	taken := h.message(q, 1, "x")
	h.must(taken)
	const bad = 25
	var results []<-chan error
	for i := range 50 {
		op := h.message(q, int64(i+2), "x")
		if i == bad {
			op.Record.Row = taken.Record.Row
			op.Record.Seq = 1000
		}
		results = append(results, h.begin(op))
	}
	for i, res := range results {
		if err := <-res; (err != nil) != (i == bad) {
			t.Errorf("change %d: %v", i, err)
		}
	}
	c := h.restart()
	if len(c.rows) != 50 || c.last(q, 0) != 51 {
		t.Errorf("%d messages with last number %d, want 50 and 51", len(c.rows), c.last(q, 0))
	}
}

// testNeeds ties changes to one that fails alone, in the same batch and in a later one.
func testNeeds(t *testing.T, h *harness) {
	q := h.queue("q")
	taken := h.message(q, 1, "x")
	h.must(taken)
	bad := h.message(q, 2, "x")
	bad.Record.Row = taken.Record.Row
	results := map[string]chan error{}
	change := func(name string, op emulator.Op) *emulator.Change {
		res := make(chan error, 2)
		results[name] = res
		return &emulator.Change{Ops: []emulator.Op{op}, Done: emulator.CompletionFunc(func(err error) { res <- err })}
	}
	first, second := change("first", bad), change("second", h.message(q, 3, "x"))
	third, other := change("third", h.message(q, 4, "x")), change("other", h.message(q, 5, "x"))
	late := change("late", h.message(q, 6, "x"))
	good := change("good", h.message(q, 7, "x"))
	second.Needs(first)
	third.Needs(second)
	third.Needs(other)
	late.Needs(first)
	good.Needs(other)
	for _, c := range []*emulator.Change{first, other, second, third} {
		h.Append(c)
	}
	h.flush()
	h.Append(late)
	h.Append(good)
	for name, res := range results {
		if err := <-res; (err == nil) != (name == "other" || name == "good") {
			t.Errorf("the %s change: %v", name, err)
		}
	}
	if c := h.restart(); len(c.rows) != 3 || c.last(q, 0) != 7 {
		t.Errorf("%d messages with last number %d, want 3 and 7", len(c.rows), c.last(q, 0))
	}
}

func testOrder(t *testing.T, h *harness) {
	const senders, each = 4, 500
	var mu sync.Mutex
	last := map[int64]int64{}
	var all sync.WaitGroup
	ops := make([][]emulator.Op, senders)
	for s := range ops {
		q := h.queue(fmt.Sprint("q", s))
		for i := range each {
			ops[s] = append(ops[s], h.message(q, int64(i+1), "x"))
		}
	}
	all.Add(senders * each)
	for s := range ops {
		go func() {
			for _, op := range ops[s] {
				h.Append(&emulator.Change{Ops: []emulator.Op{op}, Done: emulator.CompletionFunc(func(err error) {
					mu.Lock()
					defer mu.Unlock()
					if r := op.Record; err != nil || r.Seq != last[r.Entity]+1 {
						t.Errorf("number %d of entity %d came after %d (%v)", r.Seq, r.Entity, last[r.Entity], err)
					}
					last[op.Record.Entity] = op.Record.Seq
					all.Done()
				})})
			}
		}()
	}
	all.Wait()
	if c := h.restart(); len(c.rows) != senders*each {
		t.Errorf("%d messages, want %d", len(c.rows), senders*each)
	}
}

func testFlush(t *testing.T, h *harness) {
	q := h.queue("q")
	var mu sync.Mutex
	done := 0
	for i := range 100 {
		h.Append(&emulator.Change{
			Ops:  []emulator.Op{h.message(q, int64(i+1), "x")},
			Done: emulator.CompletionFunc(func(error) { mu.Lock(); done++; mu.Unlock() }),
		})
	}
	h.flush()
	mu.Lock()
	defer mu.Unlock()
	if done != 100 {
		t.Errorf("flushed after %d of 100 changes", done)
	}
}

func testClose(t *testing.T, h *harness) {
	q := h.queue("q")
	before := h.begin(h.message(q, 1, "x"))
	if err := h.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := <-before; err != nil {
		t.Errorf("what was appended before Close: %v", err)
	}
	var late []<-chan error
	for i := range 10 {
		late = append(late, h.begin(h.message(q, int64(i+2), "x")))
	}
	for i, res := range late {
		if err := <-res; err == nil {
			t.Errorf("change %d after Close succeeded", i)
		}
	}
	h.flush()
}
