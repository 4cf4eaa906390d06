package amqpserver_test

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// batchOf returns a batch envelope with these messages.
func batchOf(messages ...[]byte) []byte {
	var b []byte
	for _, m := range messages {
		b = amqp.AppendBinary(amqp.AppendDescriptor(b, 0x75), m)
	}
	return b
}

// TestDEC17_ABatchIsBoundedByItsBytes and not by a count.
func TestDEC17_ABatchIsBoundedByItsBytes(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		const most = 12_000
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		batch := batchOf(slices.Repeat([][]byte{{0x00, 0x53, 0x77, 0x41}}, most)...) // the value "true"
		for i := 0; i < len(batch); i += 60_000 {
			tr := batchTransfer(0, 0)
			tr.More = i+60_000 < len(batch)
			p.Send(0, tr, batch[i:min(i+60_000, len(batch))]...)
		}
		d := amqptest.Want[*frames.Disposition](p)
		if _, ok := d.State.(*frames.Accepted); !ok {
			t.Fatalf("the batch got %v", d.State)
		}
		q, err := b.ns.Entity("q")
		if err != nil {
			t.Fatal(err)
		}
		if n := q.Counts().Active; n != most {
			t.Errorf("%d messages", n)
		}
	})
}

// batchTransfer returns a transfer of a batch.
func batchTransfer(handle, id uint32) *frames.Transfer {
	t := amqptest.Transfer(handle, id)
	t.MessageFormat = 0x80013700
	return t
}

// wantOutcome fails the test unless the next frame settles exactly this delivery, with the condition, or as accepted if
// that is empty.
func wantOutcome(t *testing.T, p *amqptest.Peer, id uint32, condition amqp.Symbol) {
	t.Helper()
	d := amqptest.Want[*frames.Disposition](p)
	if d.Role != frames.RoleReceiver || d.First != id || (d.HasLast && d.Last != id) || !d.Settled {
		t.Errorf("disposition %+v, want one of %d", d, id)
	}
	switch state := d.State.(type) {
	case *frames.Accepted:
		if condition != "" {
			t.Errorf("accepted, want %s", condition)
		}
	case *frames.Rejected:
		if state.Error == nil || state.Error.Condition != condition {
			t.Errorf("rejected with %v, want %q", state.Error, condition)
		}
	default:
		t.Errorf("outcome %T", d.State)
	}
}

func TestTransfer_Accepted(t *testing.T) { // [AMQP 2.6.12]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.Send(0, amqptest.Transfer(0, 41), amqptest.Message("x")...)
		wantOutcome(t, p, 41, "")
		b.wantReceivable(t, "q", 1)
	})
}

func TestTransfer_OutcomeFollowsTheCommit(t *testing.T) { // invariant: nothing is acknowledged before it is durable
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		b.journal.Pause()
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		p.WantSilence(time.Second)
		b.journal.Resume()
		wantOutcome(t, p, 0, "")
	})
}

func TestTransfer_FailedCommitIsRejected(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		b.journal.FailNext(1, errors.New("disk on fire"))
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		d := amqptest.Want[*frames.Disposition](p)
		r, ok := d.State.(*frames.Rejected)
		if !ok || r.Error == nil || strings.Contains(r.Error.Description, "fire") {
			t.Fatalf("outcome %+v", d.State)
		}
		if !strings.Contains(b.log.String(), "disk on fire") {
			t.Error("the cause is not in the log")
		}
		synctest.Wait()
		p.Send(0, amqptest.Transfer(0, 1), amqptest.Message("x")...)
		wantOutcome(t, p, 1, "")
	})
}

// gate is a trace that makes the loop wait at a frame.
type gate struct {
	word  string
	leave chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	if strings.Contains(string(b), g.word) {
		<-g.leave
	}
	return len(b), nil
}

func TestTransfer_OutcomesAreJoinedIntoRanges(t *testing.T) { // [AMQP 2.7.6]
	g := gate{word: "-> ch=0 flow"}
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		b.journal.Pause()
		for id := range uint32(300) {
			p.Send(0, amqptest.Transfer(0, id), amqptest.Message("x")...)
		}
		p.WantSilence(time.Second)
		p.Send(0, amqptest.Flow(0, 0, 0))
		p.WantSilence(time.Second) // the loop waits, so it finds all outcomes together
		b.journal.Resume()
		synctest.Wait()
		g.leave <- struct{}{}
		next, n := uint32(0), 0
		for ; next < 300; n++ {
			d := amqptest.Want[*frames.Disposition](p)
			if d.First != next || !d.Settled || d.Last < d.First {
				t.Fatalf("disposition %+v, want one from %d", d, next)
			}
			next = d.Last + 1
		}
		if n != 1 {
			t.Errorf("%d dispositions for 300 deliveries", n)
		}
	}, func(o *amqpserver.Options) { g.leave, o.Trace = make(chan struct{}), &g })
}

func TestTransfer_SeveralFrames(t *testing.T) { // [AMQP 2.6.14], amqp-data-plane 3.5
	for _, repeat := range []bool{false, true} { // Python repeats id, tag and format on each frame
		bubble(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.AttachSender(0, 0, "q")
			m := amqptest.Message(strings.Repeat("0123456789", 3000))
			for i := 0; i < len(m); i += 10_000 {
				tr := &frames.Transfer{Handle: 0}
				if i == 0 || repeat {
					tr = amqptest.Transfer(0, 7)
				}
				tr.More = i+10_000 < len(m)
				p.Send(0, tr, m[i:min(i+10_000, len(m))]...)
			}
			wantOutcome(t, p, 7, "")
			got := b.receiveRaw(t, "q")
			if !bytes.HasSuffix(got, m) {
				t.Errorf("%d bytes arrived, not the message", len(got))
			}
		})
	}
}

func TestTransfer_TwoLinksMayInterleave(t *testing.T) { // [AMQP 2.6.14]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.AttachSender(0, 1, "q")
		m := amqptest.Message("0123456789")
		for h := range uint32(2) {
			tr := amqptest.Transfer(h, h)
			tr.More = true
			p.Send(0, tr, m[:6]...)
		}
		for h := range uint32(2) {
			p.Send(0, &frames.Transfer{Handle: h}, m[6:]...)
			wantOutcome(t, p, h, "")
		}
	})
}

func TestTransfer_AbortedIsForgotten(t *testing.T) { // [AMQP 2.7.5]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		tr := amqptest.Transfer(0, 0)
		tr.More = true
		p.Send(0, tr, 1, 2, 3)
		p.Send(0, &frames.Transfer{Handle: 0, Aborted: true})
		p.Send(0, amqptest.Transfer(0, 1), amqptest.Message("x")...)
		wantOutcome(t, p, 1, "")
		b.wantReceivable(t, "q", 1)
	})
}

func TestTransfer_Violations(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *amqptest.Peer)
	}{
		{"first frame without delivery-id", func(p *amqptest.Peer) { p.Send(0, &frames.Transfer{Handle: 0}, 1) }},
		{"next delivery before the last has ended", func(p *amqptest.Peer) {
			tr := amqptest.Transfer(0, 0)
			tr.More = true
			p.Send(0, tr, 1)
			p.Send(0, amqptest.Transfer(0, 1), 1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.AttachSender(0, 0, "q")
				p.AttachSender(0, 1, "q")
				c.do(p)
				d := amqptest.Want[*frames.Detach](p)
				if !d.Closed || d.Error == nil || d.Error.Condition != "amqp:invalid-field" {
					t.Errorf("detach %+v", d)
				}
				p.Send(0, amqptest.Transfer(1, 5), amqptest.Message("x")...) // the other link lives
				wantOutcome(t, p, 5, "")
			})
		})
	}
}

func TestTransfer_BadMessagesAreRejectedNotDetached(t *testing.T) { // amqp-data-plane 9.2
	for _, c := range []struct {
		name      string
		transfer  *frames.Transfer
		payload   []byte
		condition amqp.Symbol
	}{
		{"garbage", amqptest.Transfer(0, 0), []byte("garbage"), "amqp:decode-error"},
		{"truncated section", amqptest.Transfer(0, 0), amqptest.Message("hello")[:6], "amqp:decode-error"},
		{"batch of garbage", batchTransfer(0, 0), batchOf([]byte("garbage")), "amqp:decode-error"},
		{"unknown format", &frames.Transfer{HasDeliveryID: true, HasMessageFormat: true, MessageFormat: 99},
			amqptest.Message("x"), "amqp:not-implemented"},
		{"transaction", &frames.Transfer{HasDeliveryID: true, State: &frames.TransactionalState{TxnID: []byte{1}}},
			amqptest.Message("x"), "amqp:transaction:unknown-id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.AttachSender(0, 0, "q")
				p.Send(0, c.transfer, c.payload...)
				wantOutcome(t, p, 0, c.condition)
				p.Send(0, amqptest.Transfer(0, 1), amqptest.Message("x")...)
				wantOutcome(t, p, 1, "")
			})
		})
	}
}

func TestTransfer_BatchIsAtomic(t *testing.T) { // amqp-data-plane 3.6
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		good := amqptest.Message("x")
		p.Send(0, batchTransfer(0, 0), batchOf(good, []byte("garbage"))...)
		wantOutcome(t, p, 0, "amqp:decode-error")
		b.wantReceivable(t, "q", 0)
		p.Send(0, batchTransfer(0, 1), batchOf(good, good, good)...)
		wantOutcome(t, p, 1, "")
		b.wantReceivable(t, "q", 3)
	})
}

func TestQUO14_EmptyBodyAndEmptyBatchAreLegal(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("")...)
		wantOutcome(t, p, 0, "")
		p.Send(0, batchTransfer(0, 1))
		wantOutcome(t, p, 1, "")
		b.wantReceivable(t, "q", 1)
	})
}

const tooLarge amqp.Symbol = "amqp:link:message-size-exceeded"

func TestQUO5_MessageOverTheLimit(t *testing.T) { // [AMQP 2.7.3]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		fits := amqptest.Message(strings.Repeat("x", 262_144-8))
		if len(fits) != 262_144 {
			t.Fatalf("the message has %d bytes", len(fits))
		}
		sendInFrames(p, 0, 0, fits)
		wantOutcome(t, p, 0, "")
		sendInFrames(p, 0, 1, append(fits, 0))
		wantOutcome(t, p, 1, tooLarge)
		wantDetach(t, p, 0, tooLarge)
		p.Send(0, amqptest.Transfer(0, 2), amqptest.Message("x")...) // before the client has read the detach
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.AttachSender(0, 0, "q")
		p.Send(0, amqptest.Transfer(0, 3), amqptest.Message("x")...)
		wantOutcome(t, p, 3, "")
		b.wantReceivable(t, "q", 2)
	})
}

// TestQUO5_EveryLinkEndsWithAMessageOverItsLimit [AMQP 2.7.3]: no other way tells a sender that has settled the
// message.
func TestQUO5_EveryLinkEndsWithAMessageOverItsLimit(t *testing.T) {
	large := func(n int) []byte { return amqptest.Message(strings.Repeat("x", n)) }
	for _, c := range []struct {
		name    string
		attach  *frames.Attach
		format  uint32
		payload []byte

		condition amqp.Symbol // empty: tooLarge
	}{
		{"message", amqptest.SenderAttach(0, "q"), 0, large(262_144), ""},
		{"batch", amqptest.SenderAttach(0, "q"), 0x80013700,
			batchOf(large(100_000), large(100_000), large(100_000)), ""},
		// QUO-6
		{"batch where messages may be larger", amqptest.SenderAttach(0, "big"), 0x80013700,
			batchOf(large(600_000), large(600_000)), "amqp:not-allowed"},
		{"request", amqptest.SenderAttach(0, "q/$management"), 0, large(1 << 20), ""},
		{"token", amqptest.SenderAttach(0, "$cbs"), 0, large(1 << 20), ""},
		{"discharge", controlAttach(0), 0, large(65_536), ""},
	} {
		for _, settled := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					b.queue("big", emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096})
					p := b.opened(t)
					p.Send(0, c.attach)
					amqptest.Want[*frames.Attach](p)
					amqptest.Want[*frames.Flow](p)
					const chunk = 60_000
					for i := 0; i < len(c.payload); i += chunk {
						tr := &frames.Transfer{DeliveryID: 5, HasDeliveryID: i == 0, MessageFormat: c.format,
							HasMessageFormat: true,
							Settled:          settled, More: i+chunk < len(c.payload)}
						p.Send(0, tr, c.payload[i:min(i+chunk, len(c.payload))]...)
					}
					condition := cmp.Or(c.condition, tooLarge)
					if !settled {
						wantOutcome(t, p, 5, condition)
					}
					wantDetach(t, p, 0, condition)
					p.WantSilence(time.Second)
					p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q")) // the session lives
					b.wantReceivable(t, "q", 0)
					b.wantReceivable(t, "big", 0)
					if n := strings.Count(b.log.String(), "condition="+string(condition)); n != 1 {
						t.Errorf("it is logged %d times", n)
					}
				})
			})
		}
	}
}

// TestQUO8_PropertiesAboveTheLimit: the link lives on, and so do the other sends of the client.
func TestQUO8_PropertiesAboveTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		m := &goamqp.Message{ApplicationProperties: map[string]any{"a": strings.Repeat("x", 66_000)},
			Data: [][]byte{{1}}}
		raw, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		tr := amqptest.Transfer(0, 0)
		tr.More = true
		p.Send(0, tr, raw[:60_000]...)
		p.Send(0, &frames.Transfer{}, raw[60_000:]...)
		wantOutcome(t, p, 0, tooLarge)
		p.Send(0, amqptest.Transfer(0, 1), amqptest.Message("next")...)
		wantOutcome(t, p, 1, "")
	})
}

func TestQUO5_DeliveryThatNeverEndsIsRefusedAtTheLimit(t *testing.T) { // [AMQP 2.7.3]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		tr := amqptest.Transfer(0, 3)
		tr.More = true
		chunk := make([]byte, 60_000)
		for range 5 {
			p.Send(0, tr, chunk...)
			tr = &frames.Transfer{Handle: 0, More: true}
		}
		wantOutcome(t, p, 3, tooLarge)
		wantDetach(t, p, 0, tooLarge)
		for range 100 { // discarded, not collected
			p.Send(0, tr, chunk...)
		}
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.AttachSender(0, 0, "q")
	})
}

// TestQUO6_ClientLearnsOfABatchOverTheLimit, which it does not know where messages may be larger: the send fails with
// the service's words and the link has ended; the next link of the same session works. The condition keeps .NET's
// client from trying again.
func TestQUO6_ClientLearnsOfABatchOverTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		b.queue("big", emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096})
		s := b.client(t)
		sender, err := s.NewSender(ctx, "big", nil)
		if err != nil {
			t.Fatal(err)
		}
		one := amqptest.Message(strings.Repeat("x", 600_000))
		batch := &goamqp.Message{Format: 0x80013700, Data: [][]byte{one, one}}
		var refused *goamqp.Error
		if err := sender.Send(ctx, batch, nil); !errors.As(err, &refused) ||
			refused.Condition != goamqp.ErrCondNotAllowed {
			t.Errorf("the batch fails with %v", err)
		} else {
			for _, want := range []string{"The link '" + sender.LinkName() +
				"' is force detached by the broker because publisher(link",
				") received a batch message with no data in it. Detach origin: Publisher.", "1048576"} {
				if !strings.Contains(refused.Description, want) {
					t.Errorf("%q does not say %q", refused.Description, want)
				}
			}
		}
		time.Sleep(time.Second)
		var ended *goamqp.LinkError
		err = sender.Send(ctx, goamqp.NewMessage([]byte("x")), nil)
		if !errors.As(err, &ended) || ended.RemoteErr == nil || ended.RemoteErr.Condition != goamqp.ErrCondNotAllowed {
			t.Errorf("a message on the link that has ended fails with %v", err)
		}
		b.send(t, s, "big", "x")
	})
}

func TestTransfer_UnfinishedDeliveriesAreBoundedPerConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		chunk := make([]byte, 60_000)
		refused := 0
		for h := range uint32(100) {
			p.AttachSender(0, h, "q")
			for i := range 4 {
				tr := &frames.Transfer{Handle: h, DeliveryID: h, HasDeliveryID: i == 0, More: true}
				p.Send(0, tr, chunk...)
			}
			p.Send(0, &frames.Flow{Echo: true})
			for {
				f := p.Next()
				if d, ok := f.Body.(*frames.Disposition); ok {
					refused++
					if r := d.State.(*frames.Rejected); r.Error.Condition != "amqp:resource-limit-exceeded" {
						t.Fatalf("rejected with %v", r.Error)
					}
					continue
				}
				break
			}
		}
		if refused < 20 || refused > 40 { // 24 MB were sent, and 16 MiB are kept
			t.Errorf("%d of 100 deliveries were refused", refused)
		}
	})
}

func TestERR7_PreSettledSendsHaveNoFeedback(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		for id, payload := range [][]byte{amqptest.Message("x"), []byte("garbage"),
			amqptest.Message(strings.Repeat("x", 60_000))} {
			tr := amqptest.Transfer(0, uint32(id))
			tr.Settled = true
			p.Send(0, tr, payload...)
		}
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 2)
		if !strings.Contains(b.log.String(), "amqp:decode-error") {
			t.Error("the failure is not even in the log")
		}
	})
}

func TestERR8_OutcomeUnknownAfterLossOfTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		b.journal.Pause()
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		time.Sleep(time.Second)
		p.Close()
		time.Sleep(time.Second)
		if n := b.server.Connections(); n != 0 {
			t.Errorf("%d connections", n)
		}
		b.journal.Resume()
		time.Sleep(time.Second)
		b.wantReceivable(t, "q", 1) // the message is stored nevertheless
	})
}

func TestORD8_TransfersOfALinkAreStoredInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		for id := range uint32(64) {
			p.Send(0, amqptest.Transfer(0, id), amqptest.Message(string(rune('!'+id)))...)
		}
		s := b.client(t)
		r, err := s.NewReceiver(t.Context(), "q", &goamqp.ReceiverOptions{Credit: 64})
		if err != nil {
			t.Fatal(err)
		}
		for id := range 64 {
			m, err := r.Receive(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(m.GetData()); got != string(rune('!'+id)) {
				t.Fatalf("message %d is %q", id, got)
			}
			if got := m.Annotations["x-opt-sequence-number"]; got != int64(id+1) {
				t.Fatalf("message %d has number %v", id, got)
			}
		}
	})
}

func TestTransfer_UncommittedBytesStopTheReader(t *testing.T) { // back-pressure
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("big", emulator.QueueOptions{})
		p := b.opened(t)
		p.AttachSender(0, 0, "big")
		b.journal.Pause()
		const sent = 200 // 12 MB
		done := make(chan struct{})
		go func() {
			defer close(done)
			for id := range uint32(sent) {
				tr := amqptest.Transfer(0, id)
				p.Send(0, tr, amqptest.Message(strings.Repeat("x", 60_000))...)
			}
		}()
		time.Sleep(time.Minute)
		select {
		case <-done:
			t.Fatal("the server took 12 MB that are not committed")
		default:
		}
		b.journal.Resume()
		<-done
		for settled := uint32(0); settled < sent; {
			settled = amqptest.Want[*frames.Disposition](p).Last + 1
		}
	})
}
