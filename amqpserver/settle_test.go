package amqpserver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// delivered returns a peer that has received n messages of "q", with ids 0 to n-1.
func (b *bench) delivered(t *testing.T, n int) *amqptest.Peer {
	t.Helper()
	p := b.receiving(t, n)
	p.Send(0, amqptest.Flow(0, 0, uint32(n)))
	for range n {
		amqptest.Want[*frames.Transfer](p)
	}
	return p
}

// wantSettled fails the test unless the next frames answer the settlements of a range, and nothing else. The number of
// frames depends on how the commits came together.
func wantSettled(t *testing.T, p *amqptest.Peer, first, last uint32) frames.DeliveryState {
	t.Helper()
	for {
		d := amqptest.Want[*frames.Disposition](p)
		if d.Role != frames.RoleSender || !d.Settled || d.First != first || !d.HasLast ||
			d.Last < first || d.Last > last {
			t.Fatalf("disposition %+v, want %d to %d", d, first, last)
		}
		if first = d.Last + 1; d.Last == last {
			return d.State
		}
	}
}

// wantLockLost fails the test unless a settlement was answered with a lost lock.
func wantLockLost(t *testing.T, state frames.DeliveryState) {
	t.Helper()
	r, ok := state.(*frames.Rejected)
	if !ok || r.Error == nil || r.Error.Condition != "com.microsoft:message-lock-lost" {
		t.Errorf("outcome %+v, want lock lost", state)
	}
}

func TestLOCK12_OutcomesAndTheirEchoes(t *testing.T) { // amqp-data-plane 6.1, 6.2
	for _, c := range []struct {
		name  string
		state frames.DeliveryState
		same  func(frames.DeliveryState) bool
		after emulator.Counts
		ready int
	}{
		{"accepted", &frames.Accepted{},
			func(s frames.DeliveryState) bool { _, ok := s.(*frames.Accepted); return ok }, emulator.Counts{}, 0},
		{"released", &frames.Released{},
			func(s frames.DeliveryState) bool { _, ok := s.(*frames.Released); return ok },
			emulator.Counts{Active: 1}, 1},
		{"modified", &frames.Modified{},
			func(s frames.DeliveryState) bool { m, ok := s.(*frames.Modified); return ok && !m.UndeliverableHere },
			emulator.Counts{Active: 1}, 1},
		{"modified, failed", &frames.Modified{DeliveryFailed: true},
			func(s frames.DeliveryState) bool { m, ok := s.(*frames.Modified); return ok && !m.UndeliverableHere },
			emulator.Counts{Active: 1}, 1},
		{"modified, undeliverable here", &frames.Modified{UndeliverableHere: true},
			func(s frames.DeliveryState) bool { m, ok := s.(*frames.Modified); return ok && m.UndeliverableHere },
			emulator.Counts{Active: 1, Deferred: 1}, 0},
		{"rejected without error", &frames.Rejected{},
			func(s frames.DeliveryState) bool { r, ok := s.(*frames.Rejected); return ok && r.Error == nil },
			emulator.Counts{DeadLetter: 1}, 0},
		{"rejected", &frames.Rejected{Error: &frames.Error{Condition: "com.microsoft:dead-letter"}},
			func(s frames.DeliveryState) bool { r, ok := s.(*frames.Rejected); return ok && r.Error == nil },
			emulator.Counts{DeadLetter: 1}, 0},
	} {
		for _, settled := range []bool{false, true} { // Python settles and does not wait
			t.Run(c.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					p := b.delivered(t, 1)
					settle(p, 0, 0, settled, c.state)
					if settled {
						p.WantSilence(time.Second)
					} else if got := wantSettled(t, p, 0, 0); !c.same(got) {
						t.Errorf("answered with %+v", got)
					}
					q, _ := b.ns.Entity("q")
					got := q.Counts()
					got.SizeBytes = 0
					if got != c.after {
						t.Errorf("counts %+v, want %+v", got, c.after)
					}
					b.wantReceivable(t, "q", c.ready)
				})
			})
		}
	}
}

func TestSettle_AnswerFollowsTheCommit(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 2)
		b.journal.Pause()
		settle(p, 0, 0, false, &frames.Accepted{})
		p.WantSilence(time.Second)
		b.journal.Resume()
		wantSettled(t, p, 0, 0)
		b.journal.FailNext(1, errors.New("disk on fire"))
		settle(p, 1, 1, false, &frames.Accepted{})
		if r, ok := wantSettled(t, p, 1, 1).(*frames.Rejected); !ok || r.Error == nil {
			t.Error("a settlement that failed was answered as a success")
		}
	})
}

func TestSettle_RangesIgnoreWhatIsNotThere(t *testing.T) { // amqp-data-plane 6.1
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 10)
		settle(p, 3, 3, false, &frames.Accepted{})
		wantSettled(t, p, 3, 3)
		settle(p, 1, 5, false, &frames.Accepted{})
		wantSettled(t, p, 1, 2)
		wantSettled(t, p, 4, 5)
		// Four thousand million ids, of which six are known.
		settle(p, 0, 1<<31-2, false, &frames.Accepted{})
		wantSettled(t, p, 0, 0)
		wantSettled(t, p, 6, 9)
		settle(p, 0, 9, false, &frames.Accepted{})
		p.WantSilence(time.Second)
	})
}

func TestLOCK7_SettlingTwice(t *testing.T) { // amqp-data-plane 6.3
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		settle(p, 0, 0, false, &frames.Accepted{})
		wantSettled(t, p, 0, 0)
		settle(p, 0, 0, false, &frames.Accepted{})
		wantLockLost(t, wantSettled(t, p, 0, 0))
		settle(p, 0, 0, true, &frames.Accepted{})
		settle(p, 77, 77, true, &frames.Accepted{})
		p.WantSilence(time.Second)
		settle(p, 77, 77, false, &frames.Accepted{})
		wantLockLost(t, wantSettled(t, p, 77, 77))
		wantEntityInLog(t, b, 2)
	})
}

func TestLOCK7_SettlingAfterTheLockExpired(t *testing.T) {
	for _, state := range []frames.DeliveryState{&frames.Accepted{}, &frames.Released{}, &frames.Modified{},
		&frames.Rejected{}} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 1)
			time.Sleep(61 * time.Second)
			settle(p, 0, 0, false, state)
			wantLockLost(t, wantSettled(t, p, 0, 0))
			wantEntityInLog(t, b, 1)
		})
	}
}

// wantEntityInLog checks that the lines about refused settlements say from which entity the client receives.
func wantEntityInLog(t *testing.T, b *bench, times int) {
	t.Helper()
	const want = `msg="settle refused"`
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, want) && strings.Contains(line, "entity=q ") {
			times--
		}
	}
	if times != 0 {
		t.Errorf("%d more lines with %s should name the entity:\n%s", times, want, b.log)
	}
}

func TestLOCK24_RefusedDispositionEndsTheDelivery(t *testing.T) {
	for _, c := range []struct {
		name      string
		queue     string
		state     frames.DeliveryState
		condition amqp.Symbol
	}{
		{"dead-letter in the dead-letter queue", "q/$DeadLetterQueue", &frames.Rejected{}, "amqp:not-allowed"},
		{"transaction", "q", &frames.TransactionalState{TxnID: []byte{1}, Outcome: &frames.Accepted{}},
			"amqp:transaction:unknown-id"},
		{"property that cannot be one", "q",
			&frames.Modified{MessageAnnotations: amqp.Map{{Key: "k", Value: amqp.List{int32(1)}}}}, "amqp:not-allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.delivered(t, 1)
				if c.queue != "q" {
					settle(p, 0, 0, false, &frames.Rejected{})
					wantSettled(t, p, 0, 0)
				} else {
					settle(p, 0, 0, false, &frames.Released{})
					wantSettled(t, p, 0, 0)
				}
				p.AttachReceiver(0, amqptest.ReceiverAttach(1, c.queue))
				p.Send(0, amqptest.Flow(1, 0, 2))
				amqptest.Want[*frames.Transfer](p)
				settle(p, 1, 1, false, c.state)
				stays := c.name == "transaction" // locked (TXN-15)
				again, answered := stays, false
				for !again || !answered { // the answer and the next delivery, in either order
					switch f := p.Next().Body.(type) {
					case *frames.Disposition:
						r, ok := f.State.(*frames.Rejected)
						if answered = true; !ok || r.Error == nil || r.Error.Condition != c.condition {
							t.Errorf("answered with %+v", f.State)
						}
					case *frames.Transfer:
						if again {
							t.Errorf("delivered again, stays locked: %v", stays)
						}
						again = true
					}
				}
				p.WantSilence(time.Second)
			})
		})
	}
}

func TestLOCK14_DLQ8_PropertiesOfASettlement(t *testing.T) {
	symbol := func(s string) amqp.Symbol { return amqp.Symbol(s) }
	for _, c := range []struct {
		name  string
		state frames.DeliveryState
		from  string
		want  map[string]any
	}{
		{"abandon", &frames.Modified{MessageAnnotations: amqp.Map{{Key: symbol("a"), Value: int32(1)},
			{Key: "b", Value: "two"}}},
			"q", map[string]any{"a": int32(1), "b": "two"}},
		{"dead-letter", &frames.Rejected{Error: &frames.Error{Condition: "com.microsoft:dead-letter", Info: amqp.Map{
			{Key: symbol("DeadLetterReason"), Value: "why"},
			{Key: symbol("DeadLetterErrorDescription"), Value: "because"},
			{Key: symbol("a"), Value: true}}}},
			"q/$deadletterqueue", map[string]any{"DeadLetterReason": "why",
				"DeadLetterErrorDescription": "because", "a": true}},
		{"dead-letter with null reason",
			&frames.Rejected{Error: &frames.Error{Condition: "com.microsoft:dead-letter", Info: amqp.Map{
				{Key: symbol("DeadLetterReason"), Value: nil}, {Key: "DeadLetterErrorDescription", Value: ""}}}},
			"q/$deadletterqueue", map[string]any{"DeadLetterErrorDescription": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.delivered(t, 1)
				settle(p, 0, 0, false, c.state)
				wantSettled(t, p, 0, 0)
				r, err := b.client(t).NewReceiver(t.Context(), c.from, nil)
				if err != nil {
					t.Fatal(err)
				}
				m, err := r.Receive(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(m.ApplicationProperties) != len(c.want) {
					t.Errorf("properties %v, want %v", m.ApplicationProperties, c.want)
				}
				for k, v := range c.want {
					if m.ApplicationProperties[k] != v {
						t.Errorf("property %s is %v, want %v", k, m.ApplicationProperties[k], v)
					}
				}
			})
		})
	}
}

func TestSettle_SettledWithoutOutcomeLeavesTheLock(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		settle(p, 0, 0, false, &frames.Received{})
		settle(p, 0, 0, false, nil)
		settle(p, 0, 0, true, nil)
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 0)
		time.Sleep(time.Minute)
		b.wantReceivable(t, "q", 1)
	})
}

func TestLOCK13_ReleasedIsAvailableAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		s := b.client(t)
		b.send(t, s, "q", "x")
		r, err := s.NewReceiver(ctx, "q",
			&goamqp.ReceiverOptions{SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for range 50 {
			m, err := r.Receive(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			if m.Header.DeliveryCount != 0 {
				t.Fatalf("delivery count %d", m.Header.DeliveryCount)
			}
			if err := r.ReleaseMessage(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("it took %v", d)
		}
	})
}

func TestDisposition_OfTheSendersRoleIsIgnored(t *testing.T) { // [AMQP 2.7.6]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		p.Send(0, &frames.Disposition{Role: frames.RoleSender, First: 0, Last: 0, HasLast: true, Settled: true,
			State: &frames.Accepted{}})
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 0)
	})
}

// [AMQP 1.1.2]: a descriptor may be a full ulong or a symbol
func TestDisposition_InAnotherLegalEncoding(t *testing.T) {
	for _, descriptor := range [][]byte{
		{0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x15},
		append([]byte{0, 0xa3, 21}, "amqp:disposition:list"...),
	} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 1)
			// receiver, first 0, last null, unsettled, accepted
			fields := []byte{0x41, 0x43, 0x40, 0x42, 0, 0x53, 0x24, 0x45}
			body := append(append([]byte(nil), descriptor...), 0xc0, byte(len(fields)+1), 5)
			body = append(body, fields...)
			p.Raw(append([]byte{0, 0, 0, byte(len(body) + 8), 2, 0, 0, 0}, body...))
			if _, ok := wantSettled(t, p, 0, 0).(*frames.Accepted); !ok {
				t.Error("not accepted")
			}
		})
	}
}

// TestSettle_AFailedCommitIsRefusedForGood: for every error of the journal the condition is one that every SDK reports
// to its caller. On a retryable one the Go SDK tries again, and its second try succeeds without asking the server.
func TestSettle_AFailedCommitIsRefusedForGood(t *testing.T) {
	for name, cause := range map[string]error{
		"unknown":  errors.New("disk on fire"),
		"internal": &emulator.Error{Code: emulator.CodeInternal, Text: "The message store could not be written"},
		"busy": &emulator.Error{Code: emulator.CodeServerBusy,
			Text: "The message store is locked by another program"},
		"full": &emulator.Error{Code: emulator.CodeQuotaExceeded, Text: "There is no space left"},
	} {
		for _, state := range []frames.DeliveryState{&frames.Accepted{}, &frames.Modified{},
			&frames.Modified{UndeliverableHere: true}, &frames.Rejected{}} {
			t.Run(fmt.Sprintf("%s %T", name, state), func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					p := b.delivered(t, 1)
					b.journal.FailNext(1, cause)
					settle(p, 0, 0, false, state)
					r, ok := wantSettled(t, p, 0, 0).(*frames.Rejected)
					if !ok || r.Error == nil || r.Error.Condition != "amqp:resource-limit-exceeded" {
						t.Errorf("answered with %+v", r)
					}
				})
			})
		}
	}
}

// TestSettle_PropertiesThatCannotBeStoredAreRefusedForGood does the same for a settlement that is invalid itself.
func TestSettle_PropertiesThatCannotBeStoredAreRefusedForGood(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		settle(p, 0, 0, false, &frames.Modified{MessageAnnotations: amqp.Map{{Key: "a", Value: amqp.List{}}}})
		r, ok := wantSettled(t, p, 0, 0).(*frames.Rejected)
		if !ok || r.Error == nil || r.Error.Condition != "amqp:not-allowed" {
			t.Errorf("answered with %+v", r)
		}
	})
}
