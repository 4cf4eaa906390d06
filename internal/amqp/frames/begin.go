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
func (b *Begin) AppendTo(dst []byte) []byte { return appendComposite(dst, codeBegin, b) }

func (b *Begin) fields(c *codec) {
	c.uint16("remote-channel", &b.RemoteChannel, &b.HasRemoteChannel)
	c.uint32("next-outgoing-id", &b.NextOutgoingID, nil)
	c.uint32("incoming-window", &b.IncomingWindow, nil)
	c.uint32("outgoing-window", &b.OutgoingWindow, nil)
	c.uint32("handle-max", &b.HandleMax, &b.HasHandleMax)
	c.symbols("", &b.OfferedCapabilities)
	c.symbols("", &b.DesiredCapabilities)
	c.mapping("", &b.Properties)
}
