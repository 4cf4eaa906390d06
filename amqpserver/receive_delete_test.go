package amqpserver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
)

func TestRAD1_RAD2_RemovedAsItIsWritten(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 10, deleting)
		p.Send(0, amqptest.Flow(0, 0, 4))
		tags := make(map[string]bool)
		for range 4 {
			d, payload := amqptest.WantPayload[*frames.Transfer](p)
			if tags[string(d.DeliveryTag)] = true; !d.Settled || len(d.DeliveryTag) != 16 {
				t.Errorf("transfer %+v", d)
			}
			if m, _ := message.Scan(payload); !m.DeliveryAnnotations.Empty() {
				t.Error("the delivery has a lock token")
			}
		}
		if len(tags) != 4 {
			t.Error("tags repeat")
		}
		q, _ := b.ns.Entity("q")
		if n := q.Counts().Active; n != 6 {
			t.Errorf("%d messages are left, want 6", n)
		}
		settle(p, 0, 3, true, &frames.Accepted{}) // some clients settle so; it has no effect
		p.WantSilence(time.Second)
	})
}

func TestRAD1_WrittenAfterTheCommit(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 1, deleting)
		b.journal.Pause()
		p.Send(0, amqptest.Flow(0, 0, 1))
		p.WantSilence(time.Second)
		b.journal.Resume()
		amqptest.Want[*frames.Transfer](p)
	})
}

func TestRAD5_WhatIsRemovedIsWrittenBeforeTheDetach(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 10, deleting)
		b.journal.Pause()
		p.Send(0, amqptest.Flow(0, 0, 100))
		time.Sleep(time.Second)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.WantSilence(time.Second)
		b.journal.Resume()
		wantTransfers(p, 10)
		if d := amqptest.Want[*frames.Detach](p); d.Error != nil || !d.Closed {
			t.Errorf("detach %+v", d)
		}
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
	})
}

func TestRAD5_WhatCannotBeWrittenReturns(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.windowed(t, 10, 100)
		attach(p, 0, 0, 100, deleting)
		b.journal.Pause()
		p.Send(0, amqptest.Flow(0, 0, 100))
		time.Sleep(time.Second)
		p.Send(0, &frames.Flow{NextIncomingID: 1, HasNextIncomingID: true, IncomingWindow: 3})
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		time.Sleep(time.Second)
		b.journal.Resume()
		wantTransfers(p, 3)
		amqptest.Want[*frames.Detach](p)
		time.Sleep(time.Second)
		b.wantReceivable(t, "q", 7)
	})
}

func TestRAD5_NothingIsRemovedWithoutWindow(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.windowed(t, 10, 4)
		attach(p, 0, 100, 4, deleting)
		wantTransfers(p, 4)
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 6)
	})
}

func TestRAD5_LinksOfOneSessionShareItsWindow(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.windowed(t, 10, 4)
		b.journal.Pause() // no delivery can be written
		for handle := range uint32(2) {
			attach(p, handle, 100, 4, deleting)
		}
		time.Sleep(time.Second)
		b.journal.Resume()
		wantTransfers(p, 4)
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 6)
	})
}

func TestRAD5_WindowThatALinkGivesBackIsForTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.windowed(t, 10, 4)
		b.journal.Pause()
		attach(p, 0, 100, 4, deleting)
		time.Sleep(time.Second)
		attach(p, 1, 100, 4)
		time.Sleep(time.Second)
		b.journal.FailNext(1, errors.New("disk on fire")) // the removal of what the first link took
		grant(p, 0, 0, 4)                                 // it wants no more meanwhile
		time.Sleep(time.Second)
		b.journal.Resume()
		for range 4 {
			if d := amqptest.Want[*frames.Transfer](p); d.Handle != 1 {
				t.Errorf("handle %d", d.Handle)
			}
		}
	})
}

func TestRAD_LostConnectionGivesBackWhatWasNotWritten(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 10, deleting)
		b.journal.Pause()
		p.Send(0, amqptest.Flow(0, 0, 100))
		time.Sleep(time.Second)
		p.Close()
		time.Sleep(time.Second)
		b.journal.Resume()
		time.Sleep(time.Second)
		b.wantReceivable(t, "q", 10)
	})
}

func TestRAD1_FailedRemovalIsNotDelivered(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 1, deleting)
		b.journal.FailNext(1, errors.New("disk on fire"))
		p.Send(0, amqptest.Flow(0, 0, 1))
		// The message is available again, and so is the credit; the second attempt succeeds, a second later.
		amqptest.Want[*frames.Transfer](p.Within(2 * time.Second))
		p.WantSilence(time.Second)
		q, _ := b.ns.Entity("q")
		if n := q.Counts().Active; n != 0 {
			t.Errorf("%d messages are left", n)
		}
	})
}

func TestRAD5_DetachWaitsForASlowReader(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		const n = 60 // of 60 KB
		s := b.client(t)
		body := strings.Repeat("x", 60_000)
		for range n / 10 {
			b.send(t, s, "q", body, body, body, body, body, body, body, body, body, body)
		}
		p := b.receiving(t, 0, deleting)
		p.Send(0, amqptest.Flow(0, 0, 1000))
		time.Sleep(time.Second)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		time.Sleep(time.Second)
		got := 0
		for detached := false; !detached; {
			if _, detached = p.Next().Body.(*frames.Detach); !detached {
				got++
			}
		}
		time.Sleep(time.Second)
		q, _ := b.ns.Entity("q")
		if left := int(q.Counts().Active); got+left != n || got == 0 {
			t.Errorf("%d were delivered and %d are left, of %d", got, left, n)
		}
	})
}
