package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestMessage lists, shows, removes and reschedules messages as they stand, while the SDK holds one.
func TestMessage(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "orders"}})
	b.send("orders", "red", "green", "blue")
	b.run("send", "orders", "later", "--schedule", "1h", "-p", "size=int:5")
	receiver, err := b.client.NewReceiverForQueue("orders", nil)
	b.must("make a receiver", err)
	held, err := receiver.ReceiveMessages(b.ctx, 1, nil)
	b.must("receive", err)
	type message struct {
		SequenceNumber        int64
		State, Body, LockedBy string
		ApplicationProperties map[string]any
		ScheduledEnqueueTime  string
	}
	list := lines[message](b, b.run("message", "ls", "orders", "-o", "jsonl"))
	if len(list) != 4 || list[0].State != "locked" || !strings.Contains(list[0].LockedBy, "link ") || list[1].Body != "green" || list[3].State != "scheduled" {
		t.Fatalf("message ls prints %+v", list)
	}
	if table := b.run("message", "ls", "orders", "--state", "locked"); !strings.HasPrefix(table, "NUMBER ") || strings.Count(table, "\n") != 2 || !strings.Contains(table, "red") {
		t.Errorf("message ls prints %q", table)
	}
	if list := decode[[]message](b, b.run("message", "ls", "orders", "--newest", "--text", "E", "-n", "2", "-o", "json")); len(list) != 2 || list[0].Body != "later" || list[1].Body != "blue" {
		t.Errorf("message ls prints %+v", list)
	}
	if text := b.run("message", "ls", "orders", "--where", "size > 9"); text != "" {
		t.Errorf("message ls prints %q", text)
	}
	if text := b.run("message", "show", "orders", "4"); !strings.Contains(text, "state ") || !strings.Contains(text, `{"int":5}`) || !strings.Contains(text, "later") {
		t.Errorf("message show prints %q", text)
	}
	b.run("message", "reschedule", "orders", "4", "2h")
	shown := b.run("message", "show", "orders", "4", "-o", "jsonl")
	if m := decode[message](b, shown); m.ScheduledEnqueueTime == list[3].ScheduledEnqueueTime || m.ScheduledEnqueueTime == "" {
		t.Errorf("after a reschedule it is %+v", m)
	}
	b.feed(shown, "send", "orders", "--jsonl")
	if body := b.run("message", "body", "orders", "5"); body != "later" {
		t.Errorf("the body of what was sent again is %q", body)
	}
	file := filepath.Join(t.TempDir(), "body")
	b.run("message", "body", "orders", "2", "--file", file)
	if body, err := os.ReadFile(file); err != nil || string(body) != "green" {
		t.Errorf("the file has %q, %v", body, err)
	}
	b.fails(1, []string{"is locked by link ", " until "}, "message", "rm", "orders", "2", "1")
	b.fails(3, []string{"no message with the sequence number 99"}, "message", "rm", "orders", "99")
	b.fails(3, []string{"no message with the sequence number 99"}, "message", "show", "orders", "99")
	b.fails(1, []string{"is not scheduled"}, "message", "reschedule", "orders", "2", "1h")
	b.fails(2, []string{"a sequence number"}, "message", "show", "orders", "x")
	b.fails(2, []string{"needs NUMBER"}, "message", "rm", "orders")
	b.fails(2, []string{"SQL filter is wrong"}, "message", "ls", "orders", "--where", "=")
	b.fails(2, []string{"--before"}, "message", "ls", "orders", "--before", "soon")
	b.fails(3, []string{"could not be found"}, "message", "ls", "nothing")
	if text := b.run("message", "rm", "orders", "2", "3", "4"); text != "deleted 3 messages from orders\n" {
		t.Errorf("message rm prints %q", text)
	}
	b.must("complete", receiver.CompleteMessage(b.ctx, held[0], nil))
	if list := lines[message](b, b.run("message", "ls", "orders", "--all", "-o", "jsonl")); len(list) != 1 || list[0].SequenceNumber != 5 {
		t.Errorf("left are %+v", list)
	}
}
