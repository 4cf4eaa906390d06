package amqpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

const destinationKey = amqp.Symbol("com.microsoft:transfer-destination-address")

// viaAttach returns the attach of a sender to one entity through another.
func viaAttach(handle uint32, via, destination string) *frames.Attach {
	a := amqptest.SenderAttach(handle, via)
	a.Properties = amqp.Map{{Key: destinationKey, Value: destination}}
	return a
}

// attachVia attaches a sender to one entity through another.
func attachVia(t *testing.T, p *amqptest.Peer, handle uint32, via, destination string) {
	t.Helper()
	p.Send(0, viaAttach(handle, via, destination))
	a := amqptest.Want[*frames.Attach](p)
	if a.Target == nil {
		t.Fatalf("refused: %v", amqptest.Want[*frames.Detach](p).Error)
	}
	if v, _ := a.Properties.Get(string(destinationKey)); v != destination {
		t.Errorf("link properties %+v", a.Properties)
	}
	amqptest.Want[*frames.Flow](p)
}

// twoQueues runs f in a bubble with a second queue "q2", and a message in "q".
func twoQueues(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("q2", emulator.QueueOptions{})
		b.put(t, "q", "", "x")
		f(t, b)
	})
}

// received attaches a receiver of "q" on handle 1 of channel 0, which gets the message.
func received(p *amqptest.Peer) {
	p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
	p.Send(0, amqptest.Flow(1, 0, 1))
	amqptest.Want[*frames.Transfer](p)
}

// completeWithin completes that message in a transaction.
func completeWithin(t *testing.T, p *amqptest.Peer, txn []byte) {
	t.Helper()
	settle(p, 0, 0, false, &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}})
	wantWithin(t, p, frames.RoleSender, txn, 0, &frames.Accepted{})
}

func TestTXN8_OneEntityPerTransaction(t *testing.T) { // DEC-25
	twoQueues(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		received(p)
		p.AttachSender(0, 2, "q2")
		p.AttachSender(0, 3, "Q") // of any case
		txn := declare(t, p)
		completeWithin(t, p, txn)
		p.Send(0, within(txn, 2, 0), amqptest.Message("y")...)
		wantOutcome(t, p, 0, "amqp:not-allowed")
		sendWithin(t, p, txn, 3, 1, "z")
		end(t, p, txn, false)
		b.wantReceivable(t, "q", 1)
		b.wantReceivable(t, "q2", 0)
	})
}

func TestTXN8_TXN15_SettlementOnASecondEntity(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		received(p)
		p.AttachSender(0, 2, "q2")
		txn := declare(t, p)
		sendWithin(t, p, txn, 2, 0, "y")
		settle(p, 0, 0, false, &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}})
		wantRejectedOpen(t, p, 0, "amqp:not-allowed")
		b.wantReceivable(t, "q", 0)
		end(t, p, txn, false)
		settle(p, 0, 0, false, &frames.Accepted{})
		wantSettled(t, p, 0, 0)
		time.Sleep(time.Minute)
		b.wantReceivable(t, "q", 0)
		b.wantReceivable(t, "q2", 1)
	})
}

// group attaches a control link to the session of the other links, which makes them a cross-entity group.
func (b *bench) group(t *testing.T) *amqptest.Peer {
	t.Helper()
	p := b.opened(t)
	p.Send(0, controlAttach(6)) // the client's first control link, which it does not use
	amqptest.Want[*frames.Attach](p)
	amqptest.Want[*frames.Flow](p)
	return p
}

// groupControl attaches the control link that declares, and returns the transaction.
func groupControl(t *testing.T, p *amqptest.Peer) []byte {
	t.Helper()
	p.Send(0, controlAttach(7))
	amqptest.Want[*frames.Attach](p)
	amqptest.Want[*frames.Flow](p)
	p.Send(0, amqptest.Transfer(7, 50), (&frames.Declare{}).AppendTo(nil)...)
	return amqptest.Want[*frames.Disposition](p).State.(*frames.Declared).TxnID
}

// endGroup discharges the transaction of a group.
func endGroup(t *testing.T, p *amqptest.Peer, txn []byte, fail bool) {
	t.Helper()
	p.Send(0, amqptest.Transfer(7, 60), (&frames.Discharge{TxnID: txn, Fail: fail}).AppendTo(nil)...)
	d := nextDisposition(t, p)
	for d.Role == frames.RoleSender { // TXN-24
		d = nextDisposition(t, p)
	}
	if d.First != 60 || d.State.Name() != "accepted" {
		t.Errorf("discharge answered with %+v, %+v", d, d.State)
	}
}

func TestTXN9_CrossEntityGroup(t *testing.T) { // amqp-data-plane 8
	for _, fail := range []bool{false, true} {
		twoQueues(t, func(t *testing.T, b *bench) {
			p := b.group(t)
			received(p) // "q" is the via entity
			p.AttachSender(0, 2, "q2")
			txn := groupControl(t, p)
			sendWithin(t, p, txn, 2, 0, "y")
			completeWithin(t, p, txn)
			b.wantReceivable(t, "q2", 0)
			endGroup(t, p, txn, fail)
			q, _ := b.ns.Entity("q")
			if fail {
				b.wantReceivable(t, "q2", 0)
				if q.Counts().Active != 1 {
					t.Error("the message of the via entity is gone")
				}
				return
			}
			b.wantReceivable(t, "q2", 1)
			if n := q.Counts().Active; n != 0 {
				t.Errorf("%d messages in the via entity", n)
			}
		})
	}
}

func TestTXN9_GroupThatSendsFirst(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *bench) {
		b.queue("q3", emulator.QueueOptions{})
		p := b.group(t)
		txn := groupControl(t, p) // declared before any entity is known
		p.AttachSender(0, 2, "q2")
		sendWithin(t, p, txn, 2, 0, "1")
		p.AttachSender(0, 3, "q3")
		sendWithin(t, p, txn, 3, 1, "2")
		text := wantRefused(t, p, amqptest.ReceiverAttach(1, "q"), "amqp:not-allowed")
		if !strings.HasPrefix(text, "Local transactions cannot span multiple top-level entities such as queue or topic. ") || !strings.Contains(text, "'q2'") {
			t.Errorf("refused with %q", text)
		}
		wantRefused(t, p, amqptest.ReceiverAttach(1, "q/$DeadLetterQueue"), "amqp:not-allowed")
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "Q2"))
		p.AttachReceiver(0, amqptest.ReceiverAttach(4, "q2/$DeadLetterQueue"))
		endGroup(t, p, txn, false)
		b.wantReceivable(t, "q2", 1)
		b.wantReceivable(t, "q3", 1)
	})
}

func TestTXN9_SessionsWithoutCoordinatorMix(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *bench) {
		p := b.controlled(t) // the coordinator is in another session
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q2"))
	})
}

func TestTXN9_SendVia(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		received(p)
		attachVia(t, p, 2, "q", "q2")
		txn := declare(t, p)
		completeWithin(t, p, txn)
		sendWithin(t, p, txn, 2, 0, "y")
		b.wantReceivable(t, "q2", 0)
		end(t, p, txn, false)
		b.wantReceivable(t, "q2", 1)
		b.wantReceivable(t, "q", 0)

		txn = declare(t, p) // the send first: it still binds the transaction to the via entity
		sendWithin(t, p, txn, 2, 1, "z")
		p.AttachSender(0, 3, "q")
		sendWithin(t, p, txn, 3, 2, "a")
		p.AttachSender(0, 4, "q2")
		p.Send(0, within(txn, 4, 3), amqptest.Message("b")...)
		wantOutcome(t, p, 3, "amqp:not-allowed") // not through it
		end(t, p, txn, false)
		b.wantReceivable(t, "q2", 2)
		b.wantReceivable(t, "q", 1)

		p.Send(0, amqptest.Transfer(2, 4), amqptest.Message("c")...) // without a transaction
		wantOutcome(t, p, 4, "")
		b.wantReceivable(t, "q2", 3)
		b.wantReceivable(t, "q", 1)
	})
}

func TestTXN9_SendViaThatIsRefused(t *testing.T) {
	for _, c := range []struct {
		name        string
		via         string
		destination any
		condition   amqp.Symbol
	}{
		{"missing destination", "q", "nosuch", "amqp:not-found"},
		{"missing via entity", "nosuch", "q", "amqp:not-found"},
		{"destination is a node", "q", "q2/$management", "amqp:invalid-field"},
		{"destination is a dead-letter queue", "q", "q2/$DeadLetterQueue", "amqp:invalid-field"},
		{"destination is no text", "q", int32(1), "amqp:invalid-field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			twoQueues(t, func(t *testing.T, b *bench) {
				a := viaAttach(0, c.via, "")
				a.Properties[0].Value = c.destination
				wantRefused(t, b.opened(t), a, c.condition)
			})
		})
	}
}

func TestTXN11_DLQ16_SendViaToADisabledDestination(t *testing.T) {
	for _, inside := range []bool{true, false} {
		twoQueues(t, func(t *testing.T, b *bench) {
			p := b.controlled(t)
			if _, err := b.ns.Entities().UpdateQueue("q2",
				emulator.QueueOptions{Status: emulator.StatusDisabled}); err != nil {
				t.Fatal(err)
			}
			attachVia(t, p, 2, "q", "q2")
			if inside {
				txn := declare(t, p)
				sendWithin(t, p, txn, 2, 0, "y")
				end(t, p, txn, false)
			} else {
				p.Send(0, amqptest.Transfer(2, 0), amqptest.Message("y")...)
				wantOutcome(t, p, 0, "")
			}
			q, _ := b.ns.Entity("q")
			if c := q.Counts(); c.TransferDeadLetter != 1 || c.Active != 1 {
				t.Errorf("counts %+v", c)
			}
			p.AttachReceiver(0, amqptest.ReceiverAttach(3, "q/$Transfer/$DeadLetterQueue"))
			p.Send(0, amqptest.Flow(3, 0, 1))
			wantBody(t, p, "y")
			settle(p, 0, 0, false, &frames.Accepted{})
			wantSettled(t, p, 0, 0)
		})
	}
}

func TestTXN11_LargeBatchToADisabledDestination(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *bench) {
		if _, err := b.ns.Entities().UpdateQueue("q2",
			emulator.QueueOptions{Status: emulator.StatusSendDisabled}); err != nil {
			t.Fatal(err)
		}
		p := b.opened(t)
		attachVia(t, p, 2, "q", "q2")
		var messages [101][]byte // more than what is transferred at once
		for i := range messages {
			messages[i] = amqptest.Message("x")
		}
		p.Send(0, batchTransfer(2, 0), batchOf(messages[:]...)...)
		wantOutcome(t, p, 0, "com.microsoft:entity-disabled")
		if q, _ := b.ns.Entity("q"); q.Counts().TransferDeadLetter != 0 {
			t.Error("a part of the batch was stored")
		}
	})
}

func TestTXN9_SendViaNeedsRightsOnBothEntities(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("q2", emulator.QueueOptions{})
		p := b.opened(t)
		p.AttachSender(0, 0, "$cbs")
		replyLink(p, 0, 1, "$cbs", "r", "r", 10)
		for id, entity := range []string{"q", "q2"} {
			wantRefused(t, p, viaAttach(2, "q", "q2"), "amqp:unauthorized-access")
			request(t, p, 0, 0, uint32(id), signedToken("sb://h/"+entity, "r", "1"))
			wantReply(t, p)
		}
		attachVia(t, p, 2, "q", "q2")
	}, checked)
}

func TestTXN11_DeletedDestinationDetachesTheLink(t *testing.T) {
	for _, deleted := range []string{"q", "q2"} {
		twoQueues(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			attachVia(t, p, 2, "q", "q2")
			if err := b.ns.Entities().Delete(deleted); err != nil {
				t.Fatal(err)
			}
			if d := amqptest.Want[*frames.Detach](p); d.Error == nil || d.Error.Condition != "amqp:not-found" {
				t.Errorf("detached with %v", d.Error)
			}
		})
	}
}

func TestTXN1_RequestsInTransactions(t *testing.T) {
	due := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC) // a bubble's clock begins a day earlier
	for _, fail := range []bool{false, true} {
		bubble(t, func(t *testing.T, b *bench) {
			b.put(t, "q", "", "x")
			p := b.controlled(t)
			received(p)
			p.AttachSender(0, 8, "q/$management")
			replyLink(p, 0, 9, "q/$management", "r", "r", 100)
			q, _ := b.ns.Entity("q")
			txn := declare(t, p)
			id := uint32(0)
			call := func(operation string, body map[string]any, want int32) {
				t.Helper()
				p.Send(0, within(txn, 8, id), encode(t, managementRequest(operation, body))...)
				wantWithin(t, p, frames.RoleReceiver, txn, id, &frames.Accepted{})
				id++
				m, _, _ := wantReply(t, p)
				if got := m.ApplicationProperties["statusCode"]; got != want {
					t.Errorf("%s: status %v (%v), want %d", operation, got,
						m.ApplicationProperties["statusDescription"], want)
				}
			}
			call("schedule-message", map[string]any{"messages": []any{map[string]any{"message": scheduledMessage(t,
				due)}}}, 200)
			// as outside: it sees "x"
			call("peek-message", map[string]any{"from-sequence-number": int64(1), "message-count": int32(1)}, 200)
			synctest.Wait()
			if n := q.Counts().Scheduled; n != 0 {
				t.Errorf("%d scheduled messages before the discharge", n)
			}
			end(t, p, txn, fail)
			if n := q.Counts().Scheduled; (n == 0) != fail {
				t.Errorf("%d scheduled messages, rolled back: %v", n, fail)
			}
			call("renew-lock", map[string]any{"lock-tokens": []any{}}, 400) // the transaction is no longer known
		})
	}
}
