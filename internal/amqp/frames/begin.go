package frames

import "minibus/internal/amqp"

// Begin begins a session on the channel of its frame [AMQP 2.7.2].
type Begin struct {
	RemoteChannel       uint16 // the channel of the begin that this one answers
	HasRemoteChannel    bool
	NextOutgoingID      uint32
	IncomingWindow      uint32 // transfer frames
	OutgoingWindow      uint32 // transfer frames
	HandleMax           uint32
	HasHandleMax        bool
	OfferedCapabilities []amqp.Symbol
	DesiredCapabilities []amqp.Symbol
	Properties          amqp.Map
}

// Name implements [Performative].
func (b *Begin) Name() string { return "begin" }

// AppendTo implements [Performative].
func (b *Begin) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeBegin)
	dst = appendUshort(dst, b.RemoteChannel, b.HasRemoteChannel)
	dst = amqp.AppendUint(dst, b.NextOutgoingID)
	dst = amqp.AppendUint(dst, b.IncomingWindow)
	dst = amqp.AppendUint(dst, b.OutgoingWindow)
	dst = appendUint(dst, b.HandleMax, b.HasHandleMax)
	dst = appendSymbols(dst, b.OfferedCapabilities)
	dst = appendSymbols(dst, b.DesiredCapabilities)
	dst = appendMap(dst, b.Properties)
	return amqp.EndList(dst, m, 8)
}

func (b *Begin) decode(f *fields) error {
	var ok bool
	b.RemoteChannel, b.HasRemoteChannel = f.uint16()
	b.NextOutgoingID, ok = f.uint32()
	f.must(ok, "next-outgoing-id")
	b.IncomingWindow, ok = f.uint32()
	f.must(ok, "incoming-window")
	b.OutgoingWindow, ok = f.uint32()
	f.must(ok, "outgoing-window")
	b.HandleMax, b.HasHandleMax = f.uint32()
	b.OfferedCapabilities = f.symbols()
	b.DesiredCapabilities = f.symbols()
	b.Properties = f.mapping()
	return f.done()
}
