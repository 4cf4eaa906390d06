package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// tables are those in which a namespace has rows.
var tables = []string{"message", "publication", "body", "body_part", "session", "history", "counter", "entity"}

func tryNamespace(change func(emulator.Completion)) error {
	res := make(chan error, 1)
	change(emulator.CompletionFunc(func(err error) { res <- err }))
	return <-res
}

func putNamespace(s *Store, id int64, name string) error {
	r := emulator.NamespaceRecord{ID: id, Name: name, Created: 1000 + id, Secret: [16]byte{byte(id), 1}, Options: []byte(`{"port":1}`)}
	return tryNamespace(func(done emulator.Completion) { s.PutNamespace(r, nil, done) })
}

func deleteNamespace(s *Store, id int64) error {
	return tryNamespace(func(done emulator.Completion) { s.DeleteNamespace(id, done) })
}

// newNamespace makes a namespace with a queue "q", whose id it returns, and n messages with everything that goes with them.
func newNamespace(t *testing.T, s *Store, id int64, n int) (queue int64) {
	t.Helper()
	if id != emulator.DefaultNamespaceID {
		if err := putNamespace(s, id, fmt.Sprint("ns", id)); err != nil {
			t.Fatal(err)
		}
	}
	queue = s.Journal(id).NextRow()
	wait(t, s, putQueue(queue, "q"))
	for i := range int64(n) {
		begin(s, into(queue, insertOp(queue+1+i, 1+i, fmt.Appendf(nil, "message %d of %d", i, id))))
	}
	state := emulator.Op{Kind: emulator.OpSessionState, Data: fmt.Append(nil, id), Record: emulator.MessageRecord{SessionID: "s"}}
	wait(t, s, into(queue, rememberOp(id, 1000)), into(queue, state))
	wait(t, s, into(queue, insertOp(queue+1+int64(n), 1+int64(n), make([]byte, maxInline+int(id)))))
	return queue
}

// into returns an operation on another entity.
func into(entity int64, op emulator.Op) emulator.Op {
	op.Record.Entity = entity
	return op
}

// rowsOf returns how many rows a namespace has, in all tables.
func rowsOf(t *testing.T, s *Store, namespace int64) (n int64) {
	t.Helper()
	for _, table := range tables {
		n += count(t, s, fmt.Sprintf("%s WHERE ns=%d", table, namespace))
	}
	return n
}

func names(t *testing.T, s *Store) (all []string) {
	t.Helper()
	list, err := s.Namespaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		all = append(all, fmt.Sprint(r.ID, r.Name))
	}
	return all
}

// TestNamespacesWithEqualPathsDoNotMix, neither while they are written nor after a restart.
func TestNamespacesWithEqualPathsDoNotMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	ids, sizes := []int64{1, 2, 3}, []int{3, 5, 4}
	for i, id := range ids {
		newNamespace(t, s, id, sizes[i])
	}
	var before []*everything
	for i, id := range ids {
		e := everythingIn(t, s.Journal(id))
		first, last := emulator.RowsOf(id)
		if len(e.Entities) != 1 || e.Entities[0].Path != "q" || len(e.Messages) != sizes[i]+1 || len(e.Sessions) != 1 || len(e.History) != 1 ||
			e.Entities[0].Last[0].Seq != int64(sizes[i]+1) || e.NextRow != first {
			t.Errorf("in the namespace %d is %+v", id, e)
		}
		for _, m := range e.Messages {
			if m.Row < first || m.Row > last || m.Entity != e.Entities[0].ID || e.Bodies[m.Body] == "" {
				t.Errorf("message %+v is in the namespace %d", m, id)
			}
		}
		before = append(before, e)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	for i, id := range ids {
		e := everythingIn(t, s.Journal(id))
		if used := e.Messages[sizes[i]].Row; e.NextRow != used+1 {
			t.Errorf("the next row of the namespace %d is %d, although %d was used", id, e.NextRow, used)
		}
		if e.NextRow = before[i].NextRow; !reflect.DeepEqual(e, before[i]) {
			t.Errorf("in the namespace %d is after a restart\n%+v, before\n%+v", id, e, before[i])
		}
	}
	list, _ := s.Namespaces()
	if want := (emulator.NamespaceRecord{ID: 3, Name: "ns3", Created: 1003, Secret: [16]byte{3, 1}, Options: []byte(`{"port":1}`)}); len(list) != 3 ||
		!reflect.DeepEqual(list[2], want) || s.NextNamespace() != 4 {
		t.Errorf("the namespaces are %+v, the next is %d", list, s.NextNamespace())
	}
	for sql, want := range map[string]int64{
		"messages WHERE namespace='ns2' AND entity='q'":                        6,
		"entities WHERE namespace='(default)' AND messages=4":                  1,
		"sessions WHERE namespace='ns3' AND bytes=1":                           1,
		"duplicate_detection WHERE namespace='ns3' AND remembered = 1":         1,
		"messages WHERE row >= 1<<40 AND namespace != 'ns' || ((row>>40) + 1)": 0,
	} {
		if got := count(t, s, sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

// TestDeletedNamespaceLeavesTheOthers: its rows go in steps, and its id is never used again.
func TestDeletedNamespaceLeavesTheOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	var queue [5]int64
	for id := range int64(4) {
		queue[id+1] = newNamespace(t, s, id+1, 5)
	}
	before := []*everything{everythingIn(t, s.Journal(1)), everythingIn(t, s.Journal(3))}
	for _, id := range []int64{2, 4} {
		if err := deleteNamespace(s, id); err != nil {
			t.Fatal(err)
		}
		var de *emulator.Error
		for what, err := range map[string]error{
			"a message":  <-begin(s, into(queue[id], insertOp(queue[id]+100, 100, nil))),
			"an entity":  <-begin(s, putQueue(queue[id]+101, "late")),
			"a deletion": deleteNamespace(s, id),
		} {
			if !errors.As(err, &de) || de.Code != emulator.CodeNotFound {
				t.Errorf("%s of the deleted namespace %d: %v", what, id, err)
			}
		}
	}
	sweepNow(s)
	if a, b := rowsOf(t, s, 2), rowsOf(t, s, 4); a != 0 || b != 0 {
		t.Errorf("%d and %d rows are left", a, b)
	}
	for restarted := range 2 {
		if got := names(t, s); !slices.Equal(got, []string{"1", "3ns3"}) || s.NextNamespace() != 5 {
			t.Errorf("the namespaces are %v, the next is %d", got, s.NextNamespace())
		}
		for i, id := range []int64{1, 3} {
			e := everythingIn(t, s.Journal(id))
			if e.NextRow = before[i].NextRow; !reflect.DeepEqual(e, before[i]) {
				t.Errorf("in the namespace %d is\n%+v, before\n%+v", id, e, before[i])
			}
		}
		if err := s.Close(); err != nil || restarted == 1 {
			return
		}
		s = mustOpen(t, path, Options{})
	}
}

// TestRemovalOfANamespaceGoesOnAfterAKill, of which no step removes more than a few rows.
func TestRemovalOfANamespaceGoesOnAfterAKill(t *testing.T) {
	s := newStore(t)
	const many = 3*clearRows + 7
	newNamespace(t, s, 2, many)
	newNamespace(t, s, 3, 5)
	hold(s, func() {
		s.DeleteNamespace(2, nil)
		s.Flush(emulator.CompletionFunc(func(error) {
			before, _ := s.writer.conn.queryInt("SELECT count(*) FROM message")
			s.writer.sweeper.step()
			after, _ := s.writer.conn.queryInt("SELECT count(*) FROM message")
			if before-after != clearRows {
				t.Errorf("a step removed %d messages", before-after)
			}
			s.writer.sweeper.buried = nil // the rest is for the next process
		}))
	})
	path := killed(t, s)
	c, err := openConn(path)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := c.queryInt("SELECT count(*) FROM message WHERE ns=2"); left < clearRows || err != nil {
		t.Fatalf("for the second process are left %d messages, %v", left, err)
	}
	c.leaveLog()
	c.close()
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if got := names(t, s); !slices.Equal(got, []string{"1", "3ns3"}) || s.NextNamespace() != 4 {
		t.Errorf("the namespaces are %v, the next is %d", got, s.NextNamespace())
	}
	stored(t, s)
	if got := len(everythingIn(t, s.Journal(3)).Messages); got != 6 {
		t.Errorf("the other namespace has %d messages", got)
	}
	drain(s)
	sweepNow(s)
	if got := rowsOf(t, s, 2) + count(t, s, "namespace WHERE id=2"); got != 0 {
		t.Errorf("%d rows are left", got)
	}
}

// TestFailedRemovalOfANamespaceIsTakenUpAgain by the next deletion.
func TestFailedRemovalOfANamespaceIsTakenUpAgain(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 5)
	newNamespace(t, s, 3, 5)
	onWriter(s, func() {
		_ = s.writer.conn.exec("CREATE TEMP TRIGGER no BEFORE DELETE ON message BEGIN SELECT raise(ABORT, 'no'); END")
	})
	if err := deleteNamespace(s, 2); err != nil {
		t.Fatal(err)
	}
	sweepNow(s)
	onWriter(s, func() { _ = s.writer.conn.exec("DROP TRIGGER no") })
	if rowsOf(t, s, 2) == 0 {
		t.Fatal("it did not fail")
	}
	if err := deleteNamespace(s, 3); err != nil {
		t.Fatal(err)
	}
	sweepNow(s)
	if got := rowsOf(t, s, 2) + rowsOf(t, s, 3); got != 0 {
		t.Errorf("%d rows are left", got)
	}
}

// TestFailedChangesOfNamespacesAreTakenBack proves invariant 2 for them.
func TestFailedChangesOfNamespacesAreTakenBack(t *testing.T) {
	s := newStore(t)
	queue := newNamespace(t, s, 2, 1)
	fail := func() {
		onWriter(s, func() { s.beforeCommit = func() error { s.beforeCommit = nil; return errors.New("broken") } })
	}
	want := []string{"1", "2ns2"}
	for what, change := range map[string]func() error{
		"creating": func() error { return putNamespace(s, 3, "ns3") },
		"renaming": func() error { return putNamespace(s, 2, "renamed") },
		"deleting": func() error { return deleteNamespace(s, 2) },
	} {
		fail()
		if err := change(); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s says %v", what, err)
		}
		drain(s)
		if got := names(t, s); !slices.Equal(got, want) {
			t.Errorf("after %s has failed the namespaces are %v", what, got)
		}
	}
	wait(t, s, into(queue, insertOp(queue+50, 50, nil)))
	sweepNow(s)
	if got := len(everythingIn(t, s.Journal(2)).Messages); got != 3 {
		t.Errorf("%d messages are there, want 3", got)
	}
	newNamespace(t, s, 3, 1)
}

// TestNamespacesReserveTheirOwnIDs: after a kill, no namespace uses an id again.
func TestNamespacesReserveTheirOwnIDs(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 3)
	queue := newNamespace(t, s, 3, 0)
	far := into(queue, insertOp(queue+5*rowBlock, 10, nil))
	wait(t, s, far)
	used := map[int64]int64{1: 1, 2: s.Journal(2).NextRow() + 4, 3: far.Record.Row}
	s = mustOpen(t, killed(t, s), Options{})
	defer s.Close()
	for id, row := range used {
		if got := s.Journal(id).NextRow(); got <= row || got > row+rowBlock {
			t.Errorf("the next row of the namespace %d is %d, although %d was used", id, got, row)
		}
	}
}

// TestSweepStaysInItsNamespace: it does not walk the messages of others.
func TestSweepStaysInItsNamespace(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 3*sweepScan)
	for id := range int64(2) {
		wait(t, s, putQueue(100+id, fmt.Sprint("q", id)))
		wait(t, s, into(100+id, insertOp(110+id, 1, nil)))
	}
	phases := 0
	hold(s, func() {
		_ = begin(s, dropQueue(100))
		s.Flush(emulator.CompletionFunc(func(error) {
			for s.writer.sweeper.step() {
				phases++
			}
		}))
	})
	drain(s)
	if phases == 0 || phases > 6 {
		t.Errorf("the sweep took %d steps", phases)
	}
	if got := rowsOf(t, s, 2); got < 3*sweepScan {
		t.Errorf("the other namespace has %d rows", got)
	}
}

// TestFullDisk_NamespacesCanBeDeleted but not made, and a deletion makes room.
func TestFullDisk_NamespacesCanBeDeleted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	newNamespace(t, s, 2, 500)
	smallDisk(s, 8<<20)
	n := fillUp(t, s)
	if err := putNamespace(s, 3, "ns3"); !isRefused(err) {
		t.Errorf("a new namespace on a full disk: %v", err)
	}
	if err := deleteNamespace(s, 2); err != nil {
		t.Fatal(err)
	}
	sweepNow(s)
	if got := rowsOf(t, s, 2); got != 0 {
		t.Errorf("%d rows are left", got)
	}
	wait(t, s, insertOp(10+n, 1+n, make([]byte, 4000)))
	if err := putNamespace(s, 3, "ns3"); err != nil {
		t.Error(err)
	}
}

// TestDamageInANamespaceLeavesTheFile, although another one was loaded before: nothing is tidied up until all are.
func TestDamageInANamespaceLeavesTheFile(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 5)
	wait(t, s, putQueue(50, "deleted"))
	onWriter(s, func() {
		err := s.writer.conn.exec("UPDATE entity SET deleted=1 WHERE id=50")
		if err == nil {
			err = s.writer.conn.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
		}
		if err != nil {
			t.Error(err)
		}
	})
	path := killed(t, s)
	before := read(t, path)
	s = mustOpen(t, path, Options{})
	everythingIn(t, s.Journal(1))
	drain(s)
	drain(s)
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() != 0 {
		t.Errorf("the log is %+v, %v", log, err)
	}
	s.damaged.Store(true) // what the load of the second finds
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(read(t, path), before) {
		t.Error("the file was changed")
	}
}

// TestNamespacesAreFoundByRange: neither loading nor removing one walks the rows of others.
func TestNamespacesAreFoundByRange(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 0)
	if err := deleteNamespace(s, 2); err != nil {
		t.Fatal(err)
	}
	sweepNow(s)
	onWriter(s, func() {
		c := s.writer.conn
		for _, st := range append(slices.Clone(s.writer.sweeper.ranges), s.loads.counters, s.loads.entities, s.loads.messages, s.loads.sessions, s.loads.duplicates) {
			sql := libc.GoString(lib.Xsqlite3_sql(st.c.tls, st.p))
			err := c.each("EXPLAIN QUERY PLAN "+sql, func(st *stmt) error {
				if plan := string(st.columnView(3)); strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
					t.Errorf("%s: %s", sql, plan)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestBrokerFindsItsNamespaces, of which it made two and deleted one, after a restart.
func TestBrokerFindsItsNamespaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	b, err := emulator.OpenBroker(s, emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"orders", "invoices"} {
		ns, err := b.Create(name, emulator.NamespaceOptions{Aliases: []string{name + ".example.com"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ns.Entities().CreateQueue("q", emulator.QueueOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	orders, err := b.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Delete("invoices"); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if b, err = emulator.OpenBroker(s, emulator.Options{}); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ns, err := b.Find("orders.example.com", 0)
	if err != nil || len(b.Namespaces()) != 2 || ns.Created() != orders.Created() || !reflect.DeepEqual(ns.Options(), orders.Options()) {
		t.Errorf("found are %v, %v, %v", b.Namespaces(), ns, err)
	}
	if _, err := ns.Entity("Q"); err != nil {
		t.Error(err)
	}
	if _, err := ns.Entities().CreateQueue("another", emulator.QueueOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := b.Create("invoices", emulator.NamespaceOptions{}); err != nil {
		t.Error(err)
	}
}
