package amqpserver_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// controlAttach returns the attach of a link to the coordinator.
func controlAttach(handle uint32) *frames.Attach {
	return &frames.Attach{
		LinkName: fmt.Sprintf("control %d", handle), Handle: handle, Role: frames.RoleSender,
		HasInitialDeliveryCount: true,
		Source:                  &frames.Source{Address: "me", HasAddress: true}, Coordinator: &frames.Coordinator{},
	}
}

// controlled returns a peer with a control link on handle 7 of channel 1; channel 0 is for the work.
func (b *bench) controlled(t *testing.T) *amqptest.Peer {
	t.Helper()
	p := b.opened(t)
	p.Begin(1)
	p.Send(1, controlAttach(7))
	amqptest.Want[*frames.Attach](p)
	amqptest.Want[*frames.Flow](p)
	return p
}

// nextDisposition returns the next disposition. It skips flows.
func nextDisposition(t *testing.T, p *amqptest.Peer) *frames.Disposition {
	t.Helper()
	for {
		switch f := p.Next().Body.(type) {
		case nil, *frames.Flow:
		case *frames.Disposition:
			return f
		default:
			t.Fatalf("got %s, want disposition", f.Name())
		}
	}
}

// declare declares a transaction on a peer that is controlled.
func declare(t *testing.T, p *amqptest.Peer) []byte {
	t.Helper()
	p.Send(1, amqptest.Transfer(7, 0), (&frames.Declare{}).AppendTo(nil)...)
	d := nextDisposition(t, p)
	state, ok := d.State.(*frames.Declared)
	if !ok || !d.Settled || d.Role != frames.RoleReceiver {
		t.Fatalf("declare answered with %+v", d)
	}
	return state.TxnID
}

// discharge discharges a transaction and returns the state of the answer.
func discharge(t *testing.T, p *amqptest.Peer, txn []byte, fail bool) frames.DeliveryState {
	t.Helper()
	p.Send(1, amqptest.Transfer(7, 99), (&frames.Discharge{TxnID: txn, Fail: fail}).AppendTo(nil)...)
	d := nextDisposition(t, p)
	for d.Role == frames.RoleSender && d.Settled && d.State.Name() == "transactional-state" { // TXN-24
		d = nextDisposition(t, p)
	}
	if d.First != 99 || !d.Settled || d.Role != frames.RoleReceiver {
		t.Fatalf("discharge answered with %+v", d)
	}
	return d.State
}

// end discharges a transaction and fails the test unless that succeeds.
func end(t *testing.T, p *amqptest.Peer, txn []byte, fail bool) {
	t.Helper()
	if state := discharge(t, p, txn, fail); state.Name() != "accepted" {
		t.Fatalf("discharge answered with %+v", state)
	}
}

// within returns a transfer that is part of a transaction.
func within(txn []byte, handle, id uint32) *frames.Transfer {
	tr := amqptest.Transfer(handle, id)
	tr.State = &frames.TransactionalState{TxnID: txn}
	return tr
}

// wantWithin fails the test unless the next frame gives a delivery this outcome in a transaction. What the peer has
// sent is settled with that, what it has received by the discharge (TXN-24).
func wantWithin(t *testing.T, p *amqptest.Peer, role frames.Role, txn []byte, id uint32, outcome frames.DeliveryState) {
	t.Helper()
	d := nextDisposition(t, p)
	state, ok := d.State.(*frames.TransactionalState)
	if !ok || d.Role != role || d.First != id || d.Settled != (role == frames.RoleReceiver) ||
		!bytes.Equal(state.TxnID, txn) || state.Outcome == nil ||
		state.Outcome.Name() != outcome.Name() {
		t.Fatalf("answered with %+v, %+v, want %s in a transaction", d, d.State, outcome.Name())
	}
}

// sendWithin sends a message as part of a transaction.
func sendWithin(t *testing.T, p *amqptest.Peer, txn []byte, handle, id uint32, body string) {
	t.Helper()
	p.Send(0, within(txn, handle, id), amqptest.Message(body)...)
	wantWithin(t, p, frames.RoleReceiver, txn, id, &frames.Accepted{})
}

func TestCoordinator_Attach(t *testing.T) { // [AMQP 4.2, 4.5.1], amqp-data-plane 8
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for handle := range uint32(2) { // a session may have several
			a := controlAttach(handle)
			p.Send(0, a)
			answer := amqptest.Want[*frames.Attach](p)
			if answer.Coordinator == nil || answer.Target != nil || answer.Role != frames.RoleReceiver ||
				answer.LinkName != a.LinkName {
				t.Errorf("answered with %+v", answer)
			}
			if answer.Source == nil || answer.Source.Address != "me" || !answer.HasMaxMessageSize ||
				answer.MaxMessageSize == 0 {
				t.Errorf("answered with %+v", answer)
			}
			if f := amqptest.Want[*frames.Flow](p); f.LinkCredit == 0 {
				t.Error("no credit")
			}
		}
	})
}

func TestTXN22_SeveralOpenTransactions(t *testing.T) { // [AMQP 4.3]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		p.AttachSender(0, 0, "q")
		txns := [][]byte{declare(t, p), declare(t, p), declare(t, p)}
		for i, txn := range txns {
			if len(txn) == 0 || len(txn) > 32 || i > 0 && bytes.Equal(txn, txns[i-1]) {
				t.Errorf("transaction id %q", txn)
			}
			sendWithin(t, p, txn, 0, uint32(i), fmt.Sprint(i))
		}
		end(t, p, txns[2], false)
		end(t, p, txns[0], true)
		end(t, p, txns[1], false)
		b.wantReceivable(t, "q", 2)
	})
}

func TestTXN_EmptyTransactions(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		end(t, p, declare(t, p), false)
		end(t, p, declare(t, p), true)
	})
}

func TestTXN20_UnknownIDs(t *testing.T) { // [AMQP 4.5.8]
	const unknown = "amqp:transaction:unknown-id"
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		wantRejected(t, discharge(t, p, []byte("nobody's"), false), unknown)
		txn := declare(t, p)
		end(t, p, txn, false)
		wantRejected(t, discharge(t, p, txn, false), unknown)
		p.AttachSender(0, 0, "q")
		p.Send(0, within(txn, 0, 1), amqptest.Message("x")...)
		wantOutcome(t, p, 1, unknown)
	})
}

func TestCoordinator_BadMessages(t *testing.T) {
	for _, c := range []struct {
		name      string
		payload   []byte
		condition amqp.Symbol
	}{
		{"garbage", []byte("garbage"), "amqp:decode-error"},
		{"something else", amqptest.Message("x"), "amqp:decode-error"},
		{"distributed", (&frames.Declare{GlobalID: []byte{1}}).AppendTo(nil), "amqp:not-implemented"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.controlled(t)
				p.Send(1, amqptest.Transfer(7, 5), c.payload...)
				wantOutcome(t, p, 5, c.condition)
				declare(t, p) // the link lives
			})
		})
	}
}

// TestCoordinator_RefusesAsItsSourceAllows [AMQP 4.2, 4.3]: with rejected, or by ending the link if the source does
// not list that outcome or the message was settled.
func TestCoordinator_RefusesAsItsSourceAllows(t *testing.T) {
	const accepted, rejected, unknown = "amqp:accepted:list", "amqp:rejected:list", "amqp:transaction:unknown-id"
	discharge := (&frames.Discharge{TxnID: []byte("nobody's")}).AppendTo(nil)
	for _, c := range []struct {
		name      string
		outcomes  []amqp.Symbol
		settled   bool
		payload   []byte
		condition amqp.Symbol
		detached  bool
	}{
		{"no outcomes listed", nil, false, discharge, unknown, false},
		{"rejected listed", []amqp.Symbol{accepted, rejected}, false, discharge, unknown, false},
		{"discharge without rejected", []amqp.Symbol{accepted, "amqp:declared:list"}, false, discharge, unknown, true},
		{"declare without rejected", []amqp.Symbol{accepted}, false,
			(&frames.Declare{GlobalID: []byte{1}}).AppendTo(nil), "amqp:not-implemented", true},
		{"settled discharge", nil, true, discharge, unknown, true},
		{"settled declare", nil, true, (&frames.Declare{}).AppendTo(nil), "amqp:invalid-field", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				a := controlAttach(0)
				a.Source.Outcomes = c.outcomes
				p.Send(0, a)
				amqptest.Want[*frames.Attach](p)
				amqptest.Want[*frames.Flow](p)
				tr := amqptest.Transfer(0, 5)
				tr.Settled = c.settled
				p.Send(0, tr, c.payload...)
				if c.detached {
					wantDetach(t, p, 0, c.condition)
				} else {
					wantOutcome(t, p, 5, c.condition)
				}
				p.WantSilence(time.Second)
			})
		})
	}
}

// TestCoordinator_FailedCommitIsToldAsTheSourceAllows [AMQP 4.3].
func TestCoordinator_FailedCommitIsToldAsTheSourceAllows(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Begin(1)
		a := controlAttach(7)
		a.Source.Outcomes = []amqp.Symbol{"amqp:accepted:list"}
		p.Send(1, a)
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Flow](p)
		p.AttachSender(0, 0, "q")
		txn := declare(t, p)
		sendWithin(t, p, txn, 0, 0, "x")
		b.journal.FailNext(1, errors.New("disk on fire"))
		p.Send(1, amqptest.Transfer(7, 5), (&frames.Discharge{TxnID: txn}).AppendTo(nil)...)
		wantDetach(t, p, 7, "amqp:transaction:rollback")
		if !strings.Contains(b.log.String(), "disk on fire") {
			t.Error("the log does not say why")
		}
	})
}

// TestTXN20_SettledWorkThatIsRefusedEndsItsLink [AMQP 4.4]: otherwise the rest of the transaction would be committed
// without it, and its client would never know. The client can't settle the delivery again, so the lock ends (JMS-5);
// those of deliveries that it has not settled stay.
func TestTXN20_SettledWorkThatIsRefusedEndsItsLink(t *testing.T) {
	const unknown = "amqp:transaction:unknown-id"
	t.Run("settlement", func(t *testing.T) {
		for _, last := range []uint32{0, 2} {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.delivered(t, 3)
				settle(p, 0, last, true,
					&frames.TransactionalState{TxnID: []byte("nobody's"), Outcome: &frames.Accepted{}})
				wantDetach(t, p, 0, unknown)
				p.WantSilence(time.Second)
				b.wantReceivable(t, "q", int(last)+1)
				time.Sleep(time.Minute)
				b.wantReceivable(t, "q", 3)
			})
		}
	})
	t.Run("settlement of a lock that is over", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 3)
			time.Sleep(61 * time.Second)
			settle(p, 0, 2, true, &frames.TransactionalState{TxnID: []byte("nobody's"), Outcome: &frames.Accepted{}})
			wantDetach(t, p, 0, unknown)
		})
	})
	t.Run("message", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.AttachSender(0, 0, "q")
			tr := within([]byte("nobody's"), 0, 0)
			tr.Settled = true
			p.Send(0, tr, amqptest.Message("x")...)
			wantDetach(t, p, 0, unknown)
			b.wantReceivable(t, "q", 0)
		})
	})
}

func TestCoordinator_OpenTransactionsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		for range 1024 {
			declare(t, p)
		}
		p.Send(1, amqptest.Transfer(7, 5), (&frames.Declare{}).AppendTo(nil)...)
		wantRejected(t, nextDisposition(t, p).State, "amqp:resource-limit-exceeded")
	})
}

func TestTXN2_SendsAreInvisibleUntilTheCommit(t *testing.T) { // [AMQP 4.4.1]
	batch := func(tr *frames.Transfer) *frames.Transfer {
		tr.MessageFormat = 0x80013700
		return tr
	}
	for _, c := range []struct {
		name string
		send func(t *testing.T, p *amqptest.Peer, txn []byte)
		n    int
	}{
		{"single", func(t *testing.T, p *amqptest.Peer, txn []byte) { sendWithin(t, p, txn, 0, 0, "x") }, 1},
		{"batch", func(t *testing.T, p *amqptest.Peer, txn []byte) {
			p.Send(0, batch(within(txn, 0, 0)), batchOf(amqptest.Message("1"), amqptest.Message("2"))...)
			wantWithin(t, p, frames.RoleReceiver, txn, 0, &frames.Accepted{})
		}, 2},
		{"empty batch", func(t *testing.T, p *amqptest.Peer, txn []byte) {
			p.Send(0, batch(within(txn, 0, 0)))
			wantWithin(t, p, frames.RoleReceiver, txn, 0, &frames.Accepted{})
		}, 0},
		{"several frames", func(t *testing.T, p *amqptest.Peer, txn []byte) {
			m := amqptest.Message(strings.Repeat("x", 1000))
			first := within(txn, 0, 0)
			first.More = true
			p.Send(0, first, m[:500]...)
			p.Send(0, &frames.Transfer{Handle: 0}, m[500:]...)
			wantWithin(t, p, frames.RoleReceiver, txn, 0, &frames.Accepted{})
		}, 1},
		{"settled", func(t *testing.T, p *amqptest.Peer, txn []byte) { // ERR-7
			tr := within(txn, 0, 0)
			tr.Settled = true
			p.Send(0, tr, amqptest.Message("x")...)
			p.WantSilence(time.Second)
		}, 1},
	} {
		for _, fail := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fail %v", c.name, fail), func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					p := b.controlled(t)
					p.AttachSender(0, 0, "q")
					txn := declare(t, p)
					c.send(t, p, txn)
					b.wantReceivable(t, "q", 0)
					end(t, p, txn, fail)
					if fail {
						c.n = 0
					}
					b.wantReceivable(t, "q", c.n)
				})
			})
		}
	}
}

func TestTXN2_OutcomeOfTheDischargeFollowsTheCommit(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		p.AttachSender(0, 0, "q")
		txn := declare(t, p)
		sendWithin(t, p, txn, 0, 0, "x")
		b.journal.Pause()
		p.Send(1, amqptest.Transfer(7, 5), (&frames.Discharge{TxnID: txn}).AppendTo(nil)...)
		p.WantSilence(time.Second)
		b.journal.Resume()
		wantOutcome(t, p, 5, "")
		txn = declare(t, p)
		sendWithin(t, p, txn, 0, 1, "y")
		b.journal.FailNext(1, errors.New("disk on fire"))
		wantRejected(t, discharge(t, p, txn, false), "amqp:transaction:rollback")
		if !strings.Contains(b.log.String(), "disk on fire") {
			t.Error("the log does not say why")
		}
		b.wantReceivable(t, "q", 1)
	})
}

func TestTXN6_TXN7_SettlementsTakeEffectAtTheCommit(t *testing.T) { // [AMQP 4.4.2]
	for _, c := range []struct {
		outcome frames.DeliveryState
		after   emulator.Counts // of a commit
	}{
		{&frames.Accepted{}, emulator.Counts{}},
		{&frames.Modified{}, emulator.Counts{Active: 1}},
		{&frames.Modified{UndeliverableHere: true}, emulator.Counts{Active: 1, Deferred: 1}},
		{&frames.Rejected{}, emulator.Counts{DeadLetter: 1}},
		{&frames.Released{}, emulator.Counts{Active: 1}},
	} {
		for _, fail := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fail %v", c.outcome.Name(), fail), func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) { settleWithin(t, b, c.outcome, c.after, fail) })
			})
		}
	}
}

func settleWithin(t *testing.T, b *bench, outcome frames.DeliveryState, after emulator.Counts, fail bool) {
	b.send(t, b.client(t), "q", "x")
	p := b.controlled(t)
	p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
	p.Send(0, amqptest.Flow(0, 0, 1))
	token := emulator.LockToken(amqp.UUID(amqptest.Want[*frames.Transfer](p).DeliveryTag).SwapGUID())
	txn := declare(t, p)
	settle(p, 0, 0, false, &frames.TransactionalState{TxnID: txn, Outcome: outcome})
	wantWithin(t, p, frames.RoleSender, txn, 0, outcome)
	q, _ := b.ns.Entity("q")
	if n := q.Counts().Active; n != 1 {
		t.Errorf("%d messages before the discharge", n)
	}
	b.wantReceivable(t, "q", 0)
	end(t, p, txn, fail)
	err := q.Settle([]emulator.LockToken{token}, emulator.Settlement{}, emulator.CompletionFunc(func(error) {}))
	synctest.Wait()
	if fail {
		after = emulator.Counts{} // it was still locked, and is now complete
	}
	if (err == nil) != fail {
		t.Errorf("settled again: %v", err)
	}
	got := q.Counts()
	got.SizeBytes = 0
	if got != after {
		t.Errorf("counts %+v, want %+v", got, after)
	}
}

func TestTXN_SettlementsWithoutOutcomeOrTransaction(t *testing.T) {
	for _, c := range []struct {
		name      string
		state     func(txn []byte) *frames.TransactionalState
		condition amqp.Symbol
	}{
		{"no outcome", func(txn []byte) *frames.TransactionalState { return &frames.TransactionalState{TxnID: txn} },
			"amqp:invalid-field"},
		{"unknown", func([]byte) *frames.TransactionalState {
			return &frames.TransactionalState{TxnID: []byte("nobody's"), Outcome: &frames.Accepted{}}
		}, "amqp:transaction:unknown-id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.send(t, b.client(t), "q", "x")
				p := b.controlled(t)
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
				p.Send(0, amqptest.Flow(0, 0, 1))
				amqptest.Want[*frames.Transfer](p)
				settle(p, 0, 0, false, c.state(declare(t, p)))
				wantRejectedOpen(t, p, 0, c.condition)
				b.wantReceivable(t, "q", 0)
				settle(p, 0, 0, false, &frames.Released{})
				wantSettled(t, p, 0, 0)
				b.wantReceivable(t, "q", 1)
			})
		})
	}
}

// wantRejectedOpen fails the test unless the next disposition rejects a settlement and leaves the delivery unsettled
// (TXN-15).
func wantRejectedOpen(t *testing.T, p *amqptest.Peer, id uint32, condition amqp.Symbol) {
	t.Helper()
	d := nextDisposition(t, p)
	if d.Role != frames.RoleSender || d.First != id || d.Settled {
		t.Errorf("disposition %+v, want an unsettled one of %d", d, id)
	}
	wantRejected(t, d.State, condition)
}

// TestTXN24_TheDischargeSettles [AMQP 4.4.2]: until then the delivery is known to the link, and after a rollback it
// can be settled again.
func TestTXN24_TheDischargeSettles(t *testing.T) {
	accepted := &frames.Accepted{}
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("s", emulator.QueueOptions{RequiresSession: true})
		p := b.controlled(t)
		p.AttachSender(0, 4, "s")
		for i := range uint32(2) {
			p.Send(0, amqptest.Transfer(4, i), sessionMessage("x", "1")...)
			wantOutcome(t, p, i, "")
		}
		p.AttachReceiver(0, sessionAttach(0, "s", "x"))
		p.Send(0, amqptest.Flow(0, 0, 2))
		for range 2 {
			amqptest.Want[*frames.Transfer](p)
		}
		within := func(txn []byte) *frames.TransactionalState {
			return &frames.TransactionalState{TxnID: txn, Outcome: accepted}
		}
		txn := declare(t, p)
		settle(p, 0, 0, false, within(txn))
		wantWithin(t, p, frames.RoleSender, txn, 0, accepted)
		settle(p, 0, 0, false, within(txn)) // a second time
		wantRejectedOpen(t, p, 0, "com.microsoft:message-lock-lost")
		settle(p, 0, 0, false, accepted) // outside
		p.WantSilence(time.Second)
		time.Sleep(time.Second)
		wantRejectedOpen(t, p, 0, "com.microsoft:message-lock-lost")
		end(t, p, txn, true)
		txn = declare(t, p)
		settle(p, 1, 1, false, within(txn))
		wantWithin(t, p, frames.RoleSender, txn, 1, accepted)
		p.Send(1, amqptest.Transfer(7, 99), (&frames.Discharge{TxnID: txn}).AppendTo(nil)...)
		d := nextDisposition(t, p)
		if state, ok := d.State.(*frames.TransactionalState); !ok || d.Role != frames.RoleSender || d.First != 1 ||
			!d.Settled || string(state.TxnID) != string(txn) {
			t.Errorf("disposition %+v, want one that settles the delivery", d)
		}
		wantOutcome(t, p, 99, "")
		settle(p, 1, 1, false, accepted)
		wantLockLost(t, wantSettled(t, p, 1, 1)) // TXN-7
		settle(p, 0, 0, false, accepted)
		wantSettled(t, p, 0, 0)
		q, _ := b.ns.Entity("s")
		if n := q.Counts().Active; n != 0 {
			t.Errorf("%d messages are left", n)
		}
	})
}

// TestTXN24_TheDischargeMakesRoomForMore: the client's window is full until the transaction has settled what it has.
func TestTXN24_TheDischargeMakesRoomForMore(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		fill(t, b, 3)
		p := b.peer(t)
		p.Open()
		p.BeginWindow(0, 2)
		p.Begin(1)
		p.Send(1, controlAttach(7))
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Flow](p)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		flow := amqptest.Flow(0, 0, 3)
		flow.IncomingWindow = 2
		p.Send(0, flow)
		for range 2 {
			amqptest.Want[*frames.Transfer](p)
		}
		reopen(p, 2, 2)
		p.WantSilence(time.Second)
		txn := declare(t, p)
		accepted := &frames.Accepted{}
		for id := range uint32(2) {
			settle(p, id, id, false, &frames.TransactionalState{TxnID: txn, Outcome: accepted})
			wantWithin(t, p, frames.RoleSender, txn, id, accepted)
		}
		p.WantSilence(time.Second)
		end(t, p, txn, false)
		amqptest.Want[*frames.Transfer](p)
	})
}

// TestTXN24_TXN17_SettlementsThatOvertakeADischarge wait for it: one client sends them before its rollback is under
// way.
func TestTXN24_TXN17_SettlementsThatOvertakeADischarge(t *testing.T) {
	for _, c := range []struct {
		name   string
		commit bool
		within bool // another transaction
	}{{"rollback", false, false}, {"rollback, another transaction", false, true}, {"commit", true, false}} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.controlled(t)
				b.send(t, b.client(t), "q", "x")
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
				p.Send(0, amqptest.Flow(0, 0, 1))
				amqptest.Want[*frames.Transfer](p)
				txn, second := declare(t, p), declare(t, p)
				settle(p, 0, 0, false, &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}})
				wantWithin(t, p, frames.RoleSender, txn, 0, &frames.Accepted{})
				var state frames.DeliveryState = &frames.Modified{}
				if c.within {
					state = &frames.TransactionalState{TxnID: second, Outcome: &frames.Modified{}}
				}
				settle(p, 0, 0, false, state)
				p.WantSilence(time.Second)
				p.Send(1, amqptest.Transfer(7, 99), (&frames.Discharge{TxnID: txn, Fail: !c.commit}).AppendTo(nil)...)
				if c.commit {
					wantSettled(t, p, 0, 0)
					wantLockLost(t, wantSettled(t, p, 0, 0))
					wantOutcome(t, p, 99, "")
					return
				}
				answers := map[frames.Role]*frames.Disposition{} // of two AMQP sessions
				for range 2 {
					d := nextDisposition(t, p)
					answers[d.Role] = d
				}
				if d := answers[frames.RoleSender]; d.State.Name() != state.Name() || d.Settled == c.within {
					t.Errorf("answered with %+v, %s", d, d.State.Name())
				}
				if c.within {
					end(t, p, second, false)
				}
				b.wantReceivable(t, "q", 1)
			})
		})
	}
}

// TestTXN24_ClientsMaySettleAfterTheAnswer: with that they say that they will not settle it again.
func TestTXN24_ClientsMaySettleAfterTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		b.send(t, b.client(t), "q", "x")
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.Send(0, amqptest.Flow(0, 0, 1))
		amqptest.Want[*frames.Transfer](p)
		txn := declare(t, p)
		state := &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}}
		settle(p, 0, 0, false, state)
		wantWithin(t, p, frames.RoleSender, txn, 0, &frames.Accepted{})
		settle(p, 0, 0, true, state)
		p.WantSilence(time.Second)
		p.Send(1, amqptest.Transfer(7, 99), (&frames.Discharge{TxnID: txn}).AppendTo(nil)...)
		wantOutcome(t, p, 99, "")
		q, _ := b.ns.Entity("q")
		if n := q.Counts().Active; n != 0 {
			t.Errorf("%d messages are left", n)
		}
	})
}

func TestTXN1_SettledDispositionHasNoAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", "x")
		p := b.controlled(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.Send(0, amqptest.Flow(0, 0, 1))
		amqptest.Want[*frames.Transfer](p)
		txn := declare(t, p)
		settle(p, 0, 0, true, &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}})
		p.WantSilence(time.Second)
		end(t, p, txn, false)
		q, _ := b.ns.Entity("q")
		if n := q.Counts().Active; n != 0 {
			t.Errorf("%d messages after the commit", n)
		}
	})
}

func TestTXN3_TimesOut(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		p.AttachSender(0, 0, "q")
		txn := declare(t, p)
		time.Sleep(time.Hour / 12) // the time counts from the first operation
		sendWithin(t, p, txn, 0, 0, "x")
		time.Sleep(2*time.Minute + time.Millisecond)
		p.Send(0, within(txn, 0, 1), amqptest.Message("y")...)
		wantOutcome(t, p, 1, "amqp:transaction:timeout")
		wantRejected(t, discharge(t, p, txn, false), "amqp:transaction:timeout")
		b.wantReceivable(t, "q", 0)
	})
}

func TestTXN18_LostLockFailsTheCommit(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("short", emulator.QueueOptions{LockDuration: 5 * time.Second})
		b.send(t, b.client(t), "short", "x")
		p := b.controlled(t)
		p.AttachSender(0, 0, "short")
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "short"))
		p.Send(0, amqptest.Flow(1, 0, 1))
		amqptest.Want[*frames.Transfer](p)
		txn := declare(t, p)
		settle(p, 0, 0, false, &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}})
		wantWithin(t, p, frames.RoleSender, txn, 0, &frames.Accepted{})
		sendWithin(t, p, txn, 0, 0, "y")
		time.Sleep(6 * time.Second)
		wantRejected(t, discharge(t, p, txn, false), "amqp:transaction:rollback")
		b.wantReceivable(t, "short", 1)
	})
}

func TestTXN4_BoundToItsConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p, other := b.controlled(t), b.controlled(t)
		txn := declare(t, p)
		other.AttachSender(0, 0, "q")
		other.Send(0, within(txn, 0, 0), amqptest.Message("x")...)
		wantOutcome(t, other, 0, "amqp:transaction:unknown-id")
		wantRejected(t, discharge(t, other, txn, false), "amqp:transaction:unknown-id")
		end(t, p, txn, false)
	})
}

func TestTXN5_EndOfTheControlLinkRollsBack(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(p *amqptest.Peer)
	}{
		{"detach", func(p *amqptest.Peer) {
			p.Send(1, &frames.Detach{Handle: 7, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}},
		{"end", func(p *amqptest.Peer) {
			p.Send(1, &frames.End{})
			amqptest.Want[*frames.End](p)
		}},
		{"lost connection", func(p *amqptest.Peer) { p.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.send(t, b.client(t), "q", "x")
				p := b.controlled(t)
				p.AttachSender(0, 0, "q")
				p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
				p.Send(0, amqptest.Flow(1, 0, 1))
				token := emulator.LockToken(amqp.UUID(amqptest.Want[*frames.Transfer](p).DeliveryTag).SwapGUID())
				txn := declare(t, p)
				sendWithin(t, p, txn, 0, 0, "y")
				settle(p, 0, 0, false, &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}})
				wantWithin(t, p, frames.RoleSender, txn, 0, &frames.Accepted{})
				c.end(p)
				synctest.Wait()
				q, _ := b.ns.Entity("q")
				if n := q.Counts().Active; n != 1 {
					t.Errorf("%d messages", n)
				}
				if err := q.Settle([]emulator.LockToken{token}, emulator.Settlement{Outcome: emulator.Release},
					emulator.CompletionFunc(func(error) {})); err != nil {
					t.Errorf("the lock is gone: %v", err) // TXN-6
				}
				if c.name != "lost connection" {
					p.Send(0, within(txn, 0, 1), amqptest.Message("z")...)
					wantOutcome(t, p, 1, "amqp:transaction:unknown-id")
				}
			})
		})
	}
}

// The end of one of several control links ends its own transactions only.
func TestTXN5_TransactionsOfOtherControlLinksGoOn(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		p.AttachSender(0, 0, "q")
		p.Send(1, controlAttach(8))
		amqptest.Want[*frames.Attach](p)
		amqptest.Want[*frames.Flow](p)
		txn := declare(t, p)
		sendWithin(t, p, txn, 0, 0, "x")
		p.Send(1, &frames.Detach{Handle: 8, Closed: true})
		amqptest.Want[*frames.Detach](p)
		end(t, p, txn, false)
		b.wantReceivable(t, "q", 1)
	})
}

func TestTXN12_TXN16_AtMostAHundredMessages(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.controlled(t)
		p.AttachSender(0, 0, "q")
		txn := declare(t, p)
		for i := range uint32(100) {
			sendWithin(t, p, txn, 0, i, "x")
		}
		p.Send(0, within(txn, 0, 100), amqptest.Message("x")...)
		d := nextDisposition(t, p)
		wantRejected(t, d.State, "amqp:resource-limit-exceeded")
		if r, ok := d.State.(*frames.Rejected); ok &&
			!strings.HasPrefix(r.Error.Description, "Cannot send more than 100 messages in a single transaction.") {
			t.Errorf("refused with %q", r.Error.Description)
		}
		end(t, p, txn, false) // one failure does not end the others
		if q, _ := b.ns.Entity("q"); q.Counts().Active != 100 {
			t.Errorf("%d messages", q.Counts().Active)
		}
	})
}

func TestTXN_WhatTransactionsHoldIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 40 << 10})
		p := b.controlled(t)
		p.AttachSender(0, 0, "large")
		txn := declare(t, p)
		m := amqptest.Message(strings.Repeat("x", 33<<20))
		for id := range uint32(2) {
			for i := 0; i < len(m); i += 60_000 {
				tr := within(txn, 0, id)
				tr.More = i+60_000 < len(m)
				p.Send(0, tr, m[i:min(i+60_000, len(m))]...)
			}
			state := nextDisposition(t, p).State
			if id == 1 {
				wantRejected(t, state, "amqp:resource-limit-exceeded")
			} else if state.Name() != "transactional-state" {
				t.Fatalf("the first send is answered with %+v", state)
			}
		}
		end(t, p, txn, false)
		if q, _ := b.ns.Entity("large"); q.Counts().Active != 1 {
			t.Errorf("%d messages", q.Counts().Active)
		}
		sendWithin(t, p, declare(t, p), 0, 9, "x") // there is room again
	})
}

// TestTransaction_TheRecordSaysWhoseItsWorkIs: each operation is its link's.
func TestTransaction_TheRecordSaysWhoseItsWorkIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBenchFor(t, emulator.Options{Record: emulator.NewRecord(1 << 20)})
		b.send(t, b.client(t), "q", "x")
		p := b.controlled(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.Send(0, amqptest.Flow(0, 0, 1))
		amqptest.Want[*frames.Transfer](p)
		p.AttachSender(0, 1, "q")
		txn := declare(t, p)
		settle(p, 0, 0, false, &frames.TransactionalState{TxnID: txn, Outcome: &frames.Accepted{}})
		wantWithin(t, p, frames.RoleSender, txn, 0, &frames.Accepted{})
		sendWithin(t, p, txn, 1, 5, "y")
		end(t, p, txn, false)
		synctest.Wait()
		links := make(map[emulator.EventKind]int64)
		events, _ := b.ns.History().Events(0, emulator.EventFilter{})
		for e := range events {
			if links[e.Kind] = 0; e.Client != nil {
				links[e.Kind] = e.Client.Number
			}
		}
		if received := links[emulator.EventDelivered]; received == 0 || links[emulator.EventCompleted] != received ||
			links[emulator.EventSent] != received+1 {
			t.Errorf("links by what they did: %v", links)
		}
	})
}
