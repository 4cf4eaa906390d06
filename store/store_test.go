package store

import (
	"path/filepath"
	"testing"

	"minibus/store/storetest"
)

func mustOpen(tb testing.TB, path string, o Options) *Store {
	tb.Helper()
	s, err := Open(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, sync := range []string{"normal", "full"} {
		t.Run(sync, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) (storetest.Journal, func() storetest.Journal) {
				path := filepath.Join(t.TempDir(), "a.db")
				s := mustOpen(t, path, Options{Synchronous: sync})
				return s, func() storetest.Journal {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = mustOpen(t, path, Options{Synchronous: sync})
					return s
				}
			})
		})
	}
}

func TestConformanceEphemeral(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (storetest.Journal, func() storetest.Journal) {
		s := mustOpen(t, "", Options{Ephemeral: true})
		return s, func() storetest.Journal { return s }
	})
}

func TestNamespacesConformance(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, func(t *testing.T) (storetest.Store, func() storetest.Store) {
		path := filepath.Join(t.TempDir(), "a.db")
		s := mustOpen(t, path, Options{})
		return s, func() storetest.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, path, Options{})
			return s
		}
	})
}
