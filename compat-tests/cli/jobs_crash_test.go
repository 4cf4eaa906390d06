package cli

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// TestAMoveAfterACrash kills the server while a job moves messages, again and again, to and fro. Afterwards each message is in one place, and whole.
func TestAMoveAfterACrash(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	const messages = 2000
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("MINIBUS_CRASH_ROUNDS"), "5"))
	if err != nil {
		t.Fatalf("MINIBUS_CRASH_ROUNDS: %v", err)
	}
	t.Parallel()
	o := harness.Options{Config: harness.WriteTopology(t, []harness.Queue{{Name: "orders"}, {Name: "other"}}, nil), Data: filepath.Join(t.TempDir(), "minibus.db")}
	server := harness.Start(t, o)
	o.Ports = server.Ports
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rounds+4)*patience)
	t.Cleanup(cancel)
	b := &bench{T: t, ctx: ctx, connection: server.ConnectionString()}
	padding := strings.Repeat("x", 200)
	var input strings.Builder
	for i := range messages {
		fmt.Fprintf(&input, "%d %s\n", i, padding)
	}
	b.feed(input.String(), "send", "orders", "--lines")
	from, to := "orders", "other"
	for round := range rounds {
		url := fmt.Sprintf("http://localhost:%d/$minibus/v1/namespaces/$default/jobs", server.Ports.HTTP)
		answer, err := http.Post(url, "application/json", strings.NewReader(fmt.Sprintf(`{"kind": "move", "entity": %q, "target": %q}`, from, to)))
		b.must("start the job", err)
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusCreated {
			t.Fatalf("the job: %s", answer.Status)
		}
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond) // somewhere in the middle
		server.Kill(t)
		server = harness.Start(t, o)
		seen, where := make(map[string]int), make(map[string]int)
		for _, name := range []string{"orders", "other"} {
			for _, m := range b.peek(name) {
				where[name]++
				seen[m.Body]++
			}
		}
		t.Logf("round %d: %d of %d were moved to %s", round, where[to], messages, to)
		for i := range messages {
			if body := fmt.Sprintf("%d %s", i, padding); seen[body] != 1 {
				t.Errorf("round %d: the message %d is there %d times", round, i, seen[body])
			}
		}
		if len(seen) != messages || t.Failed() {
			t.Fatalf("round %d: there are %d messages, want %d", round, len(seen), messages)
		}
		if where[to] > where[from] {
			from, to = to, from
		}
	}
}
