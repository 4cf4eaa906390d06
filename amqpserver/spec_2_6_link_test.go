package amqpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// wantRefused fails the test unless the server refuses the attach with the condition, and completes the detach.
func wantRefused(t *testing.T, p *amqptest.Peer, a *frames.Attach, condition amqp.Symbol) string {
	t.Helper()
	p.Send(0, a)
	answer := amqptest.Want[*frames.Attach](p)
	if answer.Source != nil || answer.Target != nil || answer.Coordinator != nil {
		t.Errorf("the answer to a refused attach has a source or target")
	}
	if answer.LinkName != a.LinkName || answer.Role == a.Role || answer.Handle != a.Handle {
		t.Errorf("answer %+v", answer)
	}
	d := amqptest.Want[*frames.Detach](p)
	if !d.Closed || d.Error == nil || d.Error.Condition != condition {
		t.Fatalf("detached with %v (closed %v), want %s", d.Error, d.Closed, condition)
	}
	p.Send(0, &frames.Detach{Handle: a.Handle, Closed: true})
	return d.Error.Description
}

func TestLink_AttachEchoes(t *testing.T) { // [AMQP 2.6.3], amqp-data-plane 3.3, 4.2
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		a := amqptest.SenderAttach(3, "amqps://host:5671/Q")
		a.LinkName, a.SndSettleMode, a.HasSndSettleMode, a.HasRcvSettleMode = "Link Ä", 2, true, true
		a.Source = &frames.Source{Address: "client id", HasAddress: true}
		got, flow := func() (*frames.Attach, *frames.Flow) {
			p.Send(0, a)
			return amqptest.Want[*frames.Attach](p), amqptest.Want[*frames.Flow](p)
		}()
		if got.LinkName != a.LinkName || got.Role != frames.RoleReceiver || got.Handle != 3 {
			t.Errorf("answer %+v", got)
		}
		if !got.HasSndSettleMode || got.SndSettleMode != 2 || !got.HasRcvSettleMode || got.RcvSettleMode != 0 {
			t.Errorf("settle modes %+v", got)
		}
		if got.Target.Address != a.Target.Address || got.Source.Address != "client id" {
			t.Errorf("target %q, source %q", got.Target.Address, got.Source.Address)
		}
		if got.MaxMessageSize != 262_144 {
			t.Errorf("max-message-size %d", got.MaxMessageSize)
		}
		if v, _ := got.Properties.Get("com.microsoft:max-message-batch-size"); v != int64(262_144) {
			t.Errorf("batch size %v", v)
		}
		if flow.DeliveryCount != 0 || flow.LinkCredit != 1000 || !flow.HasNextIncomingID || !flow.HasAvailable {
			t.Errorf("flow %+v", flow)
		}
	})
}

func TestLink_ReceiverAttachAnswer(t *testing.T) { // amqp-data-plane 4.2
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		got := p.AttachReceiver(0, amqptest.ReceiverAttach(0, "/q"))
		if !got.HasInitialDeliveryCount || got.InitialDeliveryCount != 0 {
			t.Error("no initial-delivery-count")
		}
		if got.Source.Filter == nil || got.Properties == nil || got.Target == nil {
			t.Errorf("filter %v, properties %v, target %v: none may be null", got.Source.Filter,
				got.Properties, got.Target)
		}
		if got.HasSndSettleMode || !got.HasRcvSettleMode || got.RcvSettleMode != 1 {
			t.Errorf("settle modes %+v", got)
		}
		if got.Source.Address != "/q" || got.MaxMessageSize != 1<<64-1 {
			t.Errorf("source %q, max-message-size %d", got.Source.Address, got.MaxMessageSize)
		}
	})
}

func TestLink_RefusedAttaches(t *testing.T) { // [AMQP 2.6.3], amqp-data-plane 3.3, 4.2
	sender := func(address string, change ...func(*frames.Attach)) *frames.Attach {
		a := amqptest.SenderAttach(0, address)
		for _, f := range change {
			f(a)
		}
		return a
	}
	receiver := func(address string, change ...func(*frames.Attach)) *frames.Attach {
		a := amqptest.ReceiverAttach(0, address)
		for _, f := range change {
			f(a)
		}
		return a
	}
	session := func(id any) func(*frames.Attach) {
		return func(a *frames.Attach) {
			a.Source.Filter = amqp.Map{{Key: amqp.Symbol("com.microsoft:session-filter"), Value: id}}
		}
	}
	longName := func(a *frames.Attach) { a.LinkName = strings.Repeat("n", 5000) }
	for _, c := range []struct {
		name      string
		attach    *frames.Attach
		condition amqp.Symbol
	}{
		{"sender to a missing queue", sender("nosuch"), "amqp:not-found"},
		{"receiver from a missing queue", receiver("nosuch"), "amqp:not-found"},
		{"receiver from a missing queue's dead letters", receiver("nosuch/$DeadLetterQueue"), "amqp:not-found"},
		{"management of a missing queue", sender("nosuch/$management"), "amqp:not-found"},
		{"management replies of a missing queue", receiver("nosuch/$management"), "amqp:not-found"},
		{"sender to the dead-letter queue", sender("q/$DeadLetterQueue"), "amqp:not-allowed"},
		{"no target", sender("", func(a *frames.Attach) { a.Target = nil }), "amqp:not-implemented"},
		{"no source", receiver("", func(a *frames.Attach) { a.Source, a.Target = nil, nil }), "amqp:not-implemented"},
		{"dynamic source", receiver("", func(a *frames.Attach) { a.Source = &frames.Source{Dynamic: true} }),
			"amqp:not-implemented"},
		{"address that is only a host", sender("amqp://host"), "amqp:invalid-field"},
		{"via another entity", sender("q", func(a *frames.Attach) {
			a.Properties = amqp.Map{{Key: amqp.Symbol("com.microsoft:transfer-destination-address"), Value: "q2"}}
		}), "amqp:not-found"},
		{"named session of a plain queue", receiver("q", session("s")), "amqp:not-allowed"},
		{"next session of a plain queue", receiver("q", session(nil)), "amqp:not-allowed"},
		{"described session filter", receiver("q",
			session(amqp.Described{Descriptor: uint64(0x137000000C), Value: "s"})), "amqp:not-allowed"},
		{"name that is a book", sender("q", func(a *frames.Attach) { a.LinkName = strings.Repeat("n", 9000) }),
			"amqp:invalid-field"},
		{"address that is a book", receiver(strings.Repeat("n", 9000)), "amqp:invalid-field"},
		{"name and source that are a book together", receiver(strings.Repeat("n", 5000), longName),
			"amqp:invalid-field"},
		{"name and target that are a book together", sender(strings.Repeat("n", 5000), longName), "amqp:invalid-field"},
		{"disabled queue, sender", sender("off"), "com.microsoft:entity-disabled"},
		{"disabled queue, receiver", receiver("off"), "com.microsoft:entity-disabled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.queue("off", emulator.QueueOptions{Status: emulator.StatusDisabled})
				p := b.opened(t)
				text := wantRefused(t, p, c.attach, c.condition)
				if !strings.Contains(text, "TrackingId:") {
					t.Errorf("description %q", text)
				}
				p.AttachSender(0, 0, "q") // the handle is free again
			})
		})
	}
}

func TestERR4_MissingEntityAtOnceAndByName(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		start := time.Now()
		for _, name := range []string{"no/such", "$nosuch", "no/$such"} { // a name may begin with $ (DEC-9)
			for _, attach := range []*frames.Attach{amqptest.ReceiverAttach(0, name), amqptest.SenderAttach(0, name)} {
				text := wantRefused(t, p, attach, "amqp:not-found")
				if !strings.HasPrefix(text, "The messaging entity '"+name+"' could not be found.") {
					t.Errorf("description %q", text)
				}
			}
		}
		if time.Since(start) != 0 {
			t.Errorf("it took %v", time.Since(start))
		}
	})
}

func TestERR9_DescriptionsEndWithTracking(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		text := wantRefused(t, p, amqptest.SenderAttach(0, "q/$DeadLetterQueue"), "amqp:not-allowed")
		var id, stamp string
		_, tail, _ := strings.Cut(text, " TrackingId:")
		id, tail, _ = strings.Cut(tail, "_G0_B0, SystemTracker:sbemulatorns")
		_, stamp, _ = strings.Cut(tail, ", Timestamp:")
		if len(id) != 36 || len(stamp) != len("2000-01-01T00:00:00") {
			t.Errorf("description %q", text)
		}
		text = wantRefused(t, p, amqptest.SenderAttach(0, "nosuch"), "amqp:not-found")
		if !strings.Contains(text, "SystemTracker:sbemulatorns:Queue:nosuch, ") {
			t.Errorf("description %q", text)
		}
	})
}

func TestLink_WhatFollowsARefusedAttachIsDiscarded(t *testing.T) { // clients pipeline attach, flow and transfers
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(0, amqptest.SenderAttach(0, "nosuch"))
		p.Send(0, amqptest.Flow(0, 0, 0))
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("lost")...)
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Detach](p)
		p.Send(0, amqptest.Transfer(0, 1), amqptest.Message("lost")...)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.WantSilence(time.Second)
		p.AttachSender(0, 0, "q")
	})
}

func TestLink_DetachIsAnsweredAsClosed(t *testing.T) { // [AMQP 2.6.6], amqp-data-plane 4.6
	for _, closed := range []bool{true, false} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.AttachSender(0, 0, "q")
			p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
			for h := range uint32(2) {
				p.Send(0, &frames.Detach{Handle: h, Closed: closed})
				if d := amqptest.Want[*frames.Detach](p); !d.Closed || d.Handle != h || d.Error != nil {
					t.Errorf("detach %+v", d)
				}
			}
		})
	}
}

// TestLink_NoOutcomesAfterTheDetach: a message sent right before the detach is stored and answered, but a detached
// link has no deliveries. One client ends the whole session over a late outcome.
func TestLink_NoOutcomesAfterTheDetach(t *testing.T) { // [AMQP 2.6.6]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		raw, start := frames.BeginFrame(nil, frames.TypeAMQP, 0)
		raw = frames.EndFrame(append(amqptest.Transfer(0, 0).AppendTo(raw), amqptest.Message("last")...), start)
		p.Raw(frames.AppendFrame(raw, 0, &frames.Detach{Handle: 0, Closed: true})) // in one turn of the loop
		wantOutcome(t, p, 0, "")
		amqptest.Want[*frames.Detach](p)
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 1)
	})
}

func TestLink_NameAndHandleCanBeUsedAgainAtOnce(t *testing.T) { // amqp-data-plane 4.6
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for range 20 {
			p.AttachReceiver(0, amqptest.ReceiverAttach(5, "q"))
			p.Send(0, &frames.Detach{Handle: 5, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}
		// The same name in two sessions of a connection.
		p.AttachReceiver(0, amqptest.ReceiverAttach(5, "q"))
		p.Begin(1)
		p.Send(1, amqptest.ReceiverAttach(5, "q"))
		if a := amqptest.Want[*frames.Attach](p); a.Source == nil {
			t.Error("refused")
		}
	})
}

func TestLink_HandleStaysTakenUntilThePeersDetach(t *testing.T) { // [AMQP 2.6.6]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{UserMetadata: "x"}); err != nil {
			t.Fatal(err)
		}
		d := amqptest.Want[*frames.Detach](p)
		if !d.Closed || d.Error == nil || d.Error.Condition != "amqp:link:detach-forced" {
			t.Fatalf("detach %+v", d)
		}
		// The client wrote it before it knew: discarded without an answer.
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("late")...)
		p.Send(0, amqptest.Flow(0, 0, 0))
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 0)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.AttachSender(0, 0, "q")
	})
}

func TestLOCK17_DEL2_EntityChangesDetachAllLinks(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(b *bench) error
		condition amqp.Symbol
	}{
		{"update", func(b *bench) error {
			_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{UserMetadata: "x"})
			return err
		}, "amqp:link:detach-forced"},
		{"delete", func(b *bench) error { return b.ns.Entities().Delete("q") }, "amqp:not-found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.AttachSender(0, 0, "q")
				p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
				p.AttachSender(0, 2, "q/$management")
				p.AttachReceiver(0, amqptest.ReceiverAttach(3, "q/$management"))
				p.AttachReceiver(0, amqptest.ReceiverAttach(4, "$cbs"))
				if err := c.change(b); err != nil {
					t.Fatal(err)
				}
				seen := make(map[uint32]bool)
				for range 4 {
					d := amqptest.Want[*frames.Detach](p)
					if seen[d.Handle] = true; d.Error.Condition != c.condition {
						t.Errorf("detached with %v", d.Error)
					}
				}
				if len(seen) != 4 || seen[4] {
					t.Errorf("detached %v", seen)
				}
				p.WantSilence(time.Second)
				// The domain has a line about a deletion, which names the entity and counts its links.
				if lines := strings.Count(b.log.String(), "link closed"); c.name == "delete" && lines != 0 {
					t.Errorf("the log has %d lines about links of a deleted entity:\n%s", lines, b.log)
				}
			})
		})
	}
}

func TestLink_CreditIsToppedUpAtHalf(t *testing.T) { // [AMQP 2.6.7]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		_, flow := p.AttachSender(0, 0, "q")
		limit, sent := flow.DeliveryCount+flow.LinkCredit, uint32(0)
		for sent < 3000 {
			for range 100 {
				tr := amqptest.Transfer(0, sent)
				tr.Settled = true
				p.Send(0, tr, amqptest.Message("x")...)
				sent++
			}
			p.Send(0, &frames.Flow{Echo: true})
			for {
				f := amqptest.Want[*frames.Flow](p)
				if !f.HasHandle {
					break
				}
				limit = f.DeliveryCount + f.LinkCredit
			}
			if left := int32(limit - sent); left < 500 {
				t.Fatalf("after %d deliveries %d credit is left", sent, left)
			}
		}
	})
}

func TestLink_TransfersBeyondCreditAreTaken(t *testing.T) { // Python counts for itself (amqp-data-plane 3.4)
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		for id := range uint32(1500) {
			p.Send(0, amqptest.Transfer(0, id), amqptest.Message("x")...)
		}
		settled := uint32(0)
		for settled < 1500 {
			f := p.Next()
			if d, ok := f.Body.(*frames.Disposition); ok {
				if d.First != settled {
					t.Fatalf("disposition from %d, want %d", d.First, settled)
				}
				settled = d.Last + 1
			}
		}
	})
}

func TestLink_TotalIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Open()
		for channel := range uint16(9) {
			p.Begin(channel)
			for h := range uint32(1024) {
				p.Send(channel, &frames.Attach{LinkName: fmt.Sprint(h), Handle: h, Role: frames.RoleReceiver,
					Source: &frames.Source{Address: "q", HasAddress: true}})
				f := p.Next()
				if end, ok := f.Body.(*frames.End); ok {
					if end.Error.Condition != "amqp:resource-limit-exceeded" || channel != 8 {
						t.Errorf("channel %d ended with %v", channel, end.Error)
					}
					return
				}
			}
		}
		t.Error("there is no limit")
	})
}
