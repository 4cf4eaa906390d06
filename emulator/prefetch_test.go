package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

// PRE-4 is proved by TestSESS18_DC9_PRE4_CloseFreesAtOnceInOrderWithoutCounting.

func TestPRE1_CreditLocksAtOnceAndTheLockAgesInTheBuffer(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 30 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		gs := b.receiver(emulator.Main, emulator.PeekLock).take(2)
		wait(20 * time.Second)
		equal(t, "received by another", bodies(b.receive(9)), "c")
		equal(t, "locked until", gs[0].until(), now().Add(10*time.Second))
		b.settle(emulator.Complete, gs[0])
		wait(10 * time.Second)
		wantCode(t, "complete too late", b.trySettle(emulator.Complete, nil, gs[1].token()), emulator.CodeMessageLockLost)
	})
}

func TestPRE2_DC12_LostInTheBufferUntilItIsDeadLettered(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 30 * time.Second, MaxDeliveryCount: 3}, func(b *broker) {
		b.sendTexts("a")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		for count := range uint32(3) {
			gs := r.take(10)
			equalSlices(t, "delivery counts", countsOf(gs), count)
			wait(30 * time.Second)
		}
		equal(t, "received", len(r.take(10)), 0)
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "a=MaxDeliveryCountExceeded")
	})
}

func TestPRE3_LOCK10_ClosedReceiverLeavesItsBufferLocked(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 30 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		gs := r.take(2)
		b.settle(emulator.Release, gs[1])
		r.c.Close()
		gs = b.receive(2)
		equal(t, "received at once", bodies(gs), "b")
		equal(t, "delivery count of the released one", gs[0].count(), 0)
		wait(30 * time.Second)
		equalSlices(t, "delivery counts later", countsOf(b.receive(2)), 1, 1)
	})
}
