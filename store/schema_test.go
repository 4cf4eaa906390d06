package store

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"minibus/emulator"
)

// everything is the content of a journal, as testdata keeps it.
type everything struct {
	Secret   [16]byte
	Created  int64
	NextRow  int64
	Entities []emulator.EntityRecord
	Messages []emulator.MessageRecord
	Sessions []string
	History  []string
	Bodies   map[int64]string
}

func (e *everything) LoadEntity(r emulator.EntityRecord) error {
	e.Entities = append(e.Entities, r)
	return nil
}

func (e *everything) LoadMessage(r *emulator.MessageRecord) error {
	e.Messages = append(e.Messages, *r)
	return nil
}

func (e *everything) LoadSession(entity int64, id string, state []byte, updated int64) error {
	e.Sessions = append(e.Sessions, fmt.Sprintf("%d %q %q %d", entity, id, state, updated))
	return nil
}

func (e *everything) LoadHistory(entity int64, key [16]byte, at int64) error {
	e.History = append(e.History, fmt.Sprintf("%d %x %d", entity, key, at))
	return nil
}

// everythingIn reads a journal to its end.
func everythingIn(t *testing.T, j emulator.Journal) *everything {
	t.Helper()
	e := &everything{Secret: j.Secret(), Created: j.Created(), NextRow: j.NextRow(), Bodies: map[int64]string{}}
	if err := j.Load(e); err != nil {
		t.Fatal(err)
	}
	slices.Sort(e.Sessions)
	r := &emulator.BodyRead{}
	for _, m := range e.Messages {
		r.IDs = append(r.IDs, m.Body)
	}
	res := make(chan error, 1)
	r.Done = emulator.CompletionFunc(func(err error) { res <- err })
	j.ReadBodies(r)
	if err := <-res; err != nil {
		t.Fatal(err)
	}
	for i, b := range r.Bodies {
		e.Bodies[r.IDs[i]] = fmt.Sprintf("%d bytes, checksum %08x", len(b), checksum(b))
	}
	return e
}

// TestDatabaseOfTheThirdSchemaOpens: testdata has one as a kill left it, with every kind of content, a deleted entity and a message that
// is only marked, and what its own version loaded from it. The next version opens it and finds the same.
func TestDatabaseOfTheThirdSchemaOpens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	unpack(t, path, "testdata/schema3.db.gz")
	want := &everything{}
	if err := json.Unmarshal(read(t, "testdata/schema3.json"), want); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want.Sessions)
	s := mustOpen(t, path, Options{})
	if got := everythingIn(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("found is\n%+v, want\n%+v", got, want)
	}
	drain(s)
	sweepNow(s)
	wait(t, s, insertOp(want.NextRow, 100, []byte("new")))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	got := everythingIn(t, s)
	if n := len(want.Messages); len(got.Messages) != n+1 || !reflect.DeepEqual(got.Messages[:n], want.Messages) || got.Secret != want.Secret ||
		got.Created != want.Created {
		t.Errorf("found after a restart is\n%+v", got)
	}
	for table, want := range map[string]int64{"messages": 11, "message": 11, "entities": 5, "entity": 5, "namespace": 1} {
		if got := count(t, s, table); got != want {
			t.Errorf("%s has %d rows, want %d", table, got, want)
		}
	}
}

func unpack(t *testing.T, path, from string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, raw)
}

// TestDatabaseOfTheFourthSchemaOpens: testdata has one with a second namespace and the tombstone of a third. The next version finds the same, and
// makes snapshots.
func TestDatabaseOfTheFourthSchemaOpens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	unpack(t, path, "testdata/schema4.db.gz")
	var want map[string]*everything
	if err := json.Unmarshal(read(t, "testdata/schema4.json"), &want); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, Options{})
	for id, w := range want {
		slices.Sort(w.Sessions)
		if got := everythingIn(t, s.Journal(int64(id[0]-'0'))); !reflect.DeepEqual(got, w) {
			t.Errorf("namespace %s has\n%+v, want\n%+v", id, got, w)
		}
	}
	before := namespaceContents(t, s, 2)
	_, done := saving(s, 2, s.NextNamespace(), 0)
	if err := done(); err != nil {
		t.Fatal(err)
	}
	if err := restoreCopy(s, 2, s.Snapshots(2)[0].Number, s.NextNamespace()); err != nil {
		t.Fatal(err)
	}
	views := []string{"messages WHERE namespace='ns2'", "entities WHERE namespace='ns2'", "sessions WHERE namespace='ns2'", "snapshots WHERE namespace='ns2'"}
	for restart := range 2 {
		if got := namespaceContents(t, s, 2); got != before {
			t.Errorf("restored is%s", difference(got, before))
		}
		for i, n := range []int64{6, 1, 1, 1} {
			if got := count(t, s, views[i]); got != n {
				t.Errorf("%d of %s, want %d", got, views[i], n)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if restart == 0 {
			s = mustOpen(t, path, Options{})
		}
	}
}

// A database that can't be brought to this version's schema stays as it is, so that the version that wrote it can still open it.
func TestFailedMigrationChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, err := openConn(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.migrate(0, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.exec("CREATE TABLE namespace(x)"); err != nil { // as the migration to version 4 wants to
		t.Fatal(err)
	}
	c.close()
	if s, err := Open(path, Options{}); err == nil {
		s.Close()
		t.Fatal("the database was opened")
	} else if !strings.Contains(err.Error(), "bring the schema to version 4: ") {
		t.Errorf("the error is: %v", err)
	}
	if c, err = openConn(path); err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if version, err := c.queryInt("PRAGMA user_version"); err != nil || version != 1 {
		t.Errorf("the version of the schema is %d (%v)", version, err)
	}
}

// TestDatabaseOfTheFifthSchemaOpens: testdata has one as a kill left it, with a snapshot, copies that share a body and a marked message. The next version finds
// the same, and stores copies that share a row beside them.
func TestDatabaseOfTheFifthSchemaOpens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	unpack(t, path, "testdata/schema5.db.gz")
	var want map[string]*everything
	if err := json.Unmarshal(read(t, "testdata/schema5.json"), &want); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, Options{})
	for id, w := range want {
		slices.Sort(w.Sessions)
		if got := everythingIn(t, s.Journal(int64(id[0]-'0'))); !reflect.DeepEqual(got, w) {
			t.Errorf("namespace %s has\n%+v, want\n%+v", id, got, w)
		}
	}
	people := count(t, s, "messages")
	op := into(4, insertOp(want["1"].NextRow, 100, []byte("new")))
	for i := range int64(packedCopies) {
		op.Copies = append(op.Copies, emulator.CopyRecord{Entity: 4 + i%2, Seq: 100 + i})
	}
	wait(t, s, op)
	if n, p := count(t, s, "messages"), count(t, s, "publication"); n != people+packedCopies || p != 1 {
		t.Errorf("people see %d messages, %d before; %d publications", n, people, p)
	}
	if err := restoreCopy(s, 2, s.Snapshots(2)[0].Number, s.NextNamespace()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	got := everythingIn(t, s.Journal(1))
	if n := len(want["1"].Messages); len(got.Messages) != n+packedCopies || !reflect.DeepEqual(got.Messages[:n], want["1"].Messages) {
		t.Errorf("found after a restart is\n%+v", got)
	}
	if got := everythingIn(t, s.Journal(2)); len(got.Messages) != len(want["2"].Messages) {
		t.Errorf("the restored namespace has %d messages", len(got.Messages))
	}
}
