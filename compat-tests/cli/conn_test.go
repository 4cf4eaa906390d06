package cli

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// connection has what these tests read of a connection.
type connection struct {
	ID, Remote, Transport, Product string
	Links                          []struct {
		ID                      int64
		Role, Address, WaitsFor string
	}
}

// TestConn lists those of a program with a receiver that waits, closes what it has, and sees it go on.
func TestConn(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "others"}})
	receiver, err := b.client.NewReceiverForQueue("orders", nil)
	b.must("make a receiver", err)
	got := make(chan string, 1)
	go func() {
		for b.ctx.Err() == nil {
			if messages, err := receiver.ReceiveMessages(b.ctx, 1, nil); err == nil && len(messages) == 1 {
				got <- string(messages[0].Body)
				return
			}
		}
	}()
	// link waits until the program receives, other than by a link that is known, and returns the connection and its link.
	link := func(but string) (connection, string) {
		for b.ctx.Err() == nil {
			for _, c := range decode[[]connection](b, b.run("conn", "ls", "--entity", "orders", "-o", "json")) {
				for _, l := range c.Links {
					if id := c.ID + "/" + strconv.FormatInt(l.ID, 10); l.Role == "receiver" && l.Address == "orders" && l.WaitsFor == "message" && id != but {
						return c, id
					}
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal("the program does not receive")
		return connection{}, ""
	}
	first, id := link("")
	if first.Product != "MSGolangClient" || first.Transport != "tcp" || !strings.HasPrefix(first.Remote, "127.0.0.1:") && !strings.HasPrefix(first.Remote, "[::1]:") {
		t.Errorf("conn ls prints %+v", first)
	}
	if table := b.run("conn", "ls"); !regexp.MustCompile(`(?m)^ID +REMOTE +TRANSPORT +SDK +RECEIVES +SENDS +STATE +SINCE +CONTAINER\nc\d+ .* tcp +MSGolangClient v\S+ +orders +open `).MatchString(table) {
		t.Errorf("conn ls prints %q", table)
	}
	if text := b.run("conn", "show", first.ID); !strings.HasPrefix(text, "id         "+first.ID+"\n") ||
		!regexp.MustCompile(`(?m)^LINK +ROLE +ADDRESS +MODE +SESSION +SELECTOR +CREDIT +UNSETTLED +WINDOW +MESSAGES +WAITS FOR$`).MatchString(text) ||
		!regexp.MustCompile(`(?m)receiver +orders +peekLock +1 +0 +\d+ +0 +message$`).MatchString(text) {
		t.Errorf("conn show prints %q", text)
	}
	if again := decode[connection](b, b.run("conn", "show", first.ID, "-o", "jsonl")); again.ID != first.ID {
		t.Errorf("conn show prints %+v", again)
	}
	if list := lines[connection](b, b.run("conn", "ls", "--entity", "others", "-o", "jsonl")); len(list) != 0 {
		t.Errorf("conn ls --entity others prints %+v", list)
	}
	if text := b.run("conn", "close", id); text != "detached link "+id+"\n" {
		t.Errorf("conn close prints %q", text)
	}
	second, id := link(id)
	if closed := decode[map[string]string](b, b.run("conn", "close", second.ID, "-o", "json")); closed["closed"] != second.ID || closed["kind"] != "connection" {
		t.Errorf("conn close prints %v", closed)
	}
	third, _ := link(id)
	if third.ID == second.ID {
		t.Errorf("the connection is %s as before", third.ID)
	}
	b.run("send", "orders", "hello")
	select {
	case body := <-got:
		if body != "hello" {
			t.Errorf("the program receives %q", body)
		}
	case <-b.ctx.Done():
		t.Error("the program does not receive any more")
	}
	b.fails(3, []string{"show the connection: There is no open connection 'c999'"}, "conn", "show", "c999")
	b.fails(3, []string{"close connection c999: There is no open connection 'c999'"}, "conn", "close", "c999")
	b.fails(3, []string{"close link " + third.ID + "/999: ", "has no link 999"}, "conn", "close", third.ID+"/999")
	b.fails(2, []string{"path.link"}, "conn", "close", third.ID+"/x")
	b.fails(2, []string{"needs CONNECTION"}, "conn", "close")
	b.fails(6, []string{"nothing listens"}, "-c", nowhere, "conn", "ls")
}

const nowhere = "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true"

// whyAnswer has what these tests read of the answer of why.
type whyAnswer struct {
	Entity   string
	Blocked  bool
	Findings []struct {
		Code, Text string
		Blocks     bool
	}
}

func (w whyAnswer) codes() string {
	var all []string
	for _, f := range w.Findings {
		code := f.Code
		if f.Blocks {
			code += "!"
		}
		all = append(all, code)
	}
	return strings.Join(all, " ")
}

// TestWhy asks about entities of all kinds.
func TestWhy(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "a/b"}}, harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "all"}}}})
	why := func(codes string, args ...string) {
		t.Helper()
		w := decode[whyAnswer](b, b.run(append([]string{"why", "-o", "json"}, args...)...))
		if w.codes() != codes {
			t.Errorf("why %q finds %+v, want %s", args, w, codes)
		}
	}
	b.send("orders", "1")
	why("no-receiver!", "orders")
	receiver, err := b.client.NewReceiverForQueue("orders", nil)
	b.must("make a receiver", err)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	messages, err := receiver.ReceiveMessages(ctx, 1, nil)
	if err != nil || len(messages) != 1 {
		t.Fatalf("received %v: %v", messages, err)
	}
	why("locked!", "orders")
	text := b.run("why", "orders")
	if !regexp.MustCompile(`^orders: available messages: 0, attached receivers: 1\n! locked  1 message is locked: 1 by link \d+ of connection c\d+ \(.*\), until .* \(in .*\)\.\n +-> Settle the messages where`).MatchString(text) {
		t.Errorf("why prints %q", text)
	}
	b.must("dead-letter", receiver.DeadLetterMessage(b.ctx, messages[0], &azservicebus.DeadLetterOptions{Reason: &[]string{"spoilt"}[0]}))
	why("empty! dead-lettered", "orders")
	why("wrong-sub-queue!", "orders", "--dlq")
	why("no-receiver!", "orders/$DeadLetterQueue", "--client", "nobody")
	why("topic!", "events")
	b.send("events", "1")
	why("no-receiver!", "events/all")
	why("no-receiver!", "events/Subscriptions/all")
	why("no-receiver! empty!", "a/b")
	if list := lines[whyAnswer](b, b.run("why", "events/all", "-o", "jsonl")); len(list) != 1 || list[0].Entity != "events/Subscriptions/all" || !list[0].Blocked {
		t.Errorf("why prints %+v", list)
	}
	b.fails(3, []string{"why: The messaging entity 'nothing' could not be found"}, "why", "nothing")
	b.fails(3, []string{"why: The messaging entity 'events/none' could not be found"}, "why", "events/none")
	b.fails(2, []string{"needs ENTITY"}, "why")
	b.fails(6, []string{"nothing listens"}, "-c", nowhere, "why", "orders")
}
