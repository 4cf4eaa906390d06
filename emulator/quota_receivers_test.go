package emulator_test

import (
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// attachAll makes n receivers of a sub-queue.
func (b *broker) attachAll(sub emulator.SubQueue, n int) []*receiver {
	b.t.Helper()
	rs := make([]*receiver, n)
	for i := range rs {
		rs[i] = b.receiver(sub, emulator.PeekLock)
	}
	return rs
}

func (b *broker) wantNoMoreReceivers() {
	b.t.Helper()
	_, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
	wantCode(b.t, "one receiver more", err, emulator.CodeQuotaExceeded)
}

func TestQUO12_ReceiversOfAQueue(t *testing.T) {
	for limits, most := range map[emulator.Profile]int{
		emulator.ProfileStandard: 5000, emulator.ProfilePremium: 5000, emulator.ProfileEmulator: 200, emulator.ProfileRelaxed: 0,
	} {
		bubbleWith(t, emulator.Options{Limits: limits}, emulator.QueueOptions{}, func(b *broker) {
			if most == 0 {
				b.attachAll(emulator.Main, 5001)
				return
			}
			rs := b.attachAll(emulator.Main, most-100)
			b.attachAll(emulator.DeadLetter, 100)
			b.wantNoMoreReceivers()
			b.create("other", emulator.QueueOptions{}).attachAll(emulator.Main, most)
			rs[0].c.Close()
			rs[0].c.Close()
			b.attachAll(emulator.Main, 1)
			b.wantNoMoreReceivers()
		})
	}
}

func TestQUO12_SubscriptionsOfATopicCountTogether(t *testing.T) {
	topicBubbleWith(t, strict, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		rs := b.sub("a").attachAll(emulator.Main, 150)
		b.sub("b").attachAll(emulator.Main, 50)
		b.sub("a").wantNoMoreReceivers()
		b.sub("b").wantNoMoreReceivers()
		rs[0].c.Close()
		b.sub("b").attachAll(emulator.Main, 1)
		b.sub("a").wantNoMoreReceivers()
	})
}

func TestQUO12_SessionReceiversAndAccepts(t *testing.T) {
	bubbleWith(t, strict, sessionful, func(b *broker) {
		b.attachAll(emulator.DeadLetter, 197)
		held := b.accept("held")
		w, last := b.next(), b.next()
		full := func(what string) {
			t.Helper()
			_, err := b.q.Sessions().AcceptNext(emulator.Accept{Notify: func() {}, Lost: func(error) {}}, func(*emulator.Consumer) {})
			wantCode(t, what+": accept next", err, emulator.CodeQuotaExceeded)
			_, err = b.tryAccept("x")
			wantCode(t, what+": accept", err, emulator.CodeQuotaExceeded)
		}
		full("with two accepts that wait")
		_, err := b.tryAccept("held")
		wantCode(t, "accept of a session that is held", err, emulator.CodeSessionLocked)
		b.send(inSession("s", "s:1"))
		equal(t, "accepted", w.id(), "s")
		full("with one of them granted")
		last.cancel()
		last.cancel()
		b.next()
		full("with another one")
		held.c.Close()
		b.accept("again")
		full("with a session that was closed and accepted again")
		wait(time.Hour) // all locks end, also that of the accept that got the session of another one
		for _, id := range []string{"1", "2", "3"} {
			b.accept(id)
		}
		full("after they were lost")
		equal(t, "sessions in memory", b.q.InMemory().Sessions(), 4)
	})
}

func TestQUO8_ValueOfAProperty(t *testing.T) {
	for limits, ok := range map[emulator.Profile]bool{
		emulator.ProfileRelaxed: true, emulator.ProfileStandard: false, emulator.ProfilePremium: false, emulator.ProfileEmulator: false,
	} {
		bubbleWith(t, emulator.Options{Limits: limits}, emulator.QueueOptions{}, func(b *broker) {
			value := func(n int) *goamqp.Message {
				m := text("x")
				m.ApplicationProperties = map[string]any{"small": "y", "large": strings.Repeat("x", n), "number": int64(1)}
				return m
			}
			b.send(value(32 << 10))
			half := value(20 << 10) // more than the limit together
			half.ApplicationProperties["other"] = strings.Repeat("x", 20<<10)
			b.send(half)
			long := strings.Repeat("x", 32<<10+1)
			subject := text("x")
			subject.Properties = &goamqp.MessageProperties{Subject: &long}
			for what, m := range map[string]*goamqp.Message{"value": value(32<<10 + 1), "subject": subject} {
				err := b.trySend(m)
				if ok {
					equal(t, "relaxed: "+what, err, nil)
					continue
				}
				wantCode(t, what, err, emulator.CodeQuotaExceeded)
				wantText(t, what, err, "has 32769 bytes, which exceeds the limit of 32768 bytes.")
			}
		})
	}
}

// TestQUO12_AReceiverMayStayOverAnUpdate, which it has to ask for: there may be no room for another one.
func TestQUO12_AReceiverMayStayOverAnUpdate(t *testing.T) {
	bubbleWith(t, emulator.Options{Limits: emulator.ProfileEmulator}, emulator.QueueOptions{}, func(b *broker) {
		rs := b.attachAll(emulator.Main, 200)
		b.update(func(o *emulator.QueueOptions) { o.MaxDeliveryCount = 5 })
		b.wantNoMoreReceivers()
		if err := rs[0].c.Err(); err != nil {
			t.Error(err)
		}
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusReceiveDisabled })
		wantCode(t, "a receiver of a disabled queue", rs[0].c.Err(), emulator.CodeEntityDisabled)
	})
}
