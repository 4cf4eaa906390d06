package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// TestSnapshots saves, lists, restores and deletes them, on a database that is killed in between. A client of the SDK of Azure stays connected over a restore and
// receives the same.
func TestSnapshots(t *testing.T) {
	b, again := durable(t)
	client, err := azservicebus.NewClientFromConnectionString(b.connection, nil)
	b.must("connect", err)
	receiver, err := client.NewReceiverForQueue("orders", nil)
	b.must("make a receiver", err)
	seen := func() (all []string) {
		t.Helper()
		list, err := receiver.PeekMessages(b.ctx, 10, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64(0))})
		b.must("peek", err)
		for _, m := range list {
			all = append(all, fmt.Sprintf("%d %s %s %v %v", *m.SequenceNumber, m.Body, m.MessageID, m.EnqueuedTime, m.State))
		}
		return all
	}
	b.run("send", "orders", "one")
	b.run("send", "orders", "two")
	b.schedule("later", time.Now().Add(30*time.Minute))
	want := fmt.Sprint(seen())
	if text := b.run("snapshot", "save", "seeded"); text != "saved the snapshot seeded: messages: 3, entities: 1\n" {
		t.Errorf("save prints %q", text)
	}
	disturb := func() {
		t.Helper()
		b.run("purge", "orders", "--yes")
		b.run("send", "orders", "three")
		b.run("queue", "create", "more")
		b.run("clock", "advance", "2h")
	}
	disturb()
	if text := b.run("snapshot", "restore", "Seeded"); text != "restored the snapshot seeded: messages: 3, entities: 1\n" {
		t.Errorf("restore prints %q", text)
	}
	if have := fmt.Sprint(seen()); have != want {
		t.Errorf("restored is %s, want %s", have, want)
	}
	disturb()
	again()
	b.run("snapshot", "restore", "seeded", "--yes", "-o", "json")
	again()
	if list := lines[struct{ Name string }](b, b.run("queue", "ls", "-o", "jsonl")); len(list) != 1 || list[0].Name != "orders" {
		t.Errorf("the queues are %v", list)
	}
	client, err = azservicebus.NewClientFromConnectionString(b.connection, nil)
	b.must("connect again", err)
	receiver, err = client.NewReceiverForQueue("orders", nil)
	b.must("make a receiver", err)
	if have := fmt.Sprint(seen()); have != want {
		t.Errorf("after kill -9 there is %s, want %s", have, want)
	}
	b.run("clock", "advance", "31m")
	if have := seen(); len(have) != 3 || !strings.HasPrefix(have[2], "4 later") {
		t.Errorf("half an hour later there is %s", have)
	}
	type shown struct {
		Name               string
		Entities, Messages int
		Saved, Now         time.Time
	}
	if list := lines[shown](b, b.run("snapshot", "ls", "-o", "jsonl")); len(list) != 1 || list[0].Name != "seeded" || list[0].Messages != 3 || list[0].Now.IsZero() {
		t.Errorf("the snapshots are %+v", list)
	}
	if list := decode[[]shown](b, b.run("snapshot", "ls", "-o", "json")); len(list) != 1 {
		t.Errorf("the snapshots are %+v", list)
	}
	if table := b.run("snapshot", "ls"); !strings.HasPrefix(table, "NAME ") || !strings.Contains(table, "\nseeded ") {
		t.Errorf("ls prints %q", table)
	}
	b.fails(1, []string{"save the snapshot: ", "has a snapshot 'seeded' already"}, "snapshot", "save", "seeded")
	if s := decode[shown](b, b.run("snapshot", "save", "seeded", "--replace", "-o", "json")); s.Messages != 3 {
		t.Errorf("replaced is %+v", s)
	}
	b.fails(2, []string{"save the snapshot: ", "is invalid"}, "snapshot", "save", "a b")
	b.fails(3, []string{"restore the snapshot: ", "has no snapshot 'x'"}, "snapshot", "restore", "x")
	b.fails(2, []string{"snapshot save needs NAME"}, "snapshot", "save")
	b.fails(2, []string{"snapshot needs a second word: snapshot ls|save|restore|rm"}, "snapshot")
	if text := b.run("snapshot", "rm", "seeded"); text != "deleted the snapshot seeded\n" {
		t.Errorf("rm prints %q", text)
	}
	b.run("snapshot", "rm", "seeded", "--if-exists")
	b.fails(3, []string{"delete the snapshot: ", "has no snapshot 'seeded'"}, "snapshot", "rm", "seeded")
	if text := b.run("snapshot", "ls", "-o", "json"); strings.TrimSpace(text) != "[]" {
		t.Errorf("ls prints %q", text)
	}
	b.fails(6, []string{"nothing listens at localhost:1"}, "-c", "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true", "snapshot", "ls")
}
