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
	dst, m := begin(dst, codeFlow)
	dst = appendUint(dst, f.NextIncomingID, f.HasNextIncomingID)
	dst = amqp.AppendUint(dst, f.IncomingWindow)
	dst = amqp.AppendUint(dst, f.NextOutgoingID)
	dst = amqp.AppendUint(dst, f.OutgoingWindow)
	dst = appendUint(dst, f.Handle, f.HasHandle)
	dst = appendUint(dst, f.DeliveryCount, f.HasDeliveryCount)
	dst = appendUint(dst, f.LinkCredit, f.HasLinkCredit)
	dst = appendUint(dst, f.Available, f.HasAvailable || f.HasHandle)
	dst = amqp.AppendBool(dst, f.Drain)
	dst = amqp.AppendBool(dst, f.Echo)
	dst = appendMap(dst, f.Properties)
	return amqp.EndList(dst, m, 11)
}

func (f *Flow) decode(in *fields) error {
	var ok bool
	f.NextIncomingID, f.HasNextIncomingID = in.uint32()
	f.IncomingWindow, ok = in.uint32()
	in.must(ok, "incoming-window")
	f.NextOutgoingID, ok = in.uint32()
	in.must(ok, "next-outgoing-id")
	f.OutgoingWindow, ok = in.uint32()
	in.must(ok, "outgoing-window")
	f.Handle, f.HasHandle = in.uint32()
	f.DeliveryCount, f.HasDeliveryCount = in.uint32()
	f.LinkCredit, f.HasLinkCredit = in.uint32()
	f.Available, f.HasAvailable = in.uint32()
	f.Drain = in.flag()
	f.Echo = in.flag()
	f.Properties = in.mapping()
	return in.done()
}
