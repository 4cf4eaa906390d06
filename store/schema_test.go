package store

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minibus/emulator"
)

// everything is the content of a journal.
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

func (e *everything) LoadDuplicate(entity int64, key [16]byte, at int64) error {
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

// TestMigrations: a database is brought to the schema of a later version and keeps what it has. One that can't be stays as
// it is, so that the version that wrote it can still open it, and so does one of a later version.
func TestMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	newNamespace(t, s, 1, 5)
	want := namespaceContents(t, s, 1)
	must(t, s.Close())
	before := read(t, path)
	own := migrations
	defer func() { migrations = own }()
	migrations = append(slices.Clip(own), "CREATE TABLE more(x)", "CREATE TABLE entity(x)")
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "bring the schema to version 10: ") {
		t.Errorf("the error is: %v", err)
	}
	if !bytes.Equal(read(t, path), before) {
		t.Error("the file was changed")
	}
	migrations = migrations[:len(own)+1]
	for range 2 {
		s = mustOpen(t, path, Options{})
		if got, more := namespaceContents(t, s, 1), count(t, s, "more"); got != want || more != 0 {
			t.Errorf("afterwards it has%s", difference(got, want))
		}
		must(t, s.Close())
	}
	migrations = own
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "newer version of Minibus (schema 9") {
		t.Errorf("the version before opens it: %v", err)
	}
}
