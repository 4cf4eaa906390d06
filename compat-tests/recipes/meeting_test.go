package recipes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// workers is how many workers each suite runs at least.
const workers = 4

// patience bounds the time until all workers have come to the meeting.
const patience = 2 * time.Minute

// meeting is where the workers of a suite wait for each other: each asks its URL when its messages are sent, with its connection string as
// the query, and the answers come when all have asked. So all of their namespaces have messages at the same time.
type meeting struct {
	URL string

	mu   sync.Mutex
	came []string      // connection strings
	full chan struct{} // closed when all are there
}

func startMeeting(t *testing.T) *meeting {
	t.Helper()
	m := &meeting{full: make(chan struct{})}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

func (m *meeting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.came = append(m.came, r.URL.RawQuery)
	if len(m.came) == workers {
		close(m.full)
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	select {
	case <-m.full:
	case <-ctx.Done():
		http.Error(w, "the others have not come", http.StatusServiceUnavailable)
	}
}

// check wants that all workers met, each with a namespace of its own.
func (m *meeting) check(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	different := make(map[string]bool)
	for _, connection := range m.came {
		different[connection] = true
	}
	if len(m.came) != workers || len(different) != workers {
		t.Errorf("%d workers met with %d namespaces, want %d of each", len(m.came), len(different), workers)
	}
}

// suite is the surroundings of a run: a directory with the recipe's code, and a server with a port for each namespace.
type suite struct {
	dir     string
	server  *harness.Server
	environ []string
	meeting *meeting
}

// prepare makes the directory from a page's section and from files of this package, and starts the server.
func prepare(t *testing.T, page, section string, ours ...string) *suite {
	t.Helper()
	s := &suite{dir: unpack(t, page, section, ours...), meeting: startMeeting(t)}
	s.server = harness.Start(t, harness.Options{CADir: t.TempDir(), Args: []string{"--namespace-ports", "0"}})
	s.environ = []string{"SERVICEBUS_CONNECTION_STRING=" + s.server.ConnectionString(), "MINIBUS_MEETING=" + s.meeting.URL}
	return s
}

func (s *suite) url() string { return fmt.Sprintf("http://localhost:%d", s.server.Ports.HTTP) }

// name is the name of the queue in each recipe.
var name = regexp.MustCompile(`Name("?: "orders")`)

// mistake misspells a key of the entities in a file of the recipe.
func (s *suite) mistake(t *testing.T, file string) {
	t.Helper()
	path := filepath.Join(s.dir, file)
	text, err := os.ReadFile(path)
	if err != nil || len(name.FindAll(text, -1)) != 1 {
		t.Fatalf("%s does not have %v once: %v", file, name, err)
	}
	if err := os.WriteFile(path, name.ReplaceAll(text, []byte("Naem$1")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// check wants that all workers met, and that they left no namespace behind.
func (s *suite) check(t *testing.T) {
	t.Helper()
	s.meeting.check(t)
	answer, err := http.Get(s.url() + "/$minibus/v1/namespaces")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct {
		Namespaces []struct {
			Name    string
			Default bool
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	if len(list.Namespaces) != 1 || !list.Namespaces[0].Default {
		t.Errorf("the suite left namespaces behind: %v", list.Namespaces)
	}
}
