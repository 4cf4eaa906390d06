package frames

import "minibus/internal/amqp"

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
