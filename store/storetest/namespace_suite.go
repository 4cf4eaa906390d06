package storetest

import (
	"fmt"
	"reflect"
	"testing"

	"minibus/emulator"
)

// Store has the methods that the suite needs of the store under test.
type Store interface {
	emulator.Store
	Close() error
}

// RunStore tests that a store keeps the contract of [emulator.Store]; what is true of each journal, [Run] tests. open
// and reopen are as of Run, except that reopen must return a store with the same content.
func RunStore(t *testing.T, open func(t *testing.T) (s Store, reopen func() Store)) {
	for _, c := range storeCases {
		t.Run(c.name, func(t *testing.T) {
			s, reopen := open(t)
			h := &storeHarness{Store: s, t: t, reopen: reopen}
			defer func() { _ = h.Close() }() // some tests close it themselves
			c.test(t, h)
		})
	}
}

// storeCases are the tests of the suite.
var storeCases = []struct {
	name string
	test func(t *testing.T, h *storeHarness)
}{
	{"TheDefaultNamespaceIsAlwaysThere", testDefaultNamespace},
	{"NamespacesAreKept", testNamespacesKept},
	{"NamespacesComeWithEntities", testNamespaceEntities},
	{"NamespacesDoNotMix", testNamespacesApart},
	{"RowsOfANamespaceAreNeverReused", testNamespaceRows},
	{"ADeletedNamespaceTakesEverythingWithIt", testNamespaceDeleted},
	{"IdsOfNamespacesAreNeverReused", testNamespaceIDs},
	{"ChangesOfTheListAndOfJournalsHaveOneOrder", testNamespaceOrder},
	{"NamespacesArePutNoMoreAfterClose", testNamespaceClosed},
	{"SnapshotsAreKeptAndRestored", testSnapshots},
	{"SnapshotsAreReplacedAndDropped", testSnapshotsReplaced},
}

// storeHarness is a store with short ways to use it.
type storeHarness struct {
	Store
	t      *testing.T
	reopen func() Store
}

func (h *storeHarness) restart() { h.Store = h.reopen() }

// await waits for the completion of what start begins.
func await(start func(emulator.Completion)) error {
	done := make(chan error, 1)
	start(emulator.CompletionFunc(func(err error) { done <- err }))
	return <-done
}

func namespaceRecord(id int64, name string) emulator.NamespaceRecord {
	return emulator.NamespaceRecord{
		ID: id, Name: name, Created: 1_700_000_000_000 + id,
		Secret: [16]byte{byte(id), 15: 1}, Options: []byte(`{"port":5701}`),
	}
}

func (h *storeHarness) put(r emulator.NamespaceRecord) {
	h.t.Helper()
	if err := await(func(c emulator.Completion) { h.PutNamespace(r, nil, c) }); err != nil {
		h.t.Fatalf("put the namespace %d: %v", r.ID, err)
	}
}

func (h *storeHarness) drop(id int64) {
	h.t.Helper()
	if err := await(func(c emulator.Completion) { h.DeleteNamespace(id, c) }); err != nil {
		h.t.Fatalf("delete the namespace %d: %v", id, err)
	}
}

// list returns all namespaces, and checks that the default one is the first.
func (h *storeHarness) list() []emulator.NamespaceRecord {
	h.t.Helper()
	list, err := h.Namespaces()
	if err != nil {
		h.t.Fatalf("list the namespaces: %v", err)
	}
	if len(list) == 0 || list[0].ID != emulator.DefaultNamespaceID {
		h.t.Fatalf("the list does not begin with the default namespace: %v", list)
	}
	return list
}

// in returns the harness of a namespace's journal. Its ids are that namespace's.
func (h *storeHarness) in(id int64) *harness {
	j := h.Journal(id)
	return &harness{Journal: &journalOf{j, h.Store}, t: h.t, next: j.NextRow()}
}

type journalOf struct {
	emulator.Journal
	store Store
}

func (j *journalOf) Close() error { return j.store.Close() }

// load streams what a namespace has, in a process that has not loaded it yet.
func (h *storeHarness) load(id int64) *content {
	h.t.Helper()
	c := newContent(h.t)
	if err := h.Journal(id).Load(c); err != nil {
		h.t.Fatalf("load the namespace %d: %v", id, err)
	}
	return c
}

func testDefaultNamespace(t *testing.T, h *storeHarness) {
	first := h.list()[0]
	j := h.Journal(first.ID)
	if j.Secret() != first.Secret || j.Created() != first.Created {
		t.Error("its journal has another secret or another time of creation")
	}
	first.Options = []byte(`{"limits":"premium"}`)
	h.put(first)
	h.restart()
	if again := h.list()[0]; !reflect.DeepEqual(again, first) {
		t.Errorf("it is %+v, was put as %+v", again, first)
	}
}

func testNamespacesKept(t *testing.T, h *storeHarness) {
	first := h.list()[0]
	want := []emulator.NamespaceRecord{
		first, namespaceRecord(2, "Orders"), namespaceRecord(3, "stocks"), namespaceRecord(5, "others"),
	}
	for _, i := range []int{3, 1, 2} {
		h.put(want[i])
	}
	want[2].Options = nil
	h.put(want[2])
	want[1].Options = []byte(`{}`)
	h.put(want[1])
	for _, when := range []string{"at once", "after a restart"} {
		list := h.list()
		for i := range list {
			if len(list[i].Options) == 0 {
				list[i].Options = nil
			}
		}
		if !reflect.DeepEqual(list, want) {
			t.Errorf("%s: %+v, want %+v", when, list, want)
		}
		for _, r := range want {
			if j := h.Journal(r.ID); j.Secret() != r.Secret || j.Created() != r.Created {
				t.Errorf("%s: the journal of %q has another secret or another time of creation", when, r.Name)
			}
		}
		h.restart()
	}
}

func testNamespaceEntities(t *testing.T, h *storeHarness) {
	first, _ := emulator.RowsOf(2)
	entities := []emulator.EntityRecord{putQueue(first, "one").Entity, putQueue(first+1, "two").Entity}
	put := func(c emulator.Completion) { h.PutNamespace(namespaceRecord(2, "orders"), entities, c) }
	if err := await(put); err != nil {
		t.Fatal(err)
	}
	h.restart()
	if got := h.load(2).entities; len(got) != 2 || got[first].Path != "one" || got[first+1].Path != "two" {
		t.Errorf("the entities of a namespace are %v", got)
	}
	if next := h.Journal(2).NextRow(); next < first+2 {
		t.Errorf("the next row is %d, and those to %d are used", next, first+1)
	}
}

// fillNamespace stores something of every kind in a namespace: a queue with messages, a number, a state and a
// remembered id.
func fillNamespace(h *harness, messages int) (queue int64) {
	queue = h.queue("q")
	for i := range messages {
		h.begin(h.message(queue, int64(i+1), fmt.Sprint("body ", i)))
	}
	h.must(sessionState(queue, "s", []byte("state"), 1), duplicateOp(queue, 0, 1))
	return queue
}

// wantFilled checks that a namespace has what fillNamespace stored, and nothing else.
func wantFilled(t *testing.T, what string, c *content, queue int64, messages int) {
	t.Helper()
	if len(c.entities) != 1 || len(c.rows) != messages || len(c.sessions) != 1 || len(c.duplicates) != 1 {
		t.Errorf("%s: %d entities, %d messages, %d states, %d remembered ids; want 1, %d, 1, 1", what,
			len(c.entities), len(c.rows), len(c.sessions), len(c.duplicates), messages)
	}
	if last := c.last(queue, 0); last != int64(messages) {
		t.Errorf("%s: the last number is %d, want %d", what, last, messages)
	}
}

func testNamespacesApart(t *testing.T, h *storeHarness) {
	h.put(namespaceRecord(2, "orders"))
	h.put(namespaceRecord(3, "stocks"))
	queues := map[int64]int64{}
	for id := range int64(3) {
		queues[id+1] = fillNamespace(h.in(id+1), int(id+1))
	}
	h.restart()
	for id, queue := range queues {
		c := h.load(id)
		wantFilled(t, fmt.Sprint("namespace ", id), c, queue, int(id))
		for row := range c.rows {
			if emulator.NamespaceOf(row) != id {
				t.Errorf("namespace %d has the row %d", id, row)
			}
		}
	}
}

func testNamespaceRows(t *testing.T, h *storeHarness) {
	h.put(namespaceRecord(2, "orders"))
	first, _ := emulator.RowsOf(2)
	if next := h.Journal(2).NextRow(); next < first {
		t.Errorf("its first row would be %d, before %d", next, first)
	}
	in := h.in(2)
	in.next = max(in.next, first)
	queue := fillNamespace(in, 3)
	used := in.next
	h.in(emulator.DefaultNamespaceID).queue("of another")
	in.must(dropQueue(queue))
	h.restart()
	if next := h.Journal(2).NextRow(); next < used || emulator.NamespaceOf(next) != 2 {
		t.Errorf("the next row is %d, those before %d were used", next, used)
	}
	next := h.Journal(emulator.DefaultNamespaceID).NextRow()
	if emulator.NamespaceOf(next) != emulator.DefaultNamespaceID {
		t.Errorf("the next row of the default namespace is %d", next)
	}
}

func testNamespaceDeleted(t *testing.T, h *storeHarness) {
	const many = 3000
	queues := map[int64]int64{}
	for id := int64(2); id <= 4; id++ {
		h.put(namespaceRecord(id, fmt.Sprint("namespace", id)))
		queues[id] = fillNamespace(h.in(id), map[int64]int{2: 2, 3: many, 4: 4}[id])
	}
	h.drop(3)
	h.put(namespaceRecord(5, "namespace3")) // the name is free at once
	queues[5] = fillNamespace(h.in(5), 5)
	for range 2 {
		h.restart() // perhaps before the rows are gone, and again
		if list := h.list(); len(list) != 4 || list[2].ID != 4 || list[3].ID != 5 {
			t.Errorf("the list is %+v", list)
		}
		for _, id := range []int64{2, 4, 5} {
			wantFilled(t, fmt.Sprint("namespace ", id), h.load(id), queues[id], int(id))
		}
		if c := h.load(emulator.DefaultNamespaceID); len(c.entities)+len(c.rows) != 0 {
			t.Errorf("the default namespace has %d entities and %d messages", len(c.entities), len(c.rows))
		}
	}
}

func testNamespaceIDs(t *testing.T, h *storeHarness) {
	if next := h.NextNamespace(); next != 2 {
		t.Errorf("the first id is %d", next)
	}
	h.put(namespaceRecord(2, "orders"))
	h.put(namespaceRecord(3, "stocks"))
	h.drop(3)
	for range 3 {
		if next := h.NextNamespace(); next != 4 {
			t.Errorf("the next id is %d, want 4", next)
		}
		h.restart()
	}
}

func testNamespaceOrder(t *testing.T, h *storeHarness) {
	h.put(namespaceRecord(2, "orders"))
	in := h.in(2)
	queue := in.queue("q")
	order := make(chan string, 5)
	told := func(what string) emulator.Completion {
		return emulator.CompletionFunc(func(err error) {
			if err != nil {
				what = err.Error()
			}
			order <- what
		})
	}
	in.Append(&emulator.Change{Ops: []emulator.Op{in.message(queue, 1, "x")}, Done: told("send")})
	h.PutNamespace(namespaceRecord(3, "stocks"), nil, told("put"))
	in.Append(&emulator.Change{Ops: []emulator.Op{in.message(queue, 2, "x")}, Done: told("send again")})
	h.DeleteNamespace(2, told("delete"))
	h.Journal(emulator.DefaultNamespaceID).Flush(told("flush"))
	for _, want := range []string{"send", "put", "send again", "delete", "flush"} {
		if got := <-order; got != want {
			t.Errorf("%q completed, want %q", got, want)
		}
	}
}

func testNamespaceClosed(t *testing.T, h *storeHarness) {
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := await(func(c emulator.Completion) { h.PutNamespace(namespaceRecord(2, "orders"), nil, c) }); err == nil {
		t.Error("a namespace was put after Close")
	}
	if err := await(func(c emulator.Completion) { h.DeleteNamespace(2, c) }); err == nil {
		t.Error("a namespace was deleted after Close")
	}
}
