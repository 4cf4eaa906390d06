package compat

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

func TestSESS22_StateIsSetReadAndCleared(t *testing.T) {
	provesAnywhere(t, "sess.state")
	b := serve(t, sessions)
	holder := b.accept(b.client, queueName, "a")
	wantState := func(holder *azservicebus.SessionReceiver, want []byte) {
		t.Helper()
		state, err := holder.GetSessionState(b.ctx, nil)
		b.must("get state", err)
		if !bytes.Equal(state, want) || (state == nil) != (want == nil) {
			b.Errorf("state is %q, want %q", state, want)
		}
	}
	wantState(holder, nil)
	large := bytes.Repeat([]byte("x"), 200<<10)
	for _, state := range [][]byte{[]byte("one"), {0, 255}, large} {
		b.must("set state", holder.SetSessionState(b.ctx, state, nil))
		wantState(holder, state)
	}
	b.put(queueName, inSession("a", "1"))
	b.must("complete", holder.CompleteMessage(b.ctx, b.receiveOne(holder), nil))
	b.must("close", holder.Close(b.ctx))
	holder = b.accept(b.connect(), queueName, "a")
	wantState(holder, large) // the state outlives messages and holders
	for _, clear := range [][]byte{nil, {}} {
		b.must("set state", holder.SetSessionState(b.ctx, []byte("again"), nil))
		b.must("clear state", holder.SetSessionState(b.ctx, clear, nil))
		wantState(holder, nil)
	}
	wantState(b.accept(b.client, queueName, "other"), nil)
}

// A session's state, its messages and its deferred messages survive kill -9; its lock does not.
func TestDEC21_SESS22_StateSurvivesARestart(t *testing.T) {
	b, again := serveTwice(t, sessions)
	b.put(queueName, inSession("a", "1"), inSession("a", "2"))
	holder := b.accept(b.client, queueName, "a")
	b.must("defer", holder.DeferMessage(b.ctx, b.receiveOne(holder), nil))
	b.receiveOne(holder)
	b.must("set state", holder.SetSessionState(b.ctx, []byte("half way"), nil))
	b = again()
	holder = b.accept(b.client, queueName, "a")
	state, err := holder.GetSessionState(b.ctx, nil)
	if b.must("get state", err); string(state) != "half way" {
		b.Errorf("state is %q", state)
	}
	b.check(b.receiveOne(holder), stamps{body: "2", seq: 2, count: 1})
	fetched, err := holder.ReceiveDeferredMessages(b.ctx, []int64{1}, nil)
	b.must("receive deferred", err)
	b.check(fetched[0], stamps{body: "1", seq: 1, count: 2, state: azservicebus.MessageStateDeferred})
}

// listSessions pages through all session ids.
func (b *bench) listSessions(o *azservicebus.ListSessionsOptions) (ids []string, pages int) {
	b.Helper()
	for pager := b.client.NewListSessionsForQueuePager(b.name(queueName), o); pager.More(); pages++ {
		page, err := pager.NextPage(b.ctx)
		b.must("list sessions", err)
		ids = append(ids, page.Sessions...)
	}
	slices.Sort(ids)
	return ids, pages
}

func TestSESS27_SESS28_SESS29_ListSessions(t *testing.T) {
	provesAnywhere(t, "sess.list")
	b := serve(t, sessions)
	if ids, _ := b.listSessions(nil); len(ids) != 0 {
		b.Fatalf("an empty queue has sessions %q", ids)
	}
	var want []string
	var messages []*azservicebus.Message
	for i := range 120 {
		want = append(want, fmt.Sprintf("s%03d", i))
		messages = append(messages, inSession(want[i], "x"))
	}
	sender := b.to(queueName)
	b.must("send", sender.SendMessageBatch(b.ctx, b.batchOf(sender, messages...), nil)) // PART-5: mixed sessions on a plain entity
	ids, pages := b.listSessions(nil)
	if !slices.Equal(ids, want) || pages != 2 {
		b.Errorf("listed %d sessions on %d pages: %q", len(ids), pages, ids)
	}
	before := time.Now().Add(-time.Minute)
	holder := b.accept(b.client, queueName, "s007")
	b.must("complete", holder.CompleteMessage(b.ctx, b.receiveOne(holder), nil))
	b.accept(b.client, queueName, "s008") // a locked one is listed too
	if ids, _ = b.listSessions(nil); len(ids) != 119 || slices.Contains(ids, "s007") {
		b.Errorf("listed %d sessions, with s007: %v", len(ids), slices.Contains(ids, "s007"))
	}
	b.must("set state", holder.SetSessionState(b.ctx, []byte("x"), nil))
	if ids, _ = b.listSessions(nil); len(ids) != 120 {
		b.Errorf("listed %d sessions, want that with a state too", len(ids))
	}
	if ids, _ = b.listSessions(&azservicebus.ListSessionsOptions{SessionStateUpdatedAfter: &before}); !slices.Equal(ids, []string{"s007"}) {
		b.Errorf("sessions with a state since %v: %q", before, ids)
	}
	after := time.Now().Add(time.Minute)
	if ids, _ = b.listSessions(&azservicebus.ListSessionsOptions{SessionStateUpdatedAfter: &after}); len(ids) != 0 {
		b.Errorf("sessions with a state since %v: %q", after, ids)
	}
}

// Four consumers take the next session again and again until all are empty: every message comes once, every session in order.
func TestSESS20_ORD1_ConsumersShareSessions(t *testing.T) {
	provesAnywhere(t, "sess.share")
	b := serve(t, sessions)
	const count, each = 40, 10
	sender := b.to(queueName)
	for i := range each {
		var round []*azservicebus.Message
		for s := range count {
			round = append(round, inSession(fmt.Sprintf("s%d", s), fmt.Sprint(i)))
		}
		b.must("send", sender.SendMessageBatch(b.ctx, b.batchOf(sender, round...), nil))
	}
	type drained struct {
		session string
		bodies  []string
		err     error
	}
	results := make(chan drained, count)
	for range 4 {
		client := b.connect()
		go func() {
			for {
				holder, err := client.AcceptNextSessionForQueue(b.ctx, b.name(queueName), nil)
				if err != nil {
					return // the test is over
				}
				d := drained{session: holder.SessionID()}
				var messages []*azservicebus.ReceivedMessage
				messages, d.err = holder.ReceiveMessages(b.ctx, each, together)
				for _, m := range messages {
					d.bodies = append(d.bodies, string(m.Body))
					if err := holder.CompleteMessage(b.ctx, m, nil); err != nil {
						d.err = err
					}
				}
				results <- d
				holder.Close(b.ctx)
			}
		}()
	}
	want := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	seen := make(map[string]bool)
	for range count {
		d := <-results
		b.must("drain session "+d.session, d.err)
		if !slices.Equal(d.bodies, want) || seen[d.session] {
			b.Errorf("session %s came as %q (seen before: %v)", d.session, d.bodies, seen[d.session])
		}
		seen[d.session] = true
	}
	b.wantTexts("what is left", b.peekQueue(queueName))
}
