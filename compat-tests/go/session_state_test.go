package compat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
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
	for _, cleared := range [][]byte{nil, {}} {
		b.must("set state", holder.SetSessionState(b.ctx, []byte("again"), nil))
		b.must("clear state", holder.SetSessionState(b.ctx, cleared, nil))
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

// States of sessions share the memory of bodies, also after a start. Whole, these take 300 MiB.
func TestMemory_SessionStates(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	const states, size = 1500, 200 << 10
	config := harness.WriteConfig(t, harness.Queue{Name: queueName, RequiresSession: true}, harness.Queue{Name: "other"})
	b := startStored(t, config)
	holder := b.accept(b.client, queueName, "s")
	b.must("close", holder.Close(b.ctx))
	state := bytes.Repeat([]byte("x"), size)
	left := make(chan int, states)
	for i := range states {
		left <- i
	}
	close(left)
	failures := make(chan error)
	for range 8 {
		c := b.connect()
		go func() {
			var err error
			for i := range left {
				var holder *azservicebus.SessionReceiver
				if holder, err = c.AcceptSessionForQueue(b.ctx, queueName, fmt.Sprint("s", i), nil); err != nil {
					break
				}
				if err = errors.Join(holder.SetSessionState(b.ctx, state, nil), holder.Close(b.ctx)); err != nil {
					break
				}
			}
			failures <- err
		}()
	}
	for range 8 {
		b.must("set state", <-failures)
	}
	b.wantSlim("other")
	b.server.Stop(t)
	ctx := b.ctx
	b = startServer(t, b.server.Options())
	b.ctx = ctx
	b.wantSlim("other")
	holder = b.accept(b.client, queueName, "s7")
	got, err := holder.GetSessionState(b.ctx, nil)
	if b.must("get state", err); !bytes.Equal(got, state) {
		t.Errorf("a state of %d bytes", len(got))
	}
}
