package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/emulator/clock"
)

// wallClock is the time of day, which a test lets jump. The bubble's own time is the monotonic clock.
type wallClock struct {
	by    atomic.Int64
	looks atomic.Int64
}

func (w *wallClock) show() time.Time {
	w.looks.Add(1)
	return time.Now().Add(time.Duration(w.by.Load()))
}

func (w *wallClock) jump(by time.Duration) { w.by.Add(int64(by)) }

// jumpBubble is bubble with a time of day that can jump.
func jumpBubble(t *testing.T, o emulator.QueueOptions, f func(b *broker, w *wallClock)) {
	t.Helper()
	w := &wallClock{}
	bubbleWith(t, emulator.Options{Clock: &clock.System{Wall: w.show}}, o, func(b *broker) { f(b, w) })
}

func TestClock_WhatFellDueDuringASleepHappensWithinASecondInOrder(t *testing.T) {
	jumpBubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker, w *wallClock) {
		start := now()
		b.sendTexts("locked")
		b.one()
		b.send(at("third", start.Add(40*time.Minute)), at("first", start.Add(20*time.Minute)), at("second", start.Add(30*time.Minute)),
			at("tomorrow", start.Add(24*time.Hour)), withTTL("expired", time.Hour))
		w.jump(8 * time.Hour)
		wait(time.Second)
		gs := b.receive(10)
		equal(t, "received", bodies(gs), "locked first second third")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 0, 0, 0)
		for _, g := range gs[min(1, len(gs)):] {
			if g.enqueued().Before(start.Add(8*time.Hour)) || g.enqueued().After(start.Add(8*time.Hour+time.Second)) {
				t.Errorf("%s was enqueued at %v, %v after the start", g.body(), g.enqueued(), g.enqueued().Sub(start))
			}
		}
		equal(t, "expired", bodies(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 5)), "expired")
		b.wantCounts(4, 1, 1, 0)
	})
}

func TestClock_AfterASleepSessionLocksAreOverAndIdleQueuesGone(t *testing.T) {
	o := emulator.QueueOptions{RequiresSession: true, AutoDeleteOnIdle: time.Hour}
	jumpBubble(t, o, func(b *broker, w *wallClock) {
		lost := false
		c, err := b.q.Sessions().Accept("s", emulator.Accept{Lost: func(error) { lost = true }})
		if err != nil {
			t.Fatalf("accept: %v", err)
		}
		w.jump(8 * time.Hour)
		_, err = c.RenewSession()
		wantCode(t, "renew before the sleep was noticed", err, emulator.CodeSessionLockLost)
		wait(time.Second)
		equal(t, "told that the session is lost", lost, true)
		equal(t, "the idle queue is there", b.exists(), false)
	})
}

func TestClock_SetBackNothingIsEarlyAndNothingLastsLongerThanTwice(t *testing.T) {
	for _, back := range []time.Duration{time.Second, time.Hour, 365 * 24 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			o := emulator.QueueOptions{LockDuration: 30 * time.Second, RequiresDuplicateDetection: true, DuplicateDetectionWindow: time.Minute}
			jumpBubble(t, o, func(b *broker, w *wallClock) {
				b.ids("id")
				b.sendTexts("locked")
				gs := b.receive(2)
				b.settle(emulator.Complete, gs[0])
				b.send(withTTL("expires", 40*time.Second), at("scheduled", now().Add(40*time.Second)))
				w.jump(-back)
				wait(29 * time.Second)
				if _, err := b.q.Renew(tokensOf(gs[1:]), nil); err != nil {
					t.Errorf("renew before the end of the lock: %v", err)
				}
				equal(t, "before anything is due", bodies(b.peek()), "locked expires scheduled")
				b.ids("id")
				b.wantCounts(2, 0, 1, 0)
				wait(2*30*time.Second + time.Second) // of the renewed lock
				equal(t, "after twice the time", bodies(b.receive(5)), "locked scheduled")
				wait(40 * time.Second)
				b.ids("id")
				b.wantCounts(3, 0, 0, 0)
			})
		})
	}
}

func TestClock_SetBackIdleQueuesAreDeleted(t *testing.T) {
	jumpBubble(t, emulator.QueueOptions{AutoDeleteOnIdle: 10 * time.Minute}, func(b *broker, w *wallClock) {
		w.jump(-24 * time.Hour)
		wait(10*time.Minute - time.Second)
		equal(t, "exists before the time", b.exists(), true)
		wait(10*time.Minute + 2*time.Second)
		equal(t, "exists after twice the time", b.exists(), false)
	})
}

func TestClock_SetBackEnqueuedTimesAndNumbersStillAscend(t *testing.T) {
	jumpBubble(t, emulator.QueueOptions{}, func(b *broker, w *wallClock) {
		for _, by := range []time.Duration{0, -time.Minute, time.Second, -time.Hour, 30 * time.Minute, -time.Millisecond, 2 * time.Hour, -time.Second} {
			w.jump(by)
			b.sendTexts("x")
			wait(3 * time.Second)
		}
		gs := b.peek()
		for i := range gs[1:] {
			if gs[i+1].enqueued().Before(gs[i].enqueued()) || gs[i+1].seq() != gs[i].seq()+1 {
				t.Errorf("number %d at %v, then %d at %v", gs[i].seq(), gs[i].enqueued(), gs[i+1].seq(), gs[i+1].enqueued())
			}
		}
	})
}

func TestClock_SetBackItIsRightAgainAfterTwiceTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wallClock{}
		c := &clock.System{Wall: w.show}
		start := c.Now()
		c.At(start.Add(24*time.Hour), func() {})
		for range 2 { // the second time some while after the first
			before := c.Now()
			w.jump(-time.Hour)
			equal(t, "at once", c.Now(), before)
			time.Sleep(time.Hour)
			equal(t, "after an hour", c.Now(), before.Add(30*time.Minute))
			time.Sleep(time.Hour)
			equal(t, "after two hours", c.Now().Sub(w.show()), 0)
			time.Sleep(5 * time.Hour)
			equal(t, "after seven hours", c.Now().Sub(w.show()), 0)
		}
		equal(t, "in all", c.Now().Sub(start), 12*time.Hour)
	})
}

// TestClock_NeverGoesBackHoweverTheWallClockJumps lets many ask for the time and for timers while the wall clock jumps.
func TestClock_NeverGoesBackHoweverTheWallClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wallClock{}
		c := &clock.System{Wall: w.show}
		r := emulator.NewRandom(t)
		var latest atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			seed := r.Uint64()
			all.Go(func() { askForTime(t, c, &latest, rand.New(rand.NewPCG(seed, 1))) })
		}
		for range 2000 {
			time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
			w.jump(time.Duration(r.IntN(7_200_000)-3_600_000) * time.Millisecond)
		}
		all.Wait()
	})
}

// askForTime compares instants with those that others were told before, and checks that timers are neither early nor late.
func askForTime(t *testing.T, c *clock.System, latest *atomic.Int64, r *rand.Rand) {
	for range 500 {
		before := latest.Load()
		at := c.Now().UnixMilli()
		if at < before {
			t.Errorf("%d after %d was told", at, before)
		}
		for old := latest.Load(); at > old && !latest.CompareAndSwap(old, at); old = latest.Load() {
		}
		d := time.Duration(r.IntN(10_000)) * time.Millisecond
		due, begin, rung := c.Now().Add(d), time.Now(), make(chan struct{})
		c.At(due, func() { close(rung) })
		<-rung
		if now := c.Now(); now.Before(due) {
			t.Errorf("called at %v, asked for %v", now, due)
		}
		if took := time.Since(begin); took > 2*d+time.Second {
			t.Errorf("called after %v, asked for %v", took, d)
		}
	}
}

func TestClock_LooksOnceASecondWhateverIsPendingAndNeverWithoutATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wallClock{}
		c := &clock.System{Wall: w.show}
		var timers []clock.Timer
		for i := range 1000 {
			timers = append(timers, c.At(c.Now().Add(time.Hour+time.Duration(i)*time.Second), func() {}))
		}
		looks := func(d time.Duration) int64 {
			before := w.looks.Load()
			time.Sleep(d)
			synctest.Wait()
			return w.looks.Load() - before
		}
		if n := looks(time.Minute); n > 60*4 { // a wake-up looks a few times
			t.Errorf("the wall clock was looked at %d times in a minute", n)
		}
		for _, x := range timers {
			x.Stop()
		}
		equal(t, "looks without a timer", looks(time.Minute), 0)
	})
}

func TestClock_TellsOfJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wallClock{}
		told := make(chan time.Duration, 10)
		c := &clock.System{Wall: w.show, Jumped: func(by time.Duration) { told <- by }}
		w.jump(time.Hour) // nothing waits for anything
		c.At(c.Now().Add(24*time.Hour), func() {})
		for _, by := range []time.Duration{8 * time.Hour, -time.Hour, 900 * time.Millisecond, -3 * time.Second} {
			time.Sleep(time.Minute)
			w.jump(by)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		close(told)
		var all []time.Duration
		for by := range told {
			all = append(all, by)
		}
		equal(t, "told", fmt.Sprint(all), "[8h0m0s -1h0m0s -3s]")
	})
}

// TestClock_SetBackWhileTheBrokerIsDown: the journal has instants from the future then.
func TestClock_SetBackWhileTheBrokerIsDown(t *testing.T) {
	for _, back := range []time.Duration{5 * time.Second, time.Hour, 10 * 365 * 24 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			o := emulator.QueueOptions{RequiresDuplicateDetection: true, DuplicateDetectionWindow: time.Minute}
			jumpBubble(t, o, func(b *broker, w *wallClock) {
				b.ids("id")
				b.send(withTTL("expires", time.Minute))
				b.create("idle", emulator.QueueOptions{AutoDeleteOnIdle: 5 * time.Minute})
				b.create("scheduled", emulator.QueueOptions{}).send(at("x", now().Add(time.Minute)))
				b.stop()
				w.jump(-back)
				b.options.Clock = &clock.System{Wall: w.show}
				b.start()
				start := w.show().Round(0).UTC()
				for i, g := range append(b.peek(), b.on("scheduled").peek()...) {
					equal(t, fmt.Sprintf("enqueued time of message %d", i), g.enqueued(), start)
				}
				if times := b.q.Times(); times.Created > start.UnixMilli() || times.Updated > start.UnixMilli() {
					t.Errorf("created at %d and updated at %d, it is %d", times.Created, times.Updated, start.UnixMilli())
				}
				b.sendTexts("after")
				wait(time.Minute - time.Second)
				equal(t, "before the end of the time to live", len(b.peek()), 3)
				wait(2 * time.Second)
				b.ids("id")
				equal(t, "after it, and with an id that was remembered", len(b.peek()), 3)
				b.on("scheduled").wantCounts(0, 0, 1, 0)
				wait(4 * time.Minute)
				_, err := b.ns.Entity("idle")
				wantCode(t, "the idle queue", err, emulator.CodeNotFound)
				w.jump(back)
				wait(time.Second)
				b.on("scheduled").wantCounts(1, 0, 0, 0)
			})
		})
	}
}
