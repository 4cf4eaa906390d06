package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestReceive(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "q"}, {Name: "sessions", RequiresSession: true}})
	b.send("q", "1", "2", "3", "4", "5", "6", "7", "8", "9")
	if table := b.run("receive", "q"); !strings.HasPrefix(table, "NUMBER  STATE ") || !strings.Contains(table, "  ID  SUBJECT  SESSION  DELIVERIES  BODY\n") ||
		!strings.HasSuffix(table, " 1\n") {
		t.Errorf("receive prints %q", table)
	}
	b.wantBodies("completed", lines[peeked](b, b.run("receive", "q", "-n", "2", "-o", "jsonl")), "2", "3")
	if got := decode[[]peeked](b, b.run("receive", "q", "-o", "json", "--receive-and-delete")); len(got) != 1 || got[0].Body != "4" {
		t.Errorf("receive and delete prints %+v", got)
	}
	b.run("receive", "q", "--dead-letter", "--reason", "invalid", "--description", "no customer")
	if dead := b.peek("q", "--dlq"); len(dead) != 1 || dead[0].ApplicationProperties["DeadLetterReason"] != "invalid" ||
		dead[0].ApplicationProperties["DeadLetterErrorDescription"] != "no customer" {
		t.Errorf("dead-lettered: %+v", dead)
	}
	b.run("receive", "q", "--defer")
	b.wantBodies("abandoned", lines[peeked](b, b.run("receive", "q", "--all", "--abandon", "--wait", "1s", "-o", "jsonl")), "7", "8", "9")
	left := b.peek("q")
	b.wantBodies("left", left, "6", "7", "8", "9")
	if left[0].State != "deferred" || left[1].DeliveryCount != 1 || left[3].DeliveryCount != 1 {
		t.Errorf("left: %+v", left)
	}
	b.wantBodies("after abandon nothing is locked", lines[peeked](b, b.run("receive", "q", "--all", "--wait", "1s", "-o", "jsonl")), "7", "8", "9")
	b.fails(5, []string{"no message in q within 100ms"}, "receive", "q", "--wait", "100ms")
	b.wantBodies("dead letter", lines[peeked](b, b.run("receive", "q", "--dlq", "-o", "jsonl")), "5")
	b.run("send", "sessions", "a", "--session", "s1")
	b.run("send", "sessions", "b", "--session", "")
	b.wantBodies("session", lines[peeked](b, b.run("receive", "sessions", "--session", "s1", "-o", "jsonl")), "a")
	b.wantBodies("next session", lines[peeked](b, b.run("receive", "sessions", "--next-session", "-o", "jsonl")), "b")
	b.fails(5, []string{"no free session"}, "receive", "sessions", "--next-session", "--wait", "300ms")
	b.fails(1, []string{"--session ID", "--next-session"}, "receive", "sessions")
	b.fails(3, []string{"receive from none", "could not be found"}, "receive", "none")
	b.fails(2, []string{"contradict"}, "receive", "q", "--abandon", "--defer")
	b.fails(2, []string{"--reason"}, "receive", "q", "--reason", "x")
	b.fails(2, []string{"dead-letter queue already"}, "receive", "q", "--dlq", "--dead-letter")
	b.fails(2, []string{"no sessions"}, "receive", "q", "--dlq", "--session", "s")
}

// TestReceive_InterruptedLeavesNothingLocked interrupts a command that waits for more messages, and one in the middle of many.
func TestReceive_InterruptedLeavesNothingLocked(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "q", LockDuration: "PT5M"}, {Name: "sessions", RequiresSession: true, LockDuration: "PT5M"}})
	b.send("q", "1", "2")
	b.interrupt(func(line string) bool { return strings.Contains(line, `"2"`) }, "receive", "q", "--all", "--wait", "60s", "--abandon", "-o", "jsonl")
	b.wantBodies("what was abandoned", lines[peeked](b, b.run("receive", "q", "-n", "2", "--wait", "2s", "-o", "jsonl")), "1", "2")
	const many = 3000
	b.run("send", "q", "x", "--repeat", fmt.Sprint(many))
	seen := b.interrupt(func(string) bool { return true }, "receive", "q", "--all", "--wait", "60s", "-o", "jsonl")
	left := lines[peeked](b, b.run("receive", "q", "--all", "--wait", "2s", "-o", "jsonl"))
	if seen == 0 || seen+len(left) != many {
		t.Errorf("received %d, then %d of %d messages: the rest is locked", seen, len(left), many)
	}
	b.run("send", "sessions", "a", "--session", "s")
	b.interrupt(func(string) bool { return true }, "receive", "sessions", "--session", "s", "--all", "--wait", "60s", "--abandon", "-o", "jsonl")
	b.wantBodies("session", lines[peeked](b, b.run("receive", "sessions", "--session", "s", "-o", "jsonl", "--wait", "2s")), "a")
}

// interrupt runs a command, interrupts it after a line of its output, and returns how many lines it printed.
func (b *bench) interrupt(after func(line string) bool, args ...string) (printed int) {
	b.Helper()
	cmd := b.command(args...)
	var errs syncBuffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	b.must("make a pipe", err)
	b.must("start", cmd.Start())
	for s := bufio.NewScanner(out); s.Scan(); {
		if printed++; after != nil && after(s.Text()) {
			b.must("interrupt", cmd.Process.Signal(os.Interrupt))
			after = nil
		}
	}
	_ = cmd.Wait()
	b.failed(result{errors: errs.String(), code: cmd.ProcessState.ExitCode()}, 130, []string{"interrupted, after"}, args...)
	return printed
}

// TestReceive_OutputThatFails closes the pipe behind the first message: those that were not written must still be there.
func TestReceive_OutputThatFails(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "q", LockDuration: "PT5M"}})
	b.send("q", "1", "2", "3")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	b.must("open /dev/full", err)
	defer full.Close()
	cmd := b.command("receive", "q", "--all", "--wait", "1s", "-o", "jsonl")
	var errs syncBuffer
	cmd.Stdout, cmd.Stderr = full, &errs
	_ = cmd.Run()
	b.failed(result{errors: errs.String(), code: cmd.ProcessState.ExitCode()}, 1, []string{"write to standard output", "no space left"}, "receive > /dev/full")
	b.wantBodies("left", lines[peeked](b, b.run("receive", "q", "--all", "--wait", "2s", "-o", "jsonl")), "1", "2", "3")
}

func TestDeadLetters(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "q", DetectDuplicates: true}, {Name: "other"}, {Name: "sessions", RequiresSession: true}},
		harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "s"}}, {Queue: harness.Queue{Name: "t"}}}})
	b.fails(3, []string{"none", "could not be found"}, "dlq", "ls", "none")
	if got := b.try("dlq", "ls"); got.code != 0 || got.errors != "no entity has dead letters\n" {
		t.Errorf("dlq ls of nothing gives %+v", got)
	}
	if got := b.try("dlq", "ls", "q"); got.code != 0 || got.errors != "no dead letters in q\n" {
		t.Errorf("dlq ls of an entity without any gives %+v", got)
	}
	for i := range 4 {
		b.run("send", "other", fmt.Sprint(i), "--message-id", fmt.Sprint("m", i), "-p", "size=int:5", "--subject", "about", "--ttl", "1h")
	}
	b.run("receive", "other", "-n", "3", "--dead-letter", "--reason", "first", "--description", "words")
	b.run("receive", "other", "--dead-letter", "--reason", "second")
	type letters struct {
		Entity, Reason, Description string
		Count                       int
	}
	if got := lines[letters](b, b.run("dlq", "ls", "-o", "jsonl")); len(got) != 1 || got[0] != (letters{Entity: "other", Count: 4}) {
		t.Errorf("dlq ls prints %+v", got)
	}
	if got := lines[letters](b, b.run("dlq", "ls", "other", "-o", "jsonl")); len(got) != 2 || got[0] != (letters{"other/$DeadLetterQueue", "first", "words", 3}) ||
		got[1].Reason != "second" || got[1].Count != 1 {
		t.Errorf("dlq ls other prints %+v", got)
	}
	if table := b.run("dlq", "ls", "other"); !strings.HasPrefix(table, "REASON ") || strings.Count(table, "\n") != 3 {
		t.Errorf("dlq ls other prints %q", table)
	}
	if text := b.run("dlq", "resubmit", "other", "--reason", "second"); text != "resubmitted 1 dead letter from other/$DeadLetterQueue to other\n" {
		t.Errorf("dlq resubmit prints %q", text)
	}
	copies := b.peek("other")
	if len(copies) != 1 || copies[0].MessageID != "m3" || copies[0].Subject != "about" || copies[0].TimeToLive != "PT1H" || len(copies[0].ApplicationProperties) != 1 ||
		copies[0].DeliveryCount != 0 {
		t.Errorf("the copy is %+v", copies)
	}
	dead := b.peek("other", "--dlq")
	b.run("dlq", "resubmit", "other", "--to", "q", "--number", fmt.Sprint(dead[1].SequenceNumber), "--ttl", "30m")
	if got := b.peek("q"); len(got) != 1 || got[0].Body != "1" || got[0].TimeToLive != "PT30M" {
		t.Errorf("the copy elsewhere is %+v", got)
	}
	b.wantBodies("what stays, unlocked", b.peek("other", "--dlq"), "0", "2")
	b.run("dlq", "resubmit", "other", "-n", "1", "--new-ids")
	if got := b.peek("other"); len(got) != 2 || got[1].Body != "0" || got[1].MessageID == "m0" {
		t.Errorf("the copy with a new id is %+v", got)
	}
	b.fails(3, []string{"could not be found", "after 0 of 1"}, "dlq", "resubmit", "other", "--to", "none")
	b.wantBodies("after a failure", b.peek("other", "--dlq"), "2")
	if got := b.run("dlq", "purge", "other"); got != "purged 1 message from other/$DeadLetterQueue\n" {
		t.Errorf("dlq purge prints %q", got)
	}
	b.run("send", "events", "e")
	b.run("receive", "events/s", "--dead-letter")
	got := b.try("dlq", "resubmit", "events/s")
	if got.code != 0 || got.errors != "the copies go to the topic events, so all its subscriptions that match get one; --to names another target\n" {
		t.Errorf("dlq resubmit of a subscription gives %+v", got)
	}
	b.wantBodies("the other subscription", b.peek("events/t"), "e", "e")
	b.run("send", "sessions", "x", "--session", "s1")
	b.run("receive", "sessions", "--session", "s1", "--dead-letter")
	b.run("dlq", "resubmit", "sessions")
	if got := b.peek("sessions", "--session", "s1"); len(got) != 1 || got[0].SessionID != "s1" {
		t.Errorf("the copy in the session is %+v", got)
	}
}

// TestResubmit_Interrupted looks for every message after an interrupt in the middle: none may be lost, and none may stay locked.
func TestResubmit_Interrupted(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "q", LockDuration: "PT5M"}, {Name: "to"}})
	const many = 2000
	b.run("send", "q", "x", "--repeat", fmt.Sprint(many))
	b.run("receive", "q", "-n", fmt.Sprint(many), "--dead-letter", "--wait", "2s")
	cmd := b.command("dlq", "resubmit", "q", "--to", "to")
	var errs syncBuffer
	cmd.Stderr = &errs
	copies, err := b.client.NewReceiverForQueue("to", nil) // a process for each look would be too slow to see the middle
	b.must("make a receiver", err)
	look := func() bool {
		seen, err := copies.PeekMessages(b.ctx, 1, nil)
		b.must("peek", err)
		return len(seen) > 0
	}
	look() // connects
	b.must("start", cmd.Start())
	b.until("the first copies", look)
	b.must("interrupt", cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	b.failed(result{errors: errs.String(), code: cmd.ProcessState.ExitCode()}, 130, []string{"interrupted, after", "of 2,000 dead letters"}, "dlq resubmit")
	ids := make(map[string]int)
	for _, m := range b.peek("to") {
		ids[m.MessageID]++
	}
	copied := len(ids)
	left := b.peek("q", "--dlq")
	for _, m := range left {
		ids[m.MessageID]++
	}
	free := lines[peeked](b, b.run("receive", "q", "--dlq", "--all", "--wait", "2s", "-o", "jsonl"))
	if locked := len(left) - len(free); len(ids) != many || copied == 0 || locked != 0 {
		t.Errorf("of %d messages %d are copied and %d left, %d in all; %d are locked", many, copied, len(left), len(ids), locked)
	}
}

func TestPurge(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "q"}, {Name: "sessions", RequiresSession: true}},
		harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "s"}}}})
	b.run("send", "q", "x", "--repeat", "1200")
	b.run("send", "q", "later", "--schedule", "1h")
	if got := b.run("purge", "q", "-n", "100"); got != "purged 100 messages from q\n" {
		t.Errorf("purge -n prints %q", got)
	}
	if got := decode[map[string]any](b, b.run("purge", "q", "--yes", "-o", "json")); got["purged"] != 1100.0 || got["entity"] != "q" {
		t.Errorf("purge prints %v", got)
	}
	b.wantBodies("what is scheduled", b.peek("q"), "later")
	for _, session := range []string{"a", "b", "c"} {
		b.run("send", "sessions", "x", "--session", session, "--repeat", "3")
	}
	if got := b.run("purge", "sessions", "--wait", "1s"); got != "purged 9 messages from sessions\n" {
		t.Errorf("purge of sessions prints %q", got)
	}
	b.run("send", "events", "e")
	if got := b.run("purge", "events/s"); got != "purged 1 message from events/s\n" {
		t.Errorf("purge of a subscription prints %q", got)
	}
	b.fails(3, []string{"purge none", "could not be found"}, "purge", "none")
	b.fails(2, []string{"--count"}, "purge", "q", "-n", "-1")
}

// TestConnections tries each way to name the namespace, and each way to fail.
func TestConnections(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("q"))
	with := func(environ []string, args ...string) result {
		cmd := b.command(args...)
		cmd.Env = append(cmd.Env, environ...)
		return b.finish(cmd)
	}
	nowhere := "Endpoint=sb://localhost:1;SharedAccessKeyName=n;SharedAccessKey=topsecret;UseDevelopmentEmulator=true"
	for _, r := range []result{
		with(nil, "queue", "ls"),
		with([]string{"SERVICEBUS_CONNECTION_STRING=" + nowhere}, "queue", "ls", "-c", b.connection),
		with([]string{"SERVICEBUS_CONNECTION_STRING=" + nowhere}, "-c", b.connection, "queue", "ls"),
	} {
		if r.code != 0 {
			t.Errorf("ended with %d: %s", r.code, r.errors)
		}
	}
	for _, args := range [][]string{{"queue", "ls"}, {"send", "q", "x"}, {"peek", "q"}, {"receive", "q"}, {"purge", "q"}, {"dlq", "resubmit", "q"}, {"tail", "q", "-f"}} {
		r := with([]string{"SERVICEBUS_CONNECTION_STRING=" + nowhere}, args...)
		b.failed(r, 6, []string{"nothing listens at localhost:1", "SERVICEBUS_CONNECTION_STRING"}, args...)
		if strings.Contains(r.errors, "topsecret") {
			t.Errorf("%v prints the key: %s", args, r.errors)
		}
	}
	for connection, text := range map[string]string{"Endpoint=sb://localhost": "--connection", "nonsense": "quotation marks"} {
		b.fails(2, []string{text}, "queue", "ls", "-c", connection)
	}
	tls := strings.Replace(b.connection, "UseDevelopmentEmulator=true", "", 1)
	b.fails(6, []string{"not trusted", "--ca"}, "queue", "ls", "-c", tls)
	b.fails(6, []string{"not trusted", "--ca"}, "peek", "q", "-c", tls)
	b.fails(2, []string{"--ca", "no such file"}, "queue", "ls", "-c", tls, "--ca", "/none")
}

// TestRights uses keys that lack a right, or are wrong.
func TestRights(t *testing.T) {
	b := start(t, nil)
	server := harness.Start(t, harness.Options{Args: []string{"--auth", "sas"}, Config: harness.WriteConfig(t, harness.Queue{Name: "q", Policies: []harness.Policy{
		{Name: "reader", Key: "reader-key", Rights: []string{"Listen"}}, {Name: "writer", Key: "writer-key", Rights: []string{"Send"}}}})})
	as := func(policy, key string) {
		b.connection = fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=%s;SharedAccessKey=%s;UseDevelopmentEmulator=true", server.Addr(), policy, key)
	}
	as("writer", "writer-key")
	b.run("send", "q", "x")
	b.fails(4, []string{"peek at q", "Listen"}, "peek", "q")
	b.fails(4, []string{"receive from q", "Listen"}, "receive", "q")
	b.fails(4, []string{"list queues", "401", "Manage"}, "queue", "ls")
	as("reader", "reader-key")
	b.fails(4, []string{"send to q", "Send"}, "send", "q", "x")
	b.wantBodies("received", lines[peeked](b, b.run("receive", "q", "-o", "jsonl")), "x")
	as("RootManageSharedAccessKey", "wrong-key")
	for _, args := range [][]string{{"queue", "ls"}, {"send", "q", "x"}, {"peek", "q"}, {"purge", "q"}} {
		b.fails(4, nil, args...)
	}
}

// TestLostLock settles a message whose lock is lost.
func TestLostLock(t *testing.T) {
	b := start(t, queue("orders"))
	b.send("orders", "a", "b")
	b.run("fault", "add", "loseLock", "--entity", "orders", "--operation", "settle", "--count", "1")
	r := b.try("receive", "orders", "-n", "2", "-o", "jsonl")
	b.failed(r, 1, []string{"settle message 1 of orders: ", "(com.microsoft:message-lock-lost)"}, "receive")
	if strings.Contains(r.errors, "Error{") || strings.Contains(r.errors, "map[") || strings.Contains(r.errors, "stay locked") {
		t.Errorf("receive says %q", r.errors)
	}
}
