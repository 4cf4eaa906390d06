package frames

import "minibus/internal/amqp"

// Open begins a connection [AMQP 2.7.1]. An empty Hostname is written as null.
type Open struct {
	ContainerID         string
	Hostname            string
	MaxFrameSize        uint32 // bytes, header included
	HasMaxFrameSize     bool
	ChannelMax          uint16
	HasChannelMax       bool
	IdleTimeout         uint32 // milliseconds
	HasIdleTimeout      bool
	OutgoingLocales     []amqp.Symbol
	IncomingLocales     []amqp.Symbol
	OfferedCapabilities []amqp.Symbol
	DesiredCapabilities []amqp.Symbol
	Properties          amqp.Map
}

// Name implements [Performative].
func (o *Open) Name() string { return "open" }

// AppendTo implements [Performative].
func (o *Open) AppendTo(dst []byte) []byte { return appendComposite(dst, codeOpen, o) }

func (o *Open) fields(c *codec) {
	c.text("container-id", &o.ContainerID, nil)
	hasHostname := o.Hostname != ""
	c.text("hostname", &o.Hostname, &hasHostname)
	c.uint32("max-frame-size", &o.MaxFrameSize, &o.HasMaxFrameSize)
	c.uint16("channel-max", &o.ChannelMax, &o.HasChannelMax)
	c.uint32("idle-time-out", &o.IdleTimeout, &o.HasIdleTimeout)
	c.symbols("", &o.OutgoingLocales)
	c.symbols("", &o.IncomingLocales)
	c.symbols("offered-capabilities", &o.OfferedCapabilities)
	c.symbols("desired-capabilities", &o.DesiredCapabilities)
	c.mapping("properties", &o.Properties)
}
