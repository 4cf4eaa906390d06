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

// Role is the end of a link that a peer has [AMQP 2.8.1].
type Role bool

// The two roles.
const (
	RoleSender   Role = false
	RoleReceiver Role = true
)

// String returns the standard's name.
func (r Role) String() string {
	if r == RoleReceiver {
		return "receiver"
	}
	return "sender"
}

// Attach begins a link [AMQP 2.7.3]. Its target is in Target, or in Coordinator for a link to the transaction
// coordinator [AMQP 4.5.1]; if both are nil the target is null. At most one may be set.
type Attach struct {
	LinkName                string // the field "name"; empty is legal
	Handle                  uint32
	Role                    Role
	SndSettleMode           uint8 // 0 unsettled, 1 settled, 2 mixed [AMQP 2.8.2]
	HasSndSettleMode        bool
	RcvSettleMode           uint8 // 0 first, 1 second [AMQP 2.8.3]
	HasRcvSettleMode        bool
	Source                  *Source
	Target                  *Target
	Coordinator             *Coordinator
	Unsettled               amqp.Map
	IncompleteUnsettled     bool
	InitialDeliveryCount    uint32
	HasInitialDeliveryCount bool
	MaxMessageSize          uint64 // bytes
	HasMaxMessageSize       bool
	OfferedCapabilities     []amqp.Symbol
	DesiredCapabilities     []amqp.Symbol
	Properties              amqp.Map
}

// Name implements [Performative].
func (a *Attach) Name() string { return "attach" }

// AppendTo implements [Performative].
func (a *Attach) AppendTo(dst []byte) []byte { return appendComposite(dst, codeAttach, a) }

func (a *Attach) fields(c *codec) {
	c.text("name", &a.LinkName, nil)
	c.uint32("handle", &a.Handle, nil)
	c.role(&a.Role)
	c.uint8("snd-settle-mode", &a.SndSettleMode, &a.HasSndSettleMode)
	c.uint8("rcv-settle-mode", &a.RcvSettleMode, &a.HasRcvSettleMode)
	c.source(&a.Source)
	c.target(&a.Target, &a.Coordinator)
	c.mapping("", &a.Unsettled)
	c.mark("", &a.IncompleteUnsettled)
	c.uint32("initial-delivery-count", &a.InitialDeliveryCount, &a.HasInitialDeliveryCount)
	c.uint64("max-message-size", &a.MaxMessageSize, &a.HasMaxMessageSize)
	c.symbols("offered-capabilities", &a.OfferedCapabilities)
	c.symbols("desired-capabilities", &a.DesiredCapabilities)
	c.mapping("properties", &a.Properties)
}

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

// Detach ends a link, or with Closed false only suspends it [AMQP 2.7.7].
type Detach struct {
	Handle uint32
	Closed bool
	Error  *Error
}

// Name implements [Performative].
func (d *Detach) Name() string { return "detach" }

// AppendTo implements [Performative].
func (d *Detach) AppendTo(dst []byte) []byte { return appendComposite(dst, codeDetach, d) }

func (d *Detach) fields(c *codec) {
	has := true // closed is always written, but may be missing when read
	c.uint32("handle", &d.Handle, nil)
	c.bool("closed", &d.Closed, &has)
	c.error(&d.Error)
}

// End ends the session of its frame's channel [AMQP 2.7.8].
type End struct {
	Error *Error
}

// Name implements [Performative].
func (e *End) Name() string { return "end" }

// AppendTo implements [Performative].
func (e *End) AppendTo(dst []byte) []byte { return appendComposite(dst, codeEnd, e) }

func (e *End) fields(c *codec) { c.error(&e.Error) }

// Close ends the connection [AMQP 2.7.9].
type Close struct {
	Error *Error
}

// Name implements [Performative].
func (e *Close) Name() string { return "close" }

// AppendTo implements [Performative].
func (e *Close) AppendTo(dst []byte) []byte { return appendComposite(dst, codeClose, e) }

func (e *Close) fields(c *codec) { c.error(&e.Error) }

// Error is the standard's error composite [AMQP 2.8.14]. Its condition is mandatory, but may be missing when read: a
// bad error report is no reason for another error.
type Error struct {
	Condition   amqp.Symbol
	Description string
	Info        amqp.Map
}

// Error implements error, so that a peer's report can be wrapped and logged.
func (e *Error) Error() string {
	if e.Description == "" {
		return string(e.Condition)
	}
	return string(e.Condition) + ": " + e.Description
}

// fields implements [composite]. The description is never written as null, because clients index the fields.
func (e *Error) fields(c *codec) {
	has := true
	c.symbol("", &e.Condition, &has)
	c.text("", &e.Description, &has)
	c.mapping("", &e.Info)
}
