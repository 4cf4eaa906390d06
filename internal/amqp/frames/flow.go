package frames

import "minibus/internal/amqp"

// Flow updates the state of a session and, with a handle, of a link [AMQP 2.7.4].
type Flow struct {
	NextIncomingID    uint32
	HasNextIncomingID bool
	IncomingWindow    uint32 // transfer frames
	NextOutgoingID    uint32
	OutgoingWindow    uint32 // transfer frames
	Handle            uint32
	HasHandle         bool
	DeliveryCount     uint32
	HasDeliveryCount  bool
	LinkCredit        uint32 // deliveries
	HasLinkCredit     bool
	Available         uint32 // deliveries; written whenever there is a handle
	HasAvailable      bool
	Drain             bool
	Echo              bool
	Properties        amqp.Map
}

// Name implements [Performative].
func (f *Flow) Name() string { return "flow" }

// AppendTo implements [Performative].
func (f *Flow) AppendTo(dst []byte) []byte {
	c := writer(dst, codeFlow)
	f.fields(&c)
	return amqp.EndList(c.dst, c.list, c.count)
}

func (f *Flow) fields(c *codec) {
	c.uint32("next-incoming-id", &f.NextIncomingID, &f.HasNextIncomingID)
	c.uint32("incoming-window", &f.IncomingWindow, nil)
	c.uint32("next-outgoing-id", &f.NextOutgoingID, nil)
	c.uint32("outgoing-window", &f.OutgoingWindow, nil)
	c.uint32("handle", &f.Handle, &f.HasHandle)
	c.uint32("delivery-count", &f.DeliveryCount, &f.HasDeliveryCount)
	c.uint32("link-credit", &f.LinkCredit, &f.HasLinkCredit)
	if c.mode == writing && f.HasHandle {
		c.uint32("available", &f.Available, nil)
	} else {
		c.uint32("available", &f.Available, &f.HasAvailable)
	}
	c.flag("drain", &f.Drain)
	c.flag("echo", &f.Echo)
	c.mapping("", &f.Properties)
}
