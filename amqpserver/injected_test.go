package amqpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// inject adds a fault to the default namespace.
func (b *bench) inject(o emulator.FaultOptions) *emulator.Fault {
	b.t.Helper()
	fault, err := b.ns.Faults().Inject(o)
	if err != nil {
		b.t.Fatal(err)
	}
	return fault
}

// on are operations.
func on(list ...emulator.Operation) []emulator.Operation { return list }

// rejectedWith returns condition and text of a disposition that rejects.
func rejectedWith(t *testing.T, d *frames.Disposition) string {
	t.Helper()
	r, ok := d.State.(*frames.Rejected)
	if !ok || r.Error == nil {
		t.Fatalf("the outcome is %#v", d.State)
	}
	return string(r.Error.Condition) + ": " + r.Error.Description
}

// wantText fails unless a text begins so.
func wantText(t *testing.T, text, begin string) {
	t.Helper()
	if !strings.HasPrefix(text, begin) {
		t.Errorf("it says %q, want %q", text, begin)
	}
}

// TestInjected_ThrottledSendIsRejected with the service's condition and words; the link goes on.
func TestInjected_ThrottledSendIsRejected(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		fault := b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, Count: 1})
		for i := range uint32(2) {
			p.Send(0, amqptest.Transfer(0, i), amqptest.Message("x")...)
			d := amqptest.Want[*frames.Disposition](p)
			if _, accepted := d.State.(*frames.Accepted); i == 1 && !accepted {
				t.Errorf("the second send: %#v", d.State)
			} else if i == 0 {
				wantText(t, rejectedWith(t, d),
					"com.microsoft:server-busy: The request was terminated because the entity is being throttled. Error code : 50009.")
			}
		}
		b.wantReceivable(t, "q", 1)
		if fault.Hits() != 1 {
			t.Errorf("%d hits", fault.Hits())
		}
	})
}

// TestInjected_AttachIsRefused as the service refuses: an attach without source and target, and a detach with the
// condition.
func TestInjected_AttachIsRefused(t *testing.T) {
	for condition, want := range map[string]string{
		"entity-disabled":          "com.microsoft:entity-disabled: Messaging entity 'q' is currently disabled.",
		"unauthorized-access":      "amqp:unauthorized-access: Unauthorized access. 'Listen' claim(s)",
		"session-cannot-be-locked": "com.microsoft:session-cannot-be-locked: ",
		"resource-limit-exceeded":  "amqp:resource-limit-exceeded: ", "timeout": "com.microsoft:timeout: ",
	} {
		bubble(t, func(t *testing.T, b *bench) {
			b.inject(emulator.FaultOptions{Kind: emulator.FaultRefuse,
				Operations: on(emulator.OperationAttachReceiver), Condition: condition})
			p := b.opened(t)
			p.AttachSender(0, 1, "q")
			p.Send(0, amqptest.ReceiverAttach(0, "q"))
			if a := amqptest.Want[*frames.Attach](p); a.Source != nil || a.Target != nil {
				t.Errorf("the answer has source %v and target %v", a.Source, a.Target)
			}
			d := amqptest.Want[*frames.Detach](p)
			wantText(t, string(d.Error.Condition)+": "+d.Error.Description, want)
		})
	}
}

// TestInjected_EndOfLinkAndConnection: a detach with its condition, a close with its condition, or nothing at all.
func TestInjected_EndOfLinkAndConnection(t *testing.T) {
	for _, after := range []bool{false, true} {
		for kind, check := range map[emulator.FaultKind]func(t *testing.T, p *amqptest.Peer){
			emulator.FaultDetach: func(t *testing.T, p *amqptest.Peer) {
				d := amqptest.Want[*frames.Detach](p)
				wantText(t, string(d.Error.Condition)+": "+d.Error.Description,
					"amqp:link:detach-forced: The link to 'q' is force detached.")
				p.WantSilence(time.Second)
			},
			emulator.FaultClose: func(t *testing.T, p *amqptest.Peer) {
				c := amqptest.Want[*frames.Close](p)
				wantText(t, string(c.Error.Condition)+": "+c.Error.Description,
					"amqp:connection:forced: The connection was closed by the service.")
			},
			emulator.FaultDrop: func(_ *testing.T, p *amqptest.Peer) { p.WantEOF() },
		} {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.AttachSender(0, 0, "q")
				b.inject(emulator.FaultOptions{Kind: kind, Operations: on(emulator.OperationSend),
					After: after, Count: 1})
				p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
				check(t, p)
				stored := 0
				if after {
					stored = 1
				}
				b.wantReceivable(t, "q", stored)
			})
		}
	}
}

// TestInjected_ReceiverLosesNothing: what was about to be delivered stays in its place, uncounted, and those before it
// arrive.
func TestInjected_ReceiverLosesNothing(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		bubble(t, func(t *testing.T, b *bench) {
			b.send(t, b.client(t), "q", numbered(5)...)
			p := b.opened(t)
			a := amqptest.ReceiverAttach(0, "q")
			if deleted {
				a.SndSettleMode, a.HasSndSettleMode = 1, true
			}
			p.AttachReceiver(0, a)
			b.inject(emulator.FaultOptions{Kind: emulator.FaultThrottle,
				Operations: on(emulator.OperationReceive), Skip: 2, Count: 1})
			p.Send(0, amqptest.Flow(0, 0, 10))
			arrived := 0
			for {
				f := p.Next()
				if d, ok := f.Body.(*frames.Detach); ok {
					wantText(t, string(d.Error.Condition), "com.microsoft:server-busy")
					break
				}
				arrived++
			}
			synctest.Wait()
			if !deleted && arrived != 2 || arrived > 2 {
				t.Errorf("%d arrived before the detach", arrived)
			}
			b.wantReceivable(t, "q", 5-arrived)
		})
	}
}

// TestInjected_SettlementsAreHit: refused ones leave the lock, lost locks do not, and each gets one answer.
func TestInjected_SettlementsAreHit(t *testing.T) {
	for _, x := range []struct {
		o    emulator.FaultOptions
		want string
		left int // that can be received again at once
	}{
		{emulator.FaultOptions{Kind: emulator.FaultThrottle, Operations: on(emulator.OperationSettle)},
			"amqp:resource-limit-exceeded: The request was terminated", 0},
		{emulator.FaultOptions{Kind: emulator.FaultRefuse, Operations: on(emulator.OperationSettle),
			Condition: "not-allowed"}, "amqp:not-allowed: ", 0},
		{emulator.FaultOptions{Kind: emulator.FaultLoseLock},
			"com.microsoft:message-lock-lost: The lock supplied is invalid.", 1},
		{emulator.FaultOptions{Kind: emulator.FaultFailJournal},
			"amqp:resource-limit-exceeded: The message store could not be written", 0},
	} {
		bubble(t, func(t *testing.T, b *bench) {
			b.send(t, b.client(t), "q", "x")
			p := b.receiving(t, 0)
			p.Send(0, amqptest.Flow(0, 0, 1))
			d := amqptest.Want[*frames.Transfer](p)
			x.o.Count = 1
			b.inject(x.o)
			p.Send(0, &frames.Disposition{Role: frames.RoleReceiver, First: d.DeliveryID, State: &frames.Accepted{}})
			wantText(t, rejectedWith(t, amqptest.Want[*frames.Disposition](p)), x.want)
			p.WantSilence(time.Second)
			b.wantReceivable(t, "q", x.left)
			time.Sleep(time.Minute)
			b.wantReceivable(t, "q", 1)
		})
	}
}

// TestInjected_LinkEndsAfterASettlement that has taken effect, in place of its answer.
func TestInjected_LinkEndsAfterASettlement(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		start := time.Now()
		b.inject(emulator.FaultOptions{Kind: emulator.FaultDetach, Operations: on(emulator.OperationSettle),
			After: true})
		settle(p, 0, 0, false, &frames.Accepted{})
		d := amqptest.Want[*frames.Detach](p)
		if took := time.Since(start); d.Error.Condition != "amqp:link:detach-forced" || took > time.Second {
			t.Errorf("the detach after %v is %+v", took, d)
		}
		q, _ := b.ns.Entity("q")
		if n := q.Counts().Active; n != 0 {
			t.Errorf("%d messages are left", n)
		}
	})
}

// TestInjected_DelayedOutcomesKeepTheirOrder on their link, and none else waits; a client that leaves gets them at
// once.
func TestInjected_DelayedOutcomesKeepTheirOrder(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.AttachSender(0, 1, "q")
		b.inject(emulator.FaultOptions{Kind: emulator.FaultDelay, Delay: 10 * time.Second, Skip: 1, Count: 2,
			Operations: on(emulator.OperationSend)})
		begin := time.Now()
		outcome := func(first, last uint32, after time.Duration) {
			t.Helper()
			d := amqptest.Want[*frames.Disposition](p.Within(7 * time.Second))
			if _, accepted := d.State.(*frames.Accepted); !accepted || d.First != first ||
				d.HasLast && d.Last != last || !d.HasLast && first != last ||
				time.Since(begin).Truncate(time.Second) != after {
				t.Errorf("after %v: %+v", time.Since(begin), d)
			}
		}
		send := func(handle, id uint32) {
			p.Send(0, amqptest.Transfer(handle, id), amqptest.Message("x")...)
			synctest.Wait()
		}
		send(0, 0)
		outcome(0, 0, 0)
		send(0, 1) // delayed
		time.Sleep(4 * time.Second)
		send(0, 2) // delayed
		send(0, 3) // in order behind it
		send(1, 4) // of another link
		outcome(4, 4, 4*time.Second)
		outcome(1, 1, 10*time.Second)
		outcome(2, 3, 14*time.Second)
		b.wantReceivable(t, "q", 5)
		b.inject(emulator.FaultOptions{Kind: emulator.FaultDelay, Delay: 10 * time.Minute,
			Operations: on(emulator.OperationSend)})
		send(1, 5)
		p.Send(0, &frames.Detach{Handle: 1, Closed: true})
		outcome(5, 5, 14*time.Second)
		amqptest.Want[*frames.Detach](p)
		send(0, 6)
		p.Send(0, &frames.Close{})
		outcome(6, 6, 14*time.Second)
		amqptest.Want[*frames.Close](p)
	})
}

// TestInjected_ShutdownDoesNotWaitForDelays.
func TestInjected_ShutdownDoesNotWaitForDelays(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		b.inject(emulator.FaultOptions{Kind: emulator.FaultDelay, Delay: 10 * time.Minute})
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		synctest.Wait()
		done := make(chan error, 1)
		begin := time.Now()
		go func() { done <- b.server.Shutdown(context.Background()) }()
		amqptest.Want[*frames.Disposition](p)
		amqptest.Want[*frames.Close](p)
		p.Send(0, &frames.Close{})
		if err := <-done; err != nil || time.Since(begin) > time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// TestInjected_StarvedSenderLosesItsCredit, and gets it again when the fault is over; a new link gets none either.
func TestInjected_StarvedSenderLosesItsCredit(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		fault := b.inject(emulator.FaultOptions{Kind: emulator.FaultStarve, For: time.Minute})
		if flow := amqptest.Want[*frames.Flow](p); flow.LinkCredit != 0 || flow.Handle != 0 {
			t.Errorf("the flow is %+v", flow)
		}
		p.Send(0, amqptest.SenderAttach(1, "q"))
		amqptest.Want[*frames.Attach](p)
		p.Send(0, &frames.Flow{HasHandle: true, Handle: 1, Echo: true})
		if flow := amqptest.Want[*frames.Flow](p); flow.LinkCredit != 0 {
			t.Errorf("the new link has the credit %d", flow.LinkCredit)
		}
		p.WantSilence(30 * time.Second)
		if fault.Hits() != 2 {
			t.Errorf("%d links are starved", fault.Hits())
		}
		for range 2 {
			flow := amqptest.Want[*frames.Flow](p.Within(31 * time.Second))
			if flow.LinkCredit == 0 {
				t.Errorf("the flow is %+v", flow)
			}
		}
		if fault.State() != emulator.FaultOver {
			t.Error("the fault is not over")
		}
	})
}

// TestInjected_StarvedReceiverAnswersADrain with its credit, as one that has nothing to get.
func TestInjected_StarvedReceiverAnswersADrain(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", "x")
		p := b.receiving(t, 0)
		fault := b.inject(emulator.FaultOptions{Kind: emulator.FaultStarve, Operations: on(emulator.OperationReceive)})
		flow := amqptest.Flow(0, 0, 3)
		flow.Drain = true
		p.Send(0, flow)
		if answer := amqptest.Want[*frames.Flow](p); answer.DeliveryCount != 3 || answer.LinkCredit != 0 {
			t.Errorf("the answer is %+v", answer)
		}
		p.Send(0, amqptest.Flow(0, 3, 1))
		p.WantSilence(time.Minute)
		fault.Remove()
		amqptest.Want[*frames.Transfer](p)
	})
}

// TestInjected_Requests to $management and $cbs: refused with their status, delayed, or never answered.
func TestInjected_Requests(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		ask := func(node string, m *goamqp.Message) (status any, text string, took time.Duration) {
			t.Helper()
			s := b.client(t)
			r, err := s.NewReceiver(ctx, node, &goamqp.ReceiverOptions{TargetAddress: "me"})
			if err != nil {
				t.Fatal(err)
			}
			sender, err := s.NewSender(ctx, node, nil)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if err := sender.Send(ctx, m, nil); err != nil {
				return nil, err.Error(), time.Since(begin)
			}
			in, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			answer, err := r.Receive(in, nil)
			if err != nil {
				return nil, err.Error(), time.Since(begin)
			}
			for _, key := range []string{"statusCode", "status-code"} {
				if v, ok := answer.ApplicationProperties[key]; ok {
					return v, fmt.Sprint(answer.ApplicationProperties), time.Since(begin)
				}
			}
			return nil, "", 0
		}
		peek, put := func() (any, string, time.Duration) { return ask("q/$management", peekRequest("me", "1")) },
			func() (any, string, time.Duration) { return ask("$cbs", putToken("sb://localhost/q", "me", "1")) }
		for _, x := range []struct {
			o      emulator.FaultOptions
			ask    func() (any, string, time.Duration)
			status any
			text   string
			took   time.Duration
		}{
			{emulator.FaultOptions{Kind: emulator.FaultThrottle, Operations: on(emulator.OperationManage)}, peek,
				int32(503), "com.microsoft:server-busy", 0},
			{emulator.FaultOptions{Kind: emulator.FaultRefuse, Operations: on(emulator.OperationManage),
				Condition: "unauthorized-access"}, peek, int32(401), "", 0},
			{emulator.FaultOptions{Kind: emulator.FaultDelay, Operations: on(emulator.OperationManage),
				Delay: 20 * time.Second}, peek, int32(204), "", 20 * time.Second},
			{emulator.FaultOptions{Kind: emulator.FaultDetach,
				Operations: on(emulator.OperationManage)}, peek, nil, "", 0},
			{emulator.FaultOptions{Kind: emulator.FaultDrop,
				Operations: on(emulator.OperationManage)}, peek, nil, "", 0},
			{emulator.FaultOptions{Kind: emulator.FaultThrottle, Operations: on(emulator.OperationAuthenticate),
				Entity: "q"}, put, int32(503), "com.microsoft:server-busy", 0},
			{emulator.FaultOptions{Kind: emulator.FaultRefuse, Operations: on(emulator.OperationAuthenticate),
				Condition: "unauthorized-access"}, put, int32(401), "amqp:unauthorized-access", 0},
			{emulator.FaultOptions{Kind: emulator.FaultDrop,
				Operations: on(emulator.OperationAuthenticate)}, put, nil, "", 0},
		} {
			x.o.Count = 1
			fault := b.inject(x.o)
			status, text, took := x.ask()
			if status != x.status || !strings.Contains(text, x.text) ||
				x.status != nil && took != x.took || fault.Hits() != 1 {
				t.Errorf("%+v: %v, %s after %v, %d hits", x.o, status, text, took, fault.Hits())
			}
			if status, text, _ := x.ask(); status != int32(204) && status != int32(202) {
				t.Errorf("%+v: the next one: %v, %s", x.o, status, text)
			}
		}
	})
}

// TestInjected_HistoryNamesTheEntity that a fault has hit, and the client, whichever operation that was.
func TestInjected_HistoryNamesTheEntity(t *testing.T) {
	renewal := &goamqp.Message{
		Properties:            &goamqp.MessageProperties{MessageID: "1"},
		ApplicationProperties: map[string]any{"operation": "com.microsoft:renew-lock"},
		Value:                 map[string]any{"lock-tokens": []goamqp.UUID{{1}}},
	}
	for operation, do := range map[emulator.Operation]func(t *testing.T, p *amqptest.Peer){
		emulator.OperationAuthenticate: func(t *testing.T, p *amqptest.Peer) {
			p.AttachSender(0, 0, "$cbs")
			request(t, p, 0, 0, 0, putToken("sb://localhost/q", "me", "1"))
		},
		emulator.OperationAttachSender: func(_ *testing.T, p *amqptest.Peer) {
			p.Send(0, amqptest.SenderAttach(0, "q"))
		},
		emulator.OperationAttachReceiver: func(_ *testing.T, p *amqptest.Peer) {
			p.Send(0, amqptest.ReceiverAttach(0, "q"))
		},
		emulator.OperationSend: func(_ *testing.T, p *amqptest.Peer) {
			p.AttachSender(0, 0, "q")
			p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		},
		emulator.OperationReceive: func(_ *testing.T, p *amqptest.Peer) {
			p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
			p.Send(0, amqptest.Flow(0, 0, 1))
		},
		emulator.OperationSettle: func(_ *testing.T, p *amqptest.Peer) {
			p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
			p.Send(0, amqptest.Flow(0, 0, 1))
			amqptest.Want[*frames.Transfer](p)
			settle(p, 0, 0, false, &frames.Accepted{})
		},
		emulator.OperationRenew: func(t *testing.T, p *amqptest.Peer) {
			p.AttachSender(0, 0, "q/$management")
			request(t, p, 0, 0, 0, renewal)
		},
		emulator.OperationManage: func(t *testing.T, p *amqptest.Peer) {
			p.AttachSender(0, 0, "q/$management")
			request(t, p, 0, 0, 0, peekRequest("me", "1"))
		},
	} {
		t.Run(string(operation), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBenchFor(t, emulator.Options{Record: emulator.NewRecord(1 << 20)})
				fill(t, b, 1)
				b.inject(emulator.FaultOptions{Kind: emulator.FaultRefuse, Operations: on(operation), Entity: "q",
					Count: 1})
				do(t, b.opened(t))
				synctest.Wait()
				events, _ := b.ns.History().Events(0, emulator.EventFilter{})
				n := 0
				for e := range events {
					if e.Kind != emulator.EventFault {
						continue
					}
					n++
					if e.Entity != "q" || e.Client == nil || !strings.Contains(e.Text, " hit "+string(operation)) {
						t.Errorf("event %+v", e)
					}
				}
				if n != 1 {
					t.Errorf("%d events, want 1", n)
				}
			})
		})
	}
}

// TestInjected_NowHitsWhatIsConnected: each link, or each connection once, and nothing that comes later.
func TestInjected_NowHitsWhatIsConnected(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("other", emulator.QueueOptions{})
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.AttachSender(0, 1, "q")
		p.AttachSender(0, 2, "other")
		now := on(emulator.OperationNow)
		fault := b.inject(emulator.FaultOptions{Kind: emulator.FaultDetach, Operations: now, Entity: "q",
			Condition: "entity-disabled"})
		for range 2 {
			if d := amqptest.Want[*frames.Detach](p); d.Handle > 1 ||
				d.Error.Condition != "com.microsoft:entity-disabled" {
				t.Errorf("the detach is %+v", d)
			}
		}
		p.AttachSender(0, 3, "q")
		p.WantSilence(time.Second)
		if fault.Hits() != 2 {
			t.Errorf("%d hits", fault.Hits())
		}
		b.inject(emulator.FaultOptions{Kind: emulator.FaultExpireToken, Entity: "other"})
		if d := amqptest.Want[*frames.Detach](p); d.Handle != 2 ||
			!strings.HasPrefix(d.Error.Description, "The link 'sender to other' is force detached. Code: RenewToken.") {
			t.Errorf("the detach is %+v", d)
		}
		b.inject(emulator.FaultOptions{Kind: emulator.FaultClose, Operations: now, Client: "nobody"})
		p.WantSilence(time.Second)
		idle := b.peer(t)
		idle.Open()
		start := time.Now()
		fault = b.inject(emulator.FaultOptions{Kind: emulator.FaultClose, Operations: now})
		amqptest.Want[*frames.Close](p)
		amqptest.Want[*frames.Close](idle)
		if took := time.Since(start); took > time.Second { // idle connections are closed some time
			t.Errorf("the connections were closed after %v", took)
		}
		if fault.Hits() != 2 {
			t.Errorf("%d hits", fault.Hits())
		}
	})
}

// TestInjected_NowLeavesLinksOfRequestsAlone: a fault hits links for messages, even if it names no entity.
func TestInjected_NowLeavesLinksOfRequestsAlone(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "$cbs")
		p.AttachSender(0, 1, "q/$management")
		p.AttachSender(0, 2, "q")
		fault := b.inject(emulator.FaultOptions{Kind: emulator.FaultDetach, Operations: on(emulator.OperationNow)})
		if d := amqptest.Want[*frames.Detach](p); d.Handle != 2 {
			t.Errorf("the detach is %+v", d)
		}
		p.WantSilence(time.Second)
		if fault.Hits() != 1 {
			t.Errorf("%d hits", fault.Hits())
		}
	})
}
