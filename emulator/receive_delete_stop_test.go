package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// TestRAD5_DEC21_StopLosesNothingThatDidNotLeave stops the broker while messages that were received and deleted come back,
// at every stage of that.
func TestRAD5_DEC21_StopLosesNothingThatDidNotLeave(t *testing.T) {
	// Each gets what was taken, gives it back, and makes the journal go on in a second where it has stopped it.
	stages := map[string]func(b *broker, r *receiver){
		"the removal is being written": func(b *broker, r *receiver) {
			b.j.Pause()
			r.c.Return(r.pull(3))
			time.AfterFunc(time.Second, b.j.Resume)
		},
		"the return is being written": func(b *broker, r *receiver) {
			ds := r.pull(3)
			synctest.Wait()
			b.j.Pause()
			r.c.Return(ds)
			time.AfterFunc(time.Second, b.j.Resume)
		},
		"the return has failed and waits for another try": func(b *broker, r *receiver) {
			ds := r.pull(3)
			synctest.Wait()
			b.failOnce()
			r.c.Return(ds)
			synctest.Wait()
		},
		"the return fails during the stop": func(b *broker, r *receiver) {
			ds := r.pull(3)
			synctest.Wait()
			b.j.Pause()
			r.c.Return(ds)
			b.j.FailNext(3, errDisk)
			time.AfterFunc(time.Second, b.j.Resume)
		},
		"the removal fails during the stop": func(b *broker, r *receiver) {
			b.j.Pause()
			r.c.Return(r.pull(3))
			b.failOnce()
			time.AfterFunc(time.Second, b.j.Resume)
		},
	}
	for what, stage := range stages {
		for name, o := range map[string]emulator.Options{"bodies in memory": {}, "bodies on disk": small} {
			t.Run(what+", "+name, func(t *testing.T) {
				bubbleWith(t, o, emulator.QueueOptions{}, func(b *broker) {
					b.sendTexts("a", "b", "c", "d")
					b.settle(emulator.Abandon, b.one())
					r := b.receiver(emulator.Main, emulator.ReceiveAndDelete)
					stage(b, r)
					r.c.Close()
					b.restart()
					gs := b.receive(5)
					equal(t, "there after the stop", bodies(gs), "a b c d")
					equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3, 4)
					equalSlices(t, "delivery counts", countsOf(gs), 1, 0, 0, 0)
				})
			})
		}
	}
}

// TestRAD5_StopOfAJournalThatNoLongerWorksEnds: there is nothing to be done then but to say what is lost.
func TestRAD5_StopOfAJournalThatNoLongerWorksEnds(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		r, ds := b.deleting(1)
		synctest.Wait()
		b.j.FailNext(1000, errDisk)
		r.c.Return(ds)
		begin := time.Now()
		b.ns.Close()
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("the stop took %v", took)
		}
	})
}

// TestSESS20_RAD5_NothingOvertakesWhatComesBack: messages of a session that were received and deleted, and did not reach the
// wire, close the session until they are stored again.
func TestSESS20_RAD5_NothingOvertakesWhatComesBack(t *testing.T) {
	o := sessionful
	o.MaxDeliveryCount = 100
	for _, when := range []string{"the removal is being written", "the return is being written", "the return fails once"} {
		for _, who := range []string{"the next holder", "the same holder", "who named the session"} {
			t.Run(when+", "+who, func(t *testing.T) {
				bubble(t, o, func(b *broker) {
					b.sendSession("s:0", "s:1", "s:2", "s:3", "s:4", "s:5")
					h := b.acceptIn("s", emulator.ReceiveAndDelete)
					w := b.next()
					if when == "the removal is being written" {
						b.j.Pause()
					}
					ds := h.pull(3)
					synctest.Wait()
					b.j.Pause()
					h.c.Return(ds)
					receive := w.take
					if who != "the next holder" {
						w.cancel()
					}
					if who != "the same holder" {
						h.c.Close()
					}
					switch who {
					case "the same holder":
						receive = h.take
					case "who named the session":
						h = b.accept("s")
						receive = h.take
					}
					equal(t, "granted before they are back", w.granted(), 0)
					if who != "the next holder" {
						equal(t, "received before they are back", len(h.c.Take(nil, 10)), 0)
					}
					if when == "the return fails once" {
						b.failOnce()
					}
					before := h.notices()
					b.j.Resume()
					wait(2 * time.Second)
					if who != "the next holder" && h.notices() == before {
						t.Error("the holder was not told that there is something to take")
					}
					equal(t, "received", bodies(receive(10)), "s:0 s:1 s:2 s:3 s:4 s:5")
				})
			})
		}
	}
}

// TestSESS20_RAD5_FailedRemovalOpensTheSessionAgain: what was given back while its removal failed is there at once.
func TestSESS20_RAD5_FailedRemovalOpensTheSessionAgain(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:0", "s:1", "s:2")
		h := b.acceptIn("s", emulator.ReceiveAndDelete)
		w := b.next()
		b.j.Pause()
		h.c.Return(h.pull(2))
		h.c.Close()
		b.failOnce()
		b.j.Resume()
		synctest.Wait()
		equal(t, "received", bodies(w.take(5)), "s:0 s:1 s:2")
	})
}

// TestSESS20_RAD5_SessionIsNotOfferedOnceItsMessagesComeBack: its lock has ended, so that it could be had, and its last receiver gives
// back what was removed for it.
func TestSESS20_RAD5_SessionIsNotOfferedOnceItsMessagesComeBack(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:0", "s:1", "s:2")
		h := b.acceptIn("s", emulator.ReceiveAndDelete)
		ds := h.pull(2)
		wait(time.Hour)
		b.j.Pause()
		h.c.Return(ds)
		w := b.next()
		equal(t, "granted before they are back", w.granted(), 0)
		b.failOnce()
		b.j.Resume()
		synctest.Wait()
		b.verify(true)
		equal(t, "granted before they are back", w.granted(), 0)
		wait(2 * time.Second)
		equal(t, "received", bodies(w.take(5)), "s:0 s:1 s:2")
	})
}

// TestSESS20_FailedReadsKeepTheOrder: messages that rest for a while because their bodies could not be read again and again
// keep the others of their session back.
func TestSESS20_FailedReadsKeepTheOrder(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		bubbleWith(t, small, sessionful, func(b *broker) {
			b.sendSession("s:0", "s:1", "s:2", "s:3")
			h := b.acceptIn("s", mode)
			b.j.setReads(errDisk, 0)
			for range 17 {
				equal(t, "received though it can't be read", len(h.take(2)), 0)
			}
			b.j.setReads(nil, 0)
			equal(t, "received before the first ones are back", len(h.take(2)), 0)
			wait(time.Second)
			equal(t, "received", bodies(h.take(4)), "s:0 s:1 s:2 s:3")
		})
	}
}
