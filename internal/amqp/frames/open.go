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
func (o *Open) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeOpen)
	dst = amqp.AppendString(dst, o.ContainerID)
	dst = appendString(dst, o.Hostname, o.Hostname != "")
	dst = appendUint(dst, o.MaxFrameSize, o.HasMaxFrameSize)
	dst = appendUshort(dst, o.ChannelMax, o.HasChannelMax)
	dst = appendUint(dst, o.IdleTimeout, o.HasIdleTimeout)
	dst = appendSymbols(dst, o.OutgoingLocales)
	dst = appendSymbols(dst, o.IncomingLocales)
	dst = appendSymbols(dst, o.OfferedCapabilities)
	dst = appendSymbols(dst, o.DesiredCapabilities)
	dst = appendMap(dst, o.Properties)
	return amqp.EndList(dst, m, 10)
}

func (o *Open) decode(f *fields) error {
	var ok bool
	o.ContainerID, ok = f.text()
	f.must(ok, "container-id")
	o.Hostname, _ = f.text()
	o.MaxFrameSize, o.HasMaxFrameSize = f.uint32()
	o.ChannelMax, o.HasChannelMax = f.uint16()
	o.IdleTimeout, o.HasIdleTimeout = f.uint32()
	o.OutgoingLocales = f.symbols()
	o.IncomingLocales = f.symbols()
	o.OfferedCapabilities = f.symbols()
	o.DesiredCapabilities = f.symbols()
	o.Properties = f.mapping()
	return f.done()
}
