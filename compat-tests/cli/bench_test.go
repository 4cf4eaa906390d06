package cli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// measured has what these tests read of a result.
type measured struct {
	Operation                       string
	Messages                        int
	PerSecond, P50Millis, P99Millis float64
}

// TestBench measures in all ways, and leaves nothing behind.
func TestBench(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "empty"}, {Name: "full"}, {Name: "sessions", RequiresSession: true}})
	b.send("full", "x")
	table := b.run("bench", "--messages", "500", "--size", "100")
	if !regexp.MustCompile(`^OPERATION +MESSAGES +SECONDS +PER SECOND +MIB/S +P50 MS +P99 MS +MAX MS\nsend +500 .*\nreceive +500 .*\ncomplete +500 .*\n$`).MatchString(table) {
		t.Errorf("bench prints\n%s", table)
	}
	for _, args := range [][]string{{"empty"}, {"sessions", "--sessions", "7"}, {"--sessions", "3", "--in-flight", "2"}, {"--size", "0", "--in-flight", "300"}} {
		all := decode[[]measured](b, b.run(append([]string{"bench", "-n", "50", "-o", "json"}, args...)...))
		for i, operation := range []string{"send", "receive", "complete"} {
			if len(all) != 3 || all[i].Operation != operation || all[i].Messages != 50 || all[i].PerSecond <= 0 || all[i].P99Millis < all[i].P50Millis {
				t.Fatalf("bench %q finds %+v", args, all)
			}
		}
	}
	if all := lines[measured](b, b.run("bench", "--duration", "300ms", "-o", "jsonl")); len(all) != 3 || all[0].Messages < 10 || all[2].Messages != all[0].Messages {
		t.Errorf("bench --duration finds %+v", all)
	}
	b.fails(1, []string{"full has 1 message, which bench would complete"}, "bench", "full")
	b.fails(2, []string{"delivers by session: give --sessions"}, "bench", "sessions")
	b.fails(2, []string{"does not deliver by session: leave --sessions out"}, "bench", "empty", "--sessions", "2")
	b.fails(3, []string{"there is no queue nothing"}, "bench", "nothing")
	b.fails(2, []string{"--in-flight: found 0"}, "bench", "--in-flight", "0")
	b.fails(2, []string{"--duration"}, "bench", "--duration", "-1s")
	b.fails(6, []string{"nothing listens"}, "-c", nowhere, "bench")
	r := b.try("bench", "--size", strconv.Itoa(2<<20), "-n", "10")
	if r.code != 1 || !strings.Contains(r.errors, "bench minibus-bench-") {
		t.Errorf("bench of messages that are too large: %+v", r)
	}
	b.wantNothingOfBench(map[string]int{"empty": 0, "full": 1, "sessions": 0})
}

// wantNothingOfBench wants these queues and no others, with so many messages, of which none is locked.
func (b *bench) wantNothingOfBench(want map[string]int) {
	b.Helper()
	type listed struct {
		Name   string
		Counts struct{ Active int }
	}
	all := lines[listed](b, b.run("queue", "ls", "-o", "jsonl"))
	for _, q := range all {
		if n, there := want[q.Name]; !there || n != q.Counts.Active {
			b.Errorf("%s has %d messages after bench", q.Name, q.Counts.Active)
		}
	}
	if len(all) != len(want) {
		b.Errorf("%+v is left after bench", all)
	}
}

// TestBenchIsInterrupted while it sends and while it receives, with a queue of its own and a given one.
func TestBenchIsInterrupted(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "empty"}, {Name: "sessions", RequiresSession: true}})
	for _, args := range [][]string{{"-n", "1000000"}, {"empty", "-n", "1000000"}, {"sessions", "-n", "1000000", "--sessions", "3"}, {"empty", "-n", "20000", "--in-flight", "500"}} {
		cmd := b.command(append([]string{"bench"}, args...)...)
		errors := &syncBuffer{}
		cmd.Stderr = errors
		event := "sent"
		if args[len(args)-1] == "500" {
			event = "completed=5000"
		}
		wait := b.command("wait", "--events", event)
		b.must("start to wait", wait.Start())
		b.must("start", cmd.Start())
		b.must("wait", wait.Wait())
		b.must("interrupt", cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || errors.String() != "minibus: interrupted, and cleaned up\n" {
			t.Errorf("bench %q ended with %d: %s", args, code, errors.String())
		}
	}
	b.wantNothingOfBench(map[string]int{"empty": 0, "sessions": 0})
}
