package emulator_test

import (
	"math"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestEXP1_EXP16_EffectiveTTLIsTheSmaller(t *testing.T) {
	for _, c := range []struct {
		name              string
		message, def, ttl time.Duration
	}{
		{"neither", 0, 0, 0},
		{"the message's alone", time.Minute, 0, time.Minute},
		{"the entity's alone", 0, time.Hour, time.Hour},
		{"a longer one is reduced", 2 * time.Hour, time.Hour, time.Hour},
		{"a shorter one is kept", time.Minute, time.Hour, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{DefaultMessageTimeToLive: c.def}, func(b *broker) {
				m := withTTL("a", c.message) // a header with ttl 0 counts as one without
				b.send(m)
				for range 2 {
					g := b.peekOne(emulator.Main, 0)
					equal(t, "ttl that receivers see", g.Header.TTL, c.ttl)
					equal(t, "expiry time is there", g.Properties.AbsoluteExpiryTime != nil, c.ttl > 0)
					b.restart()
				}
				if c.ttl == 0 {
					return
				}
				wait(c.ttl - time.Millisecond)
				b.wantCounts(1, 0, 0, 0)
				wait(time.Millisecond)
				b.wantCounts(0, 0, 0, 0)
			})
		})
	}
}

func TestEXP3_NoTimeToLiveUnlessAsked(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		wait(10 * 365 * 24 * time.Hour)
		g := b.one()
		equal(t, "ttl", g.Header.TTL, 0)
		equal(t, "body", g.body(), "a")
	})
}

func TestEXP4_FixedWhenStored(t *testing.T) {
	bubble(t, emulator.QueueOptions{DefaultMessageTimeToLive: time.Minute}, func(b *broker) {
		soonGone := text("old")
		soonGone.Properties = properties("id")
		far := time.Now().Add(24 * time.Hour)
		soonGone.Properties.AbsoluteExpiryTime = &far // without effect
		b.send(soonGone)
		b.update(func(o *emulator.QueueOptions) { o.DefaultMessageTimeToLive = time.Hour })
		b.sendTexts("new")
		b.restart()
		equal(t, "ttl of the old message", b.peekOne(emulator.Main, 0).Header.TTL, time.Minute)
		wait(time.Minute)
		equal(t, "left", bodies(b.peek()), "new")
		wait(time.Hour - time.Minute)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestEXP13_RenewPastTheExpiryIsAllowed(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(withTTL("a", time.Second))
		g := b.one()
		for range 5 {
			wait(50 * time.Second)
			if _, err := b.q.Renew(tokensOf([]*got{g}), nil); err != nil {
				t.Fatalf("renew: %v", err)
			}
		}
		b.settle(emulator.Complete, g)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestEXP17_EXP3_TimesAsFarApartAsTheWireCanSay(t *testing.T) {
	bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker) {
		m := text("a")
		m.Header = &goamqp.MessageHeader{TTL: math.MaxUint32 * time.Millisecond}
		m.Properties = &goamqp.MessageProperties{CreationTime: new(time.UnixMilli(0)), AbsoluteExpiryTime: new(time.UnixMilli(math.MaxInt64))}
		b.send(m)
		wait(24 * 365 * time.Hour)
		b.restart()
		b.wantCounts(1, 0, 0, 0)
		equal(t, "received", b.one().body(), "a")
	})
}

func TestEXP17_MoreThanAHeaderCanHold(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		const ttl = 100 * 24 * time.Hour
		m := withTTL("a", 4294967295*time.Millisecond)
		created := now()
		expires := created.Add(ttl)
		m.Properties = &goamqp.MessageProperties{CreationTime: &created, AbsoluteExpiryTime: &expires}
		b.send(m)
		g := b.peekOne(emulator.Main, 0)
		equal(t, "ttl in the header", g.Header.TTL, 4294967295*time.Millisecond)
		equal(t, "ttl by the two times", g.Properties.AbsoluteExpiryTime.Sub(*g.Properties.CreationTime), ttl)
		wait(ttl - time.Millisecond)
		b.wantCounts(1, 0, 0, 0)
		wait(time.Millisecond)
		b.wantCounts(0, 0, 0, 0)
	})
}
