package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/emulator/clock"
)

func TestDEC35_AdvanceLetsEverythingHappenInOrderBeforeItReturns(t *testing.T) {
	clock := &clock.System{}
	bubbleWith(t, emulator.Options{Clock: clock}, emulator.QueueOptions{ForwardTo: "work"}, func(b *broker) {
		work := b.create("work", emulator.QueueOptions{
			MaxDeliveryCount: 2, DeadLetteringOnExpiration: true, ForwardDeadLetteredMessagesTo: "dead",
		})
		dead := b.create("dead", emulator.QueueOptions{})
		started := now()
		m := at("due and then expired", started.Add(10*time.Minute))
		m.Header = withTTL("", 20*time.Minute).Header
		b.send(m, text("locked"))
		synctest.Wait()
		work.one()
		clock.Advance(29*time.Minute, nil, b.ns.Quiesce)
		equal(t, "real time that has passed", now(), started)
		equal(t, "before the expiry", bodies(work.peek()), "locked due and then expired")
		equal(t, "delivery count after the end of the lock", work.peek()[0].count(), 1)
		equal(t, "enqueued when it was due", work.peek()[1].enqueued(), started.Add(10*time.Minute))
		clock.Advance(10*time.Minute, nil, b.ns.Quiesce)
		gs := dead.peek() // without a wait: all of it has happened
		equal(t, "after the expiry", bodies(gs), "due and then expired")
		equal(t, "enqueued when it expired", gs[0].enqueued(), started.Add(30*time.Minute))
		wait(time.Minute) // the clock goes on by itself
		b.sendTexts("later")
		equal(t, "enqueued later", work.peekFrom(emulator.Main, 3, 1)[0].enqueued(), started.Add(40*time.Minute))
	})
}
