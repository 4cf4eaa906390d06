package emulator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// advance lets time pass in the namespace.
func (b *broker) advance(d time.Duration) {
	b.t.Helper()
	if err := b.ns.Clock().Advance(context.Background(), d); err != nil {
		b.t.Fatalf("advance by %v: %v", d, err)
	}
}

// steer calls a method that steers the clock.
func (b *broker) steer(what string, f func() error) {
	b.t.Helper()
	if err := f(); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// clock returns what the namespace's clock shows since an instant.
func (b *broker) clock(since time.Time) time.Duration { return b.ns.Clock().Read().Now.Sub(since) }

// steerBubble is a house with one namespace, and the instant at which it begins.
func steerBubble(t *testing.T, f func(h *house, b *broker, start time.Time)) {
	t.Helper()
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) { f(h, h.in("orders"), now()) })
}

// TestDEC35_AFrozenClockStands: no lock ends, nothing is due, nothing expires and nothing is deleted, until it is resumed. Then it goes on.
func TestDEC35_AFrozenClockStands(t *testing.T) {
	steerBubble(t, func(_ *house, b *broker, start time.Time) {
		b.create("idle", emulator.QueueOptions{AutoDeleteOnIdle: 10 * time.Minute})
		b.sendTexts("locked")
		locked := b.one()
		b.send(at("scheduled", start.Add(time.Minute)), withTTL("expires", 2*time.Minute))
		b.steer("freeze", b.ns.Clock().Freeze)
		b.steer("freeze again", b.ns.Clock().Freeze)
		wait(time.Hour)
		equal(t, "the clock after an hour", b.clock(start), 0)
		equal(t, "reading", b.ns.Clock().Read(), emulator.ClockReading{Now: start, Ahead: -time.Hour, Frozen: true})
		b.wantCounts(2, 0, 1, 0)
		equal(t, "the idle queue is there", b.ns.Exists("idle"), true)
		if _, err := b.q.Renew(tokensOf([]*got{locked}), nil); err != nil {
			t.Errorf("renew the lock after an hour: %v", err)
		}
		b.sendTexts("meanwhile")
		equal(t, "enqueued while it is frozen", b.peekFrom(emulator.Main, 4, 1)[0].enqueued(), start)
		b.steer("resume", b.ns.Clock().Resume)
		b.steer("resume again", b.ns.Clock().Resume)
		equal(t, "the clock goes on from where it stood", b.clock(start) <= time.Millisecond, true)
		wait(time.Minute)
		equal(t, "a minute after it goes on", bodies(b.receive(10)), "locked expires meanwhile scheduled")
		wait(10 * time.Minute)
		equal(t, "the idle queue is there", b.ns.Exists("idle"), false)
		equal(t, "the clock is behind", b.ns.Clock().Read().Ahead.Round(time.Second), -time.Hour)
	})
}

// TestDEC35_AFrozenClockIsAdvancedAndStays frozen: all that is due on the way happens in its order.
func TestDEC35_AFrozenClockIsAdvancedAndStays(t *testing.T) {
	steerBubble(t, func(_ *house, b *broker, start time.Time) {
		b.send(at("second", start.Add(20*time.Minute)), at("first", start.Add(10*time.Minute)), at("tomorrow", start.Add(24*time.Hour)))
		b.steer("freeze", b.ns.Clock().Freeze)
		b.advance(time.Hour)
		wait(time.Hour)
		equal(t, "the clock", b.clock(start), time.Hour)
		gs := b.receive(5)
		equal(t, "received", bodies(gs), "first second")
		equal(t, "the second was enqueued", gs[1].enqueued(), start.Add(20*time.Minute))
		b.steer("set", func() error { return b.ns.Clock().Set(context.Background(), start.Add(24*time.Hour)) })
		equal(t, "received", bodies(b.receive(5)), "first second tomorrow")
		b.steer("resume", b.ns.Clock().Resume)
		wait(time.Hour)
		equal(t, "the clock an hour after it goes on", b.clock(start).Round(time.Second), 25*time.Hour)
	})
}

// TestDEC35_AClockIsNotSetBack, nor so far ahead that instants have no room.
func TestDEC35_AClockIsNotSetBack(t *testing.T) {
	steerBubble(t, func(_ *house, b *broker, start time.Time) {
		b.steer("set", func() error { return b.ns.Clock().Set(context.Background(), start.Add(time.Hour)) })
		for _, to := range []time.Time{start, start.Add(time.Hour - time.Millisecond)} {
			wantCode(t, "set back", b.ns.Clock().Set(context.Background(), to), emulator.CodeNotAllowed)
		}
		wantCode(t, "set to the far future", b.ns.Clock().Set(context.Background(), start.AddDate(300, 0, 0)), emulator.CodeArgument)
		wantCode(t, "advance by centuries", b.ns.Clock().Advance(context.Background(), 1<<63-1), emulator.CodeArgument)
		b.advance(-time.Hour)
		equal(t, "the clock", b.clock(start), time.Hour)
		b.advance(99 * 365 * 24 * time.Hour)
		b.sendTexts("in a century")
		equal(t, "received", bodies(b.receive(1)), "in a century")
	})
}

// TestDEC35_AClockGoesOnAfterARestart from where it stood, and a crash in the middle of an advance leaves it at its end. The other namespace's is the machine's.
func TestDEC35_AClockGoesOnAfterARestart(t *testing.T) {
	steerBubble(t, func(h *house, b *broker, start time.Time) {
		h.create("stocks", emulator.NamespaceOptions{})
		b.send(at("due", start.Add(30*time.Minute)))
		b.advance(20 * time.Minute)
		h.restart()
		wait(5 * time.Minute)
		b, other := h.in("orders"), h.in("stocks")
		equal(t, "after a restart", b.clock(start), 25*time.Minute)
		equal(t, "the other", other.clock(start), 5*time.Minute)
		b.wantCounts(0, 0, 1, 0)
		if err := h.Update("orders", emulator.NamespaceOptions{Aliases: []string{"orders.test"}}); err != nil {
			t.Fatal(err)
		}
		b.steer("freeze", b.ns.Clock().Freeze)
		h.restart()
		wait(time.Hour)
		b = h.in("orders")
		equal(t, "frozen over a restart", b.ns.Clock().Read().Frozen, true)
		equal(t, "frozen over a restart at", b.clock(start), 25*time.Minute)
		b.advance(10 * time.Minute)
		equal(t, "received", bodies(b.receive(2)), "due")
		b.steer("resume", b.ns.Clock().Resume)
		h.restart()
		b = h.in("orders")
		equal(t, "after the last restart", b.clock(start).Round(time.Second), 35*time.Minute)
	})
}

// TestDEC35_AClockThatCannotBeKeptIsLeftAsItIs.
func TestDEC35_AClockThatCannotBeKeptIsLeftAsItIs(t *testing.T) {
	steerBubble(t, func(h *house, b *broker, start time.Time) {
		for _, f := range []func() error{b.ns.Clock().Freeze, func() error { return b.ns.Clock().Advance(context.Background(), time.Hour) }} {
			h.m.FailNext(1, errDisk)
			if err := f(); !errors.Is(err, errDisk) {
				t.Errorf("error %v", err)
			}
			wait(time.Millisecond)
			if r := b.ns.Clock().Read(); r.Frozen || r.Ahead > time.Second {
				t.Errorf("the clock shows %+v", r)
			}
		}
		wait(time.Hour)
		equal(t, "the clock goes on", b.clock(start) >= time.Hour, true)
		if err := h.Delete("orders"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, "advance what is deleted", b.ns.Clock().Advance(context.Background(), time.Hour), emulator.CodeNotFound)
		equal(t, "by itself", h.Default().Clock().Advance(context.Background(), time.Hour), nil)
	})
}

// TestDEC35_NextDueNamesWhatComes: the first of each kind, and no lock that is settled.
func TestDEC35_NextDueNamesWhatComes(t *testing.T) {
	steerBubble(t, func(h *house, b *broker, start time.Time) {
		b.sendTexts("locked", "settled")
		b.settle(emulator.Complete, b.receive(2)[1])
		b.send(at("scheduled", start.Add(10*time.Minute)), at("later", start.Add(11*time.Minute)), withTTL("expires", 5*time.Minute))
		b.create("idle", emulator.QueueOptions{AutoDeleteOnIdle: 30 * time.Minute})
		s := b.create("sessions", emulator.QueueOptions{RequiresSession: true, LockDuration: 2 * time.Minute})
		if _, err := s.q.Sessions().Accept("s", emulator.Accept{}); err != nil {
			t.Fatal(err)
		}
		due := func(entity string, kind emulator.DueKind, in time.Duration) emulator.Due {
			return emulator.Due{At: start.Add(in), Entity: entity, Kind: kind}
		}
		want := []emulator.Due{due("q", emulator.DueLock, time.Minute), due("sessions", emulator.DueSession, 2*time.Minute),
			due("q", emulator.DueExpiry, 5*time.Minute), due("q", emulator.DueSchedule, 10*time.Minute), due("idle", emulator.DueIdle, 30*time.Minute)}
		equalSlices(t, "next due", b.ns.Clock().NextDue(10), want...)
		equalSlices(t, "the first two", b.ns.Clock().NextDue(2), want[:2]...)
		equal(t, "elsewhere", len(h.Default().Clock().NextDue(10)), 0)
	})
}

// TestDEC35_AForecastCountsWhatHappens: up to an instant and in no other state, and it comes true.
func TestDEC35_AForecastCountsWhatHappens(t *testing.T) {
	steerBubble(t, func(h *house, b *broker, start time.Time) {
		b.send(withTTL("soon", 5*time.Minute), withTTL("deferred", 5*time.Minute), withTTL("late", time.Hour), withTTL("settled", 5*time.Minute))
		for _, d := range b.receive(4)[1:] {
			switch d.body() {
			case "deferred":
				b.settle(emulator.Defer, d)
			case "settled":
				b.settle(emulator.Complete, d)
			default:
				b.settle(emulator.Abandon, d)
			}
		}
		b.send(at("scheduled", start.Add(10*time.Minute)), at("later", start.Add(11*time.Minute)))
		b.create("kept", emulator.QueueOptions{DefaultMessageTimeToLive: 2 * time.Minute, DeadLetteringOnExpiration: true}).sendTexts("x", "y")
		b.create("idle", emulator.QueueOptions{AutoDeleteOnIdle: 10 * time.Minute}).sendTexts("z")
		b.create("unused", emulator.QueueOptions{AutoDeleteOnIdle: time.Hour}).sendTexts("z")
		want := emulator.Forecast{Expire: emulator.Effect{Messages: 3, Entities: 2}, DeadLettered: 2, Activate: emulator.Effect{Messages: 1, Entities: 1},
			Unlock: emulator.Effect{Messages: 1, Entities: 1}, Delete: emulator.Effect{Messages: 1, Entities: 1}}
		equal(t, "forecast", b.ns.Clock().Forecast(start.Add(10*time.Minute)), want)
		equal(t, "of now", b.ns.Clock().Forecast(start), emulator.Forecast{})
		equal(t, "elsewhere", h.Default().Clock().Forecast(start.Add(time.Hour)), emulator.Forecast{})
		b.advance(10 * time.Minute)
		equal(t, "afterwards", b.ns.Clock().Forecast(start.Add(10*time.Minute)), emulator.Forecast{})
		equal(t, "active", b.q.Counts().Active, int64(3)) // deferred, late and scheduled
	})
}

// TestDEC35_AYearOfTriesEnds: a forward without a target is tried again and again, but not each second of a year.
func TestDEC35_AYearOfTriesEnds(t *testing.T) {
	steerBubble(t, func(_ *house, b *broker, _ time.Time) {
		b.create("target", emulator.QueueOptions{})
		b.create("source", emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "target", DefaultMessageTimeToLive: time.Minute, DeadLetteringOnExpiration: true}).sendTexts("x")
		if err := b.ns.Entities().Delete("target"); err != nil {
			t.Fatal(err)
		}
		b.advance(365 * 24 * time.Hour)
		target := b.create("target", emulator.QueueOptions{})
		wait(time.Second)
		synctest.Wait()
		equal(t, "forwarded a second later", bodies(target.receive(1)), "x")
	})
}

// TestDEC35_AnAdvanceThatIsStopped ends where everything due has happened, says where that is, and a restart finds the clock there.
func TestDEC35_AnAdvanceThatIsStopped(t *testing.T) {
	for _, frozen := range []bool{true, false} {
		steerBubble(t, func(h *house, b *broker, start time.Time) {
			if frozen {
				b.steer("freeze", b.ns.Clock().Freeze)
			}
			b.send(at("first", start.Add(time.Minute)), at("with it", start.Add(time.Minute)), at("second", start.Add(2*time.Minute)))
			other := b.create("other", emulator.QueueOptions{})
			other.send(at("at the same time", start.Add(time.Minute)))
			ctx, cancel := context.WithCancel(context.Background())
			waiting, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, cancel)
			if err != nil {
				t.Fatal(err)
			}
			waiting.Take(nil, 1)
			err = b.ns.Clock().Advance(ctx, time.Hour)
			wantCode(t, "stopped", err, emulator.CodeTimeout)
			if text := err.Error(); !strings.Contains(text, "was on its way to 2000-01-01T01:00:00.000Z. It shows 2000-01-01T00:01:00.000Z, and") {
				t.Error(text)
			}
			waiting.Close()
			b.wantCounts(2, 0, 1, 0)
			other.wantCounts(1, 0, 0, 0)
			equal(t, "reading", b.ns.Clock().Read(), emulator.ClockReading{Now: start.Add(time.Minute), Ahead: time.Minute, Frozen: frozen})
			wantCode(t, "ended before", b.ns.Clock().Set(ctx, start.Add(time.Hour)), emulator.CodeTimeout)
			h.restart()
			equal(t, "after a restart", h.in("orders").clock(start), time.Minute)
			b.steer("go on", func() error { return h.in("orders").ns.Clock().Advance(context.Background(), time.Minute) })
			equal(t, "received", bodies(h.in("orders").receive(9)), "first with it second")
		})
	}
}

// TestDEC35_WhatIsRescheduledToTheFrozenInstantIsActiveAtOnce like what is sent with a time that has come.
func TestDEC35_WhatIsRescheduledToTheFrozenInstantIsActiveAtOnce(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		start := now()
		past, present := b.schedule(at("past", start.Add(time.Hour)))[0], b.schedule(at("present", start.Add(2*time.Hour)))[0]
		b.steer("freeze", b.ns.Clock().Freeze)
		equal(t, "to the past", b.reschedule(past, start.Add(-time.Hour)), nil)
		b.wantCounts(1, 0, 1, 0)
		equal(t, "to the frozen instant", b.reschedule(present, start), nil)
		b.wantCounts(2, 0, 0, 0)
		equal(t, "in their order", bodies(b.receive(9)), "past present")
		b.restart()
		b.wantCounts(2, 0, 0, 0)
		b.verify(true)
	})
}

// TestDEC35_WhatIsRescheduledInATopicPassesOnAtOnce on a frozen clock too.
func TestDEC35_WhatIsRescheduledInATopicPassesOnAtOnce(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "all"}}, func(b *broker) {
		seq := b.schedule(at("later", soon(time.Hour)))[0]
		b.steer("freeze", b.ns.Clock().Freeze)
		equal(t, "reschedule", b.reschedule(seq, soon(-time.Hour)), nil)
		equal(t, "passed on", bodies(b.sub("all").peek()), "later")
	})
}
