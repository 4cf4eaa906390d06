package cli

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// happened has what these tests read of an event.
type happened struct {
	Number, SequenceNumber int64
	Kind, Entity, Text     string
}

func kinds(events []happened) string {
	var all []string
	for _, e := range events {
		all = append(all, e.Kind)
	}
	return strings.Join(all, " ")
}

// TestHistory follows a message that the SDK publishes, fails to process, and completes as a dead letter.
func TestHistory(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "a/b"}}, harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	b.send("events", "order-7", "x#1")
	receiver, err := b.client.NewReceiverForSubscription("events", "audit", nil)
	b.must("make a receiver", err)
	messages, err := receiver.ReceiveMessages(b.ctx, 1, nil)
	b.must("receive", err)
	b.must("dead-letter", receiver.DeadLetterMessage(b.ctx, messages[0], &azservicebus.DeadLetterOptions{Reason: new("spoilt")}))
	b.run("receive", "events/audit", "--dlq")
	b.send("a/b", "in a queue with a slash")

	const life = "sent copied delivered deadLettered delivered completed"
	table := b.run("history", "order-7")
	if !regexp.MustCompile(`^TIME +AFTER +EVENT +WHAT HAPPENED\n\S+Z +sent +sent to events .*\n\S+Z +\+\S+ +copied +copied to events/Subscriptions/audit as number 1 by the rule \$Default`).MatchString(table) ||
		strings.Count(table, "\n") != 7 || !strings.Contains(table, "because of spoilt") {
		t.Errorf("history order-7 prints\n%s", table)
	}
	if text := b.run("history", "order-7", "-o", "jsonl"); strings.Count(text, `"subQueue":"$DeadLetterQueue"`) != 2 {
		t.Errorf("history order-7 prints\n%s", text)
	}
	for _, args := range [][]string{{"order-7"}, {"events/audit#1"}, {"events/Subscriptions/audit/$DeadLetterQueue#1"}} {
		if got := kinds(lines[happened](b, b.run(append([]string{"history", "-o", "jsonl"}, args...)...))); got != life {
			t.Errorf("history %q tells %s, want %s", args, got, life)
		}
	}
	if all := decode[[]happened](b, b.run("history", "a/b#1", "--message-id", "x#1", "-o", "json")); kinds(all) != "sent sent copied" || all[0].Entity != "a/b" || all[1].Entity != "events" {
		t.Errorf("history of two messages tells %+v", all)
	}
	b.fails(3, []string{"remembers nothing of the message order-8"}, "history", "order-8")
	b.fails(3, []string{"remembers nothing of the message a/b#9"}, "history", "a/b#9")
	b.fails(2, []string{"--kind is for the list"}, "history", "order-7", "--kind", "sent")
	b.fails(2, []string{"needs its id"}, "history", "")
	b.fails(6, []string{"nothing listens"}, "-c", nowhere, "history", "order-7")
}

// TestHistoryLists lists events by all filters, in both orders, by pages.
func TestHistoryLists(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "others"}})
	b.run("send", "orders", "x", "--repeat", "1100")
	b.send("others", "last")
	numbers := func(args ...string) (all []int64) {
		t.Helper()
		for _, e := range lines[happened](b, b.run(append([]string{"history", "-o", "jsonl"}, args...)...)) {
			all = append(all, e.Number)
		}
		return all
	}
	last := numbers()
	if len(last) != 20 || !slices.IsSorted(last) || last[19] != 1101 {
		t.Errorf("history lists %d", last)
	}
	if got := numbers("--newest", "-n", "3"); !slices.Equal(got, []int64{1101, 1100, 1099}) {
		t.Errorf("history --newest lists %d", got)
	}
	for _, args := range [][]string{{"--all"}, {"--all", "--newest"}, {"-n", "5000"}} {
		got := numbers(args...)
		if slices.Contains(args, "--newest") {
			slices.Reverse(got)
		}
		if len(got) != 1101 || got[0] != 1 || !slices.IsSorted(got) {
			t.Errorf("history %q lists %d events, from %d", args, len(got), got[:min(3, len(got))])
		}
	}
	if got := numbers("--entity", "others", "--kind", "sent,completed", "--since", "1h", "--client", "127.0.0.1"); len(got) != 0 {
		t.Errorf("history of another client lists %d", got)
	}
	if got := numbers("--entity", "others", "--kind", "sent,completed", "--since", "1h", "--before", time.Now().Add(time.Hour).Format(time.RFC3339)); !slices.Equal(got, []int64{1101}) {
		t.Errorf("history of others lists %d", got)
	}
	if r := b.try("history", "--entity", "nothing"); r.code != 0 || r.out != "" || r.errors != "nothing happened that the flags choose\n" {
		t.Errorf("history --entity nothing: %+v", r)
	}
	b.fails(2, []string{"There is no event", "deadLettered"}, "history", "--kind", "nothing")
	b.fails(2, []string{"--since"}, "history", "--since", "yesterday")
	b.fails(2, []string{"--count"}, "history", "-n", "0")
	b.fails(2, []string{"leave one out"}, "history", "-n", "5", "--all")
	b.fails(2, []string{"leave --newest out"}, "history", "-f", "--newest")
}

// TestHistoryFollows shows what comes, beginning without a gap, until it is interrupted and until the server ends.
func TestHistoryFollows(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "others"}})
	b.send("orders", "1", "2")
	for _, format := range []string{"table", "jsonl", "json"} {
		out := &syncBuffer{}
		cmd := b.command("history", "-f", "-n", "1", "--entity", "orders", "--kind", "sent", "-o", format)
		cmd.Stdout = out
		b.must("start", cmd.Start())
		b.until("the last event", func() bool { return strings.Contains(out.String(), "to orders as number") })
		b.send("others", "3")
		before := strings.Count(out.String(), "to orders as number")
		b.send("orders", "4", "5")
		b.until("two events", func() bool { return strings.Count(out.String(), "to orders as number") == before+2 })
		b.must("interrupt", cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 130 || strings.Contains(out.String(), "others") {
			t.Errorf("history -f -o %s ended with %d: %s", format, cmd.ProcessState.ExitCode(), out.String())
		}
		if format == "json" && len(decode[[]happened](b, out.String())) != 3 {
			t.Errorf("history -f -o json prints %s", out.String())
		}
	}
}

// TestWait waits for a program that receives with the SDK.
func TestWait(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "others"}}, harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	b.send("orders", "1", "2", "3")
	b.send("events", "4")
	go func() {
		receiver, err := b.client.NewReceiverForQueue("orders", nil)
		for received := 0; err == nil && received < 3; {
			var messages []*azservicebus.ReceivedMessage
			messages, err = receiver.ReceiveMessages(b.ctx, 1, nil)
			for _, m := range messages {
				time.Sleep(100 * time.Millisecond)
				_ = receiver.CompleteMessage(b.ctx, m, nil)
				received++
			}
		}
	}()
	if out := b.run("wait", "orders", "--events", "completed=3", "--from", "1"); out != "met: 3 of 3 events\n" {
		t.Errorf("wait for events prints %q", out)
	}
	if out := b.run("wait", "orders", "--idle", "--active", "0", "--dead-letter", "0-5"); out != "met: no messages\n" {
		t.Errorf("wait --idle prints %q", out)
	}
	type answer struct {
		Met    bool
		Counts struct{ Active int }
		Why    struct{ Findings []struct{ Code string } }
	}
	if w := decode[answer](b, b.run("wait", "events/audit", "--active", "1+", "-o", "json")); !w.Met || w.Counts.Active != 1 {
		t.Errorf("wait -o json prints %+v", w)
	}
	r := b.try("wait", "events/audit", "--active", "0", "--timeout", "300ms", "-o", "jsonl")
	b.failed(r, 5, []string{"wait: not met after 300ms: 1 active; wanted: exactly 0 active in events/Subscriptions/audit"}, "wait")
	if w := decode[answer](b, r.out); w.Met || w.Counts.Active != 1 || len(w.Why.Findings) == 0 || w.Why.Findings[0].Code != "no-receiver" {
		t.Errorf("wait in vain prints %+v", w)
	}
	if r := b.try("wait", "events/audit", "--idle", "--timeout", "100ms"); r.code != 5 || !strings.Contains(r.out, "! no-receiver") || !strings.Contains(r.out, "-> ") {
		t.Errorf("wait in vain gives %+v", r)
	}
	if out := b.run("wait", "orders", "--events", "completed", "--from", "1"); out != "met: 3 events\n" {
		t.Errorf("wait for one event of three prints %q", out)
	}
	b.fails(5, []string{"0 of 1 event"}, "wait", "--events", "any", "--timeout", "100ms")
	b.fails(3, []string{"could not be found"}, "wait", "nothing", "--idle")
	b.fails(2, []string{"what for?"}, "wait", "orders")
	b.fails(2, []string{"need ENTITY"}, "wait", "--idle")
	b.fails(2, []string{"There is no event"}, "wait", "--events", "nothing")
	b.fails(2, []string{"choose among --events"}, "wait", "orders", "--idle", "--from", "3")
	for _, wrong := range [][2]string{{"--active", "x"}, {"--active", "3-1"}, {"--active", "-1"}, {"--deferred", "1+-2"}, {"--timeout", "2h"}, {"--timeout", "0"}, {"--events", "completed=0"}} {
		b.fails(2, []string{wrong[0] + ": found"}, "wait", "orders", wrong[0]+"="+wrong[1])
	}
	b.fails(6, []string{"nothing listens"}, "-c", nowhere, "wait", "orders", "--idle")

	b.waitsForAMessage()
	mute, err := net.Listen("tcp", "127.0.0.1:0") // which never answers
	b.must("listen", err)
	defer mute.Close()
	cmd := b.command("-c", fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true", mute.Addr()),
		"wait", "events/audit", "--active", "0", "--timeout", "1h")
	b.must("start", cmd.Start())
	conn, err := mute.Accept()
	b.must("accept", err)
	defer conn.Close()
	b.must("interrupt", cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("wait, interrupted, ended with %d", cmd.ProcessState.ExitCode())
	}
}

// waitsForAMessage chooses it by its content, where it stands and whether it comes later.
func (b *bench) waitsForAMessage() {
	b.Helper()
	b.send("others", "red", "green")
	if out := b.run("wait", "others", "--message", "--text", "GREEN"); out != "met: the message number 2\n" {
		b.Errorf("wait --message prints %q", out)
	}
	if out := b.run("wait", "others", "--message", "--where", "sys.MessageId = 'red'", "--active", "2", "--events", "sent=2", "--from", "1"); out != "met: 2 of 2 events; the message number 1; 2 active, 2 matching events\n" {
		b.Errorf("wait --message with others prints %q", out)
	}
	cmd := b.command("wait", "others/$DeadLetterQueue", "--message", "--reason", "spoilt", "-o", "json")
	ended := make(chan result, 1)
	go func() { ended <- b.finish(cmd) }()
	receiver, err := b.client.NewReceiverForQueue("others", nil)
	b.must("make a receiver", err)
	messages, err := receiver.ReceiveMessages(b.ctx, 1, nil)
	b.must("receive", err)
	b.must("dead-letter", receiver.DeadLetterMessage(b.ctx, messages[0], &azservicebus.DeadLetterOptions{Reason: new("spoilt")}))
	if r := <-ended; r.code != 0 || !strings.Contains(r.out, `"sequenceNumber":1`) && !strings.Contains(r.out, `"sequenceNumber": 1`) {
		b.Errorf("wait --message -o json: %+v", r)
	}
	b.fails(5, []string{"not met after 100ms: no such message"}, "wait", "others", "--message", "--session", "s", "--timeout", "100ms")
	b.fails(5, []string{"no such message"}, "wait", "others", "--message=deferred,scheduled", "--timeout", "100ms")
	b.run("send", "others", "later", "--schedule", "1h")
	if out := b.run("wait", "others", "--message=scheduled"); !strings.HasPrefix(out, "met: the message number ") {
		b.Errorf("wait --message=scheduled prints %q", out)
	}
	b.fails(2, []string{"--message, which is missing"}, "wait", "others", "--idle", "--text", "x")
	b.fails(2, []string{"need ENTITY"}, "wait", "--message")
	b.fails(2, []string{"--before: found"}, "wait", "others", "--message", "--before", "noon")
	b.fails(2, []string{"--message: found"}, "wait", "others", "--message=gone")
	b.fails(2, []string{"="}, "wait", "others", "--message", "--where", "color =")
}
