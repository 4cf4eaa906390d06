package cli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// TestSessions lists them, writes their state and breaks a lock.
func TestSessions(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "orders", RequiresSession: true}, {Name: "plain"}})
	b.run("send", "orders", "hello", "--session", "s/1")
	type session struct {
		ID             string
		Active, Locked int
		Holder         *string
		State          *struct{ Text string }
	}
	if table := b.run("sessions", "ls", "orders"); !strings.HasPrefix(table, "SESSION ") || !strings.Contains(table, "\ns/1 ") {
		t.Errorf("sessions ls prints %q", table)
	}
	b.run("sessions", "set", "orders", "s/1", "step 1")
	b.feed("step 2", "sessions", "set", "orders", "", "--file", "-")
	if s := decode[session](b, b.run("sessions", "show", "orders", "s/1", "-o", "json")); s.Active != 1 || s.State == nil || s.State.Text != "step 1" {
		t.Errorf("sessions show prints %+v", s)
	}
	if text := b.run("sessions", "show", "orders", ""); !strings.Contains(text, "step 2") {
		t.Errorf("sessions show prints %q", text)
	}
	b.run("sessions", "clear", "orders", "")
	if list := lines[session](b, b.run("sessions", "ls", "orders", "-o", "jsonl")); len(list) != 1 || list[0].ID != "s/1" || list[0].Holder != nil {
		t.Errorf("sessions ls prints %+v", list)
	}
	b.fails(1, []string{"is not locked"}, "sessions", "break", "orders", "s/1")
	_, err := b.client.AcceptSessionForQueue(b.ctx, "orders", "s/1", nil)
	b.must("accept the session", err)
	if list := lines[session](b, b.run("sessions", "ls", "orders", "-o", "jsonl")); len(list) != 1 || list[0].Holder == nil {
		t.Errorf("sessions ls prints %+v", list)
	}
	b.run("sessions", "break", "orders", "s/1")
	b.fails(3, []string{"has no session 'x'"}, "sessions", "show", "orders", "x")
	b.fails(3, []string{"could not be found"}, "sessions", "ls", "nothing")
	b.fails(1, []string{"has no sessions"}, "sessions", "ls", "plain")
	b.fails(2, []string{"STATE or with --file"}, "sessions", "set", "orders", "x")
}

// TestPurgeAndResubmitByFilter does what takes the control API.
func TestPurgeAndResubmitByFilter(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "other"}, {Name: "sessions", RequiresSession: true}})
	b.send("orders", "red", "green", "blue")
	b.run("send", "orders", "later", "--schedule", "1h")
	if text := b.run("purge", "orders", "--text", "GREEN", "--yes"); text != "purged 1 message from orders\n" {
		t.Errorf("purge prints %q", text)
	}
	type purged struct{ Purged int }
	if p := decode[purged](b, b.run("purge", "orders", "--scheduled", "--yes", "-o", "json")); p.Purged != 1 {
		t.Errorf("purge prints %+v", p)
	}
	b.fails(2, []string{"SQL filter"}, "purge", "orders", "--where", "=", "--yes")
	b.fails(2, []string{"--before"}, "purge", "orders", "--before", "yesterday", "--yes")
	b.fails(3, []string{"no message with the sequence number 99"}, "purge", "orders", "--number", "99", "--yes")
	b.fails(3, []string{"could not be found"}, "purge", "nothing", "--text", "x", "--yes")
	b.wantBodies("after the purges", b.peek("orders"), "red", "blue")
	b.run("receive", "orders", "--count", "2", "--dead-letter", "--reason", "poison")
	b.fails(1, []string{"1 dead letter could not be moved", "has no session id"}, "dlq", "resubmit", "orders", "--text", "red", "--to", "sessions")
	if text := b.run("dlq", "resubmit", "orders", "--where", "DeadLetterReason = 'poison'", "--text", "red"); !strings.HasPrefix(text, "resubmitted 1 dead letter from orders/$DeadLetterQueue to orders") {
		t.Errorf("dlq resubmit prints %q", text)
	}
	b.fails(2, []string{"--new-ids"}, "dlq", "resubmit", "orders", "--text", "red", "--new-ids")
	b.run("dlq", "purge", "orders", "--reason", "poison", "--yes")
	b.wantBodies("at the end", b.peek("orders"), "red")
	b.wantBodies("dead letters at the end", b.peek("orders", "--dlq"))
}

// TestAnInterruptCancelsAJob in the middle. The command says how far it came, and the rest stays.
func TestAnInterruptCancelsAJob(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	const all = 100_000
	b := start(t, queue("orders"))
	b.feed(strings.Repeat("x\n", all), "send", "orders", "--lines")
	receiver, err := b.client.NewReceiverForQueue("orders", nil)
	b.must("make a receiver", err)
	cmd := b.command("purge", "orders", "--text", "x", "--yes")
	var errs strings.Builder
	cmd.Stderr = &errs
	b.must("start the purge", cmd.Start())
	for {
		first, err := receiver.PeekMessages(b.ctx, 1, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64(0))})
		b.must("peek", err)
		if len(first) == 0 || *first[0].SequenceNumber > 1 {
			break
		}
	}
	b.must("interrupt", cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	found := regexp.MustCompile(`after ([\d,]+) messages purged`).FindStringSubmatch(errs.String())
	if code := cmd.ProcessState.ExitCode(); code != 130 || found == nil {
		t.Fatalf("purge ends with %d: %s", code, errs.String())
	}
	first, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
	b.must("read the number", err)
	type purged struct{ Purged int }
	if rest := decode[purged](b, b.run("purge", "orders", "--text", "x", "--yes", "-o", "json")).Purged; first == 0 || rest == 0 || first+rest != all {
		t.Errorf("%d were purged before the interrupt, %d after it", first, rest)
	}
}

// TestResubmitWithChanges changes dead letters on their way.
func TestResubmitWithChanges(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"), harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "s"}}, {Queue: harness.Queue{Name: "t"}}}})
	b.run("send", "orders", "wrong", "-p", "draft=yes", "-p", "tenant=a")
	b.run("receive", "orders", "--dead-letter", "--reason", "poison")
	b.fails(2, []string{`--set: found "size"`}, "dlq", "resubmit", "orders", "--set", "size")
	b.fails(2, []string{"--body and --body-file contradict"}, "dlq", "resubmit", "orders", "--body", "x", "--body-file", "y")
	b.run("dlq", "resubmit", "orders", "--set", "size=int:5", "--unset", "draft", "--subject", "mended", "--body", "right")
	got := b.peek("orders")
	b.wantBodies("the copy", got, "right")
	if p := got[0].ApplicationProperties; got[0].Subject != "mended" || p["size"] == nil || p["draft"] != nil || p["tenant"] != "a" || p["DeadLetterReason"] != nil {
		t.Errorf("the copy is %+v", got[0])
	}
	b.run("receive", "orders", "--dead-letter", "--reason", "poison")
	b.run("dlq", "resubmit", "orders", "--strip=false")
	if got := b.peek("orders"); len(got) != 1 || got[0].ApplicationProperties["DeadLetterReason"] != "poison" {
		t.Errorf("the copy that keeps its properties is %+v", got)
	}
	b.send("events", "e")
	b.run("receive", "events/s", "--dead-letter")
	r := b.try("dlq", "resubmit", "events/s", "--text", "e")
	if r.code != 0 || r.errors != "the copies go to the topic events, so all its subscriptions that match get one; --to names another target\n" {
		t.Errorf("dlq resubmit of a subscription gives %+v", r)
	}
	b.wantBodies("the other subscription", b.peek("events/t"), "e", "e")
}
