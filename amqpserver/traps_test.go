package amqpserver_test

import (
	"testing"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// Traps that clients set and no rule names. compat-tests/cases/traps.txt lists all traps with their tests.

// Python's sender says link credit of its own in its flows, although credit is the receiver's to give.
func TestTrap_CreditInTheFlowOfASenderIsIgnored(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		for id, credit := range []uint32{0, 1, 10_000, 1<<32 - 1} {
			p.Send(0, &frames.Flow{HasHandle: true, HasDeliveryCount: true, DeliveryCount: uint32(id),
				HasLinkCredit: true, LinkCredit: credit})
			p.Send(0, amqptest.Transfer(0, uint32(id)), amqptest.Message("x")...)
			if d := amqptest.Want[*frames.Disposition](p); d.First != uint32(id) || d.State == nil {
				t.Errorf("after credit %d the answer is %+v", credit, d)
			}
		}
	})
}
