package compat

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// manySpaces is a number of namespaces, each with as many entities as entitiesOfEach. manyLimit bounds the memory of a server that has
// them, at rest.
const (
	manySpaces     = 1000
	entitiesOfEach = 10
	manyLimit      = 100 * mebibyte
)

// TestAThousandNamespacesAtRest makes them from a Config.json and starts again without it: everything is there, and the server is small
// both times.
func TestAThousandNamespacesAtRest(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	all := []harness.Space{{}}
	var queues []harness.Queue
	for i := range entitiesOfEach {
		queues = append(queues, harness.Queue{Name: fmt.Sprint("queue-", i)})
	}
	for i := range manySpaces {
		all = append(all, harness.Space{Name: fmt.Sprintf("tenant-%04d", i), Queues: queues})
	}
	o := harness.Options{Config: harness.WriteSpaces(t, all...), Data: filepath.Join(t.TempDir(), "minibus.db"), Alone: true}
	b := startServer(t, o)
	b.wantSmall("with the Config.json")
	b.server.Kill(t)
	o.Config = harness.WriteConfig(t)
	b = startServer(t, o)
	var list struct{ Namespaces []struct{ Name string } }
	answer := b.wantHTTP(200, "GET", "/$minibus/v1/namespaces", "", nil)
	if err := json.Unmarshal([]byte(answer.body), &list); err != nil || len(list.Namespaces) != manySpaces+1 {
		t.Fatalf("%d namespaces, %v", len(list.Namespaces), err)
	}
	s := connectSpaces(t, b.server)
	for _, space := range all[1:] {
		w := way{space.Name + ".localhost", b.server.Addr()}
		page := s.wantAsk(200, w, "http", "GET", "/$Resources/queues?api-version=2021-05", "")
		if n := strings.Count(page, "<QueueDescription"); n != entitiesOfEach {
			t.Fatalf("%s has %d queues", space.Name, n)
		}
	}
	b.server.Stop(t)
	b = startServer(t, o)
	b.wantSmall("without it")
}

// wantSmall fails unless the server's memory falls to manyLimit. What its start allocated the runtime gives back after a while.
func (b *bench) wantSmall(when string) {
	b.Helper()
	var seen []int64
	for deadline := time.Now().Add(memoryPatience); ; time.Sleep(time.Second) {
		seen = append(seen, b.server.Resident(b)/mebibyte)
		if seen[len(seen)-1] < manyLimit/mebibyte {
			b.Logf("%s: %v MiB", when, seen)
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s the server has %v MiB", when, seen)
		}
	}
}
