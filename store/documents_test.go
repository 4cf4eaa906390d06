package store

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
)

// TestDocuments are there when Put returns, also after a kill, and a deletion of several is one change.
func TestDocuments(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{})
	want := map[string]string{}
	check := func(when string) {
		t.Helper()
		all, err := s.Documents().All()
		must(t, err)
		got := map[string]string{}
		for key, value := range all {
			got[key] = string(value)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s there are %v, want %v", when, got, want)
		}
	}
	check("at first")
	for i := range 3 {
		key := fmt.Sprint("/subscriptions/", i)
		must(t, s.Documents().Put(key, []byte(`{"old":1}`)))
		must(t, s.Documents().Put(key, []byte(`{"ü":1}`)))
		want[key] = `{"ü":1}`
	}
	check("after puts")
	s = mustOpen(t, killed(t, s), Options{})
	defer s.Close()
	check("after a kill")
	onWriter(s, func() { s.beforeCommit = func() error { s.beforeCommit = nil; return errors.New("broken") } })
	if err := s.Documents().Delete("/subscriptions/0"); err == nil {
		t.Error("a deletion whose commit fails says nothing")
	}
	drain(s)
	check("after a failed deletion")
	must(t, s.Documents().Delete("/subscriptions/0", "/subscriptions/1", "missing"))
	delete(want, "/subscriptions/0")
	delete(want, "/subscriptions/1")
	check("after a deletion")
}

// TestDocumentsOfAnOlderDatabase: one of the first schema gets the table, and keeps what it has.
func TestDocumentsOfAnOlderDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, err := openConn(path)
	must(t, err)
	must(t, c.exec("BEGIN;"+schema+fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", applicationID, firstSchema)))
	must(t, c.exec("UPDATE namespace SET created=4711"))
	c.close()
	for range 2 {
		s := mustOpen(t, path, Options{})
		must(t, s.Documents().Put("key", []byte("{}")))
		if s.Created() != 4711 {
			t.Errorf("the namespace was made at %d", s.Created())
		}
		must(t, s.Close())
	}
}
