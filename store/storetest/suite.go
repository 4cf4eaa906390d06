package storetest

import (
	"slices"
	"testing"

	"minibus/emulator"
)

// Journal is what the suite needs of the journal under test.
type Journal interface {
	emulator.Journal
	Close() error
}

// Run proves that a journal keeps the contract of [emulator.Journal]. open makes an empty one; reopen stands for a
// restart: it closes the journal and returns one with the same content. A journal that forgets everything when it is
// closed returns itself from reopen instead, and is then loaded once more. Run closes what is open at the end.
func Run(t *testing.T, open func(t *testing.T) (j Journal, reopen func() Journal)) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, h *harness)
	}{
		{"AllFieldsSurvive_DEC21", testAllFields},
		{"OddTexts", testOddTexts},
		{"UpdateWritesTheChangeableColumns", testUpdate},
		{"DeleteDropsTheBodyOnlyIfAsked", testDelete},
		{"SEQ4_CounterDoesNotFollowFromRows", testCounter},
		{"SEQ4_CounterNeverGoesBack", testCounterMonotonic},
		{"RowsAreNeverReused", testNextRow},
		{"PROP10_SecretIsMadeOnce", testSecret},
		{"EntityIsReplacedById", testPutEntity},
		{"DEL3_DeletedEntityTakesItsMessages", testDeleteEntity},
		{"DeletedEntityLeavesSharedBodies", testDeleteShared},
		{"ChangesAreAtomic", testAtomic},
		{"AChangeAtFaultFailsAlone", testOwnFault},
		{"UnknownAndDeletedEntitiesAreNotFound", testNotFound},
		{"CompletionsRunInOrderOfAppend", testOrder},
		{"FlushComesAfterWhatWasAppended", testFlush},
		{"BodiesOfAnySize", testBodies},
		{"ChangesAfterCloseFail", testClose},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, reopen := open(t)
			h := &harness{t: t, Journal: j, reopen: reopen, next: j.NextRow()}
			defer func() { _ = h.Close() }() // some tests close it themselves
			c.test(t, h)
		})
	}
}

// harness is a journal with short ways to use it.
type harness struct {
	Journal
	t      *testing.T
	reopen func() Journal
	next   int64
}

// content is what Load tells.
type content struct {
	entities map[int64]emulator.EntityRecord
	rows     map[int64]emulator.MessageRecord
	order    []string // "entity" and "message", as they came
}

func (c *content) LoadEntity(e emulator.EntityRecord) error {
	c.entities[e.ID] = e
	c.order = append(c.order, "entity")
	return nil
}

func (c *content) LoadMessage(r *emulator.MessageRecord) error {
	c.rows[r.Row] = *r
	c.order = append(c.order, "message")
	return nil
}

// restart reopens the journal and loads it.
func (h *harness) restart() *content {
	h.t.Helper()
	h.flush()
	h.Journal = h.reopen()
	c := &content{entities: map[int64]emulator.EntityRecord{}, rows: map[int64]emulator.MessageRecord{}}
	if err := h.Load(c); err != nil {
		h.t.Fatalf("load: %v", err)
	}
	if i := slices.Index(c.order, "message"); i >= 0 && slices.Contains(c.order[i:], "entity") {
		h.t.Error("an entity came after a message")
	}
	return c
}

// begin appends a change and returns where its result will be.
func (h *harness) begin(ops ...emulator.Op) <-chan error {
	res := make(chan error, 2)
	h.Append(&emulator.Change{Ops: ops, Done: emulator.CompletionFunc(func(err error) { res <- err })})
	return res
}

func (h *harness) try(ops ...emulator.Op) error { return <-h.begin(ops...) }

func (h *harness) must(ops ...emulator.Op) {
	h.t.Helper()
	if err := h.try(ops...); err != nil {
		h.t.Fatalf("commit: %v", err)
	}
}

func (h *harness) flush() {
	done := make(chan struct{})
	h.Flush(emulator.CompletionFunc(func(error) { close(done) }))
	<-done
}

func (h *harness) id() int64 {
	h.next++
	return h.next - 1
}

// queue stores a queue and returns its id.
func (h *harness) queue(path string) int64 {
	h.t.Helper()
	id := h.id()
	h.must(putQueue(id, path))
	return id
}

func putQueue(id int64, path string) emulator.Op {
	return emulator.Op{Kind: emulator.OpPutEntity, Entity: emulator.EntityRecord{
		ID: id, Kind: emulator.KindQueue, Path: path, Options: []byte(`{"maxDeliveryCount":3}`),
	}}
}

func dropQueue(id int64) emulator.Op {
	return emulator.Op{Kind: emulator.OpDeleteEntity, Entity: emulator.EntityRecord{ID: id}}
}

// message makes an insert with fresh ids.
func (h *harness) message(entity, seq int64, data string) emulator.Op {
	row := h.id()
	return emulator.Op{Kind: emulator.OpInsert, Data: []byte(data), Record: emulator.MessageRecord{
		Row: row, Entity: entity, Seq: seq, Body: h.id(), Enqueued: 1_700_000_000_123, Size: int64(len(data)),
	}}
}

func (h *harness) bodies(ids ...int64) [][]byte {
	h.t.Helper()
	res := make(chan error, 1)
	r := &emulator.BodyRead{IDs: ids, Bodies: make([][]byte, len(ids))}
	r.Done = emulator.CompletionFunc(func(err error) { res <- err })
	h.ReadBodies(r)
	if err := <-res; err != nil {
		h.t.Fatalf("read bodies: %v", err)
	}
	return r.Bodies
}
