package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// profiles are the profiles that enforce the service's limits.
var profiles = map[string]emulator.Profile{
	"standard": emulator.ProfileStandard, "premium": emulator.ProfilePremium, "emulator": emulator.ProfileEmulator,
}

func TestQUO1_QUO2_DEC3_FullQueueRefusesSends(t *testing.T) {
	for name, limits := range profiles {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, emulator.Options{Limits: limits, BodyBudget: 1}, emulator.QueueOptions{MaxSizeInMegabytes: 1}, func(b *broker) {
				if b.ns.Profile() != limits {
					t.Errorf("limits are %v", b.ns.Profile())
				}
				megabyte := int64(1) << 20
				if limits == emulator.ProfileEmulator { // one size for all
					megabyte *= 100
				}
				m := goamqp.NewMessage(make([]byte, 250<<10))
				size := int64(len(encode(t, m).Raw))
				for n := megabyte/size + 1; n > 0; n-- { // the last one goes beyond it: the check is "at or above"
					b.send(m)
				}
				err := b.trySend(text("x"))
				wantCode(t, "send", err, emulator.CodeQuotaExceeded)
				equal(t, "text", err.Error(), fmt.Sprintf("The maximum entity size has been reached or exceeded for Queue: 'q'. "+
					"Size of entity in bytes:%d, Max entity size in bytes:%d.", b.q.Counts().SizeBytes, megabyte))
				_, err = b.q.Schedule(b.encodeAll(texts("x")), newOutcome())
				wantCode(t, "schedule", err, emulator.CodeQuotaExceeded)
				b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)
				b.sendTexts("there is room again")
			})
		})
	}
}

// An entity without a limit of its own has the profile's, however it was made.
func TestQUO5_DEC2_TheProfileDecidesTheDefaultLimitOfMessages(t *testing.T) {
	for limits, kilobytes := range map[emulator.Profile]int64{
		emulator.ProfileRelaxed: 256, emulator.ProfileStandard: 256, emulator.ProfilePremium: 1024, emulator.ProfileEmulator: 256,
	} {
		bubbleWith(t, emulator.Options{Limits: limits}, emulator.QueueOptions{}, func(b *broker) {
			topic, err := b.ns.Entities().CreateTopic("t", emulator.TopicOptions{})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "a queue's limit", b.q.MaxMessageSize(), kilobytes<<10)
			equal(t, "a topic's limit", topic.MaxMessageSize(), kilobytes<<10)
			equal(t, "the limit that is shown", limits.Limits().DefaultKilobytes, kilobytes)
			b.send(goamqp.NewMessage(make([]byte, kilobytes<<10-100)))
			wantCode(t, "too large", b.trySend(goamqp.NewMessage(make([]byte, kilobytes<<10))), emulator.CodeMessageTooLarge)
		})
	}
}

func TestQUO2_DEC3_RelaxedEnforcesNoSize(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxSizeInMegabytes: 1}, func(b *broker) {
		for range 10 {
			b.send(goamqp.NewMessage(make([]byte, 250<<10)))
		}
		b.wantCounts(10, 0, 0, 0)
	})
}

func TestQUO3_DLQ12_SESS23_WhatCountsAsSize(t *testing.T) {
	o := sessionful
	o.MaxMessageSizeInKilobytes = 4096
	bubble(t, o, func(b *broker) {
		body := strings.Repeat("x", 1000)
		m := inSession("s", body)
		one := int64(len(encode(t, m).Raw))
		b.send(m, m, m, m)
		h := b.accept("s")
		gs := h.take(3)
		equal(t, "size with locked ones", b.q.Counts().SizeBytes, 4*one)
		b.settle(emulator.Defer, gs[0])
		b.settle(emulator.DeadLetterOutcome, gs[1])
		equal(t, "size with a deferred and a dead one", b.q.Counts().SizeBytes, 4*one)
		if err := h.setState(make([]byte, 500)); err != nil {
			t.Fatalf("set state: %v", err)
		}
		equal(t, "size with a state", b.q.Counts().SizeBytes, 4*one+500)
		b.settle(emulator.Complete, gs[2])
		equal(t, "size after a removal", b.q.Counts().SizeBytes, 3*one+500)
		large := inSession("s", strings.Repeat("x", 2<<20))
		size := int64(len(encode(t, large).Raw))
		b.send(large)
		equal(t, "size with one of two megabytes, which counts twice", b.q.Counts().SizeBytes, 3*one+500+2*size)
		b.restart()
		equal(t, "size after a restart", b.q.Counts().SizeBytes, 3*one+500+2*size)
		b.settle(emulator.Complete, b.accept("s").take(2)[1])
		equal(t, "size without it", b.q.Counts().SizeBytes, 3*one+500)
	})
}

func TestQUO3_ScheduledMessagesAndTransferDeadLettersCount(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{Status: emulator.StatusDisabled})
		m := at("scheduled", soon(time.Minute))
		one := int64(len(encode(t, m).Raw))
		b.send(m)
		equal(t, "size with a scheduled one", b.q.Counts().SizeBytes, one)
		wait(time.Minute)
		equal(t, "size after the activation", b.q.Counts().SizeBytes, one)
		w := b.beginCross("q")
		w.send(other, text("x"))
		w.commit()
		equal(t, "size with a transfer dead letter", b.q.Counts().SizeBytes, one+int64(len(encode(t, text("x")).Raw)))
		equal(t, "size of the destination", other.q.Counts().SizeBytes, 0)
	})
}

func TestQUO5_LoweredMessageSizeNeverBlocksReceives(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxMessageSizeInKilobytes: 1024}, func(b *broker) {
		b.send(goamqp.NewMessage(make([]byte, 1000<<10)))
		b.update(func(o *emulator.QueueOptions) { o.MaxMessageSizeInKilobytes = 0 })
		equal(t, "limit", b.q.MaxMessageSize(), 262_144)
		wantCode(t, "send", b.trySend(goamqp.NewMessage(make([]byte, 1000<<10))), emulator.CodeMessageTooLarge)
		equal(t, "received", len(b.one().body()), 1000<<10)
	})
}

func TestQUO7_DEC17_MessagesInABatch(t *testing.T) {
	for name, limits := range profiles {
		bubbleWith(t, emulator.Options{Limits: limits}, emulator.QueueOptions{}, func(b *broker) {
			if err := limits.CheckBatch("q", 4500); err != nil {
				t.Errorf("%s: 4500 messages: %v", name, err)
			}
			wantCode(t, name+": 4501 messages", limits.CheckBatch("q", 4501), emulator.CodeNotAllowed)
		})
	}
	if err := emulator.ProfileRelaxed.CheckBatch("q", 1_000_000); err != nil {
		t.Errorf("relaxed: %v", err)
	}
}

func TestQUO8_HeaderOfAMessage(t *testing.T) {
	for _, limits := range []emulator.Profile{emulator.ProfileRelaxed, emulator.ProfileStandard} {
		bubbleWith(t, emulator.Options{Limits: limits}, emulator.QueueOptions{}, func(b *broker) {
			m := text("x")
			m.ApplicationProperties = map[string]any{}
			for i := range 6 {
				m.ApplicationProperties[fmt.Sprint(i)] = strings.Repeat("x", 10<<10)
			}
			b.send(m)
			m.ApplicationProperties["more"] = strings.Repeat("x", 10<<10)
			err := b.trySend(m)
			wantCode(t, "send", err, emulator.CodeHeaderTooLarge)
			wantText(t, "send", err, "The size quota for this stream (65536) has been exceeded.")
			b.wantCounts(1, 0, 0, 0)
		})
	}
}

func TestQUO9_DUP15_SESS33_PART8_IDsHave128Characters(t *testing.T) {
	long := strings.Repeat("ü", 129)
	for name, m := range map[string]func(id string) *goamqp.Message{
		"MessageId":    withID,
		"SessionId":    func(id string) *goamqp.Message { return inSession(id, "x") },
		"PartitionKey": func(id string) *goamqp.Message { return withKey(id, "x") },
	} {
		bubbleWith(t, emulator.Options{Limits: emulator.ProfileStandard}, emulator.QueueOptions{}, func(b *broker) {
			b.send(m(long[2:]))
			err := b.trySend(m(long))
			wantCode(t, name, err, emulator.CodeArgument)
			wantText(t, name, err, name)
		})
		bubble(t, emulator.QueueOptions{}, func(b *broker) { b.send(m(long)) }) // DEC-1
	}
}

func TestQUO14_EmptyBatches(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send()
		equal(t, "numbers of an empty schedule call", len(b.schedule()), 0)
		b.send(&goamqp.Message{Data: [][]byte{{}}})
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestCNT1_CNT3_CNT4_CNT6_Counts(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		other := b.create("other", emulator.QueueOptions{Status: emulator.StatusDisabled})
		b.deferOne(text("deferred"))
		b.deadLetterOne(text("dead"))
		b.send(text("a"), text("b"), at("scheduled", soon(time.Hour)))
		b.receive(1)
		w := b.beginCross("q")
		w.send(other, text("transfer"))
		w.commit()
		for range 2 {
			have := b.q.Counts()
			have.SizeBytes = 0
			want := emulator.Counts{Active: 3, DeadLetter: 1, Scheduled: 1, TransferDeadLetter: 1, Deferred: 1}
			equal(t, "counts", have, want)
			b.restart()
		}
	})
}

func TestCNT5_ExpiredLockedAndDeferredMessagesAreCounted(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 5 * time.Minute}, func(b *broker) {
		b.send(withTTL("deferred", time.Minute))
		b.settle(emulator.Defer, b.one())
		b.send(withTTL("locked", time.Minute), withTTL("active", time.Minute))
		b.one()
		wait(2 * time.Minute)
		b.wantCounts(2, 0, 0, 1)
	})
}

func TestCNT6_RefusedForwardsAreDeadLetters(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		b.sendTexts("a")
		synctest.Wait()
		have := b.q.Counts()
		have.SizeBytes = 0
		equal(t, "counts", have, emulator.Counts{DeadLetter: 1})
	})
}

func TestCNT7_SizeOfWhatIsThere(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		equal(t, "size of nothing", b.q.Counts().SizeBytes, 0)
		b.sendTexts("a")
		if n := b.q.Counts().SizeBytes; n < 1 || n > 100 {
			t.Errorf("size %d", n)
		}
	})
}

func TestCNT10_OpenTransactions(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		w := b.begin()
		w.settle(b, emulator.Complete, b.one())
		w.send(b, text("c"), text("d"), text("e"))
		w.schedule(b, at("f", soon(time.Hour)))
		b.wantCounts(2, 0, 0, 0)
		w.commit()
		b.wantCounts(4, 0, 1, 0)
	})
}

func TestCNT1_ExactWhileChangesAreBeingWritten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		seqs := b.schedule(at("s", soon(time.Minute)), at("t", soon(time.Hour)))
		gs := b.receive(3)
		b.j.Pause()
		done := make(window, 9)
		for what, err := range map[string]error{
			"send":        b.q.Send(b.encodeAll(texts("d")), done),
			"complete":    b.q.Settle(tokensOf(gs[:1]), emulator.Settlement{Outcome: emulator.Complete}, done),
			"dead-letter": b.q.Settle(tokensOf(gs[1:2]), emulator.Settlement{Outcome: emulator.DeadLetterOutcome}, done),
			"defer":       b.q.Settle(tokensOf(gs[2:]), emulator.Settlement{Outcome: emulator.Defer}, done),
			"cancel":      b.q.CancelScheduled(seqs[1:], done),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		time.Sleep(time.Minute)
		b.wantCounts(3, 0, 2, 0)
		b.j.Resume()
		synctest.Wait()
		b.wantCounts(3, 1, 0, 1)
	})
}
