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
func (a *Attach) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeAttach)
	dst = amqp.AppendString(dst, a.LinkName)
	dst = amqp.AppendUint(dst, a.Handle)
	dst = amqp.AppendBool(dst, bool(a.Role))
	dst = appendUbyte(dst, a.SndSettleMode, a.HasSndSettleMode)
	dst = appendUbyte(dst, a.RcvSettleMode, a.HasRcvSettleMode)
	dst = appendSource(dst, a.Source)
	if a.Coordinator != nil {
		dst = a.Coordinator.appendTo(dst)
	} else {
		dst = appendTarget(dst, a.Target)
	}
	dst = appendMap(dst, a.Unsettled)
	dst = appendFlag(dst, a.IncompleteUnsettled)
	dst = appendUint(dst, a.InitialDeliveryCount, a.HasInitialDeliveryCount)
	dst = appendUlong(dst, a.MaxMessageSize, a.HasMaxMessageSize)
	dst = appendSymbols(dst, a.OfferedCapabilities)
	dst = appendSymbols(dst, a.DesiredCapabilities)
	dst = appendMap(dst, a.Properties)
	return amqp.EndList(dst, m, 14)
}

func (a *Attach) decode(f *fields) error {
	var ok, role bool
	a.LinkName, ok = f.text()
	f.must(ok, "name")
	a.Handle, ok = f.uint32()
	f.must(ok, "handle")
	role, ok = f.bool()
	f.must(ok, "role")
	a.Role = Role(role)
	a.SndSettleMode, a.HasSndSettleMode = f.uint8()
	a.RcvSettleMode, a.HasRcvSettleMode = f.uint8()
	a.Source = f.source()
	a.decodeTarget(f)
	a.Unsettled = f.mapping()
	a.IncompleteUnsettled = f.flag()
	a.InitialDeliveryCount, a.HasInitialDeliveryCount = f.uint32()
	a.MaxMessageSize, a.HasMaxMessageSize = f.uint64()
	a.OfferedCapabilities = f.symbols()
	a.DesiredCapabilities = f.symbols()
	a.Properties = f.mapping()
	return f.done()
}

func (a *Attach) decodeTarget(f *fields) {
	code, r, ok := f.composite()
	if !ok {
		return
	}
	switch code {
	case codeTarget:
		a.Target = new(Target)
		f.keep(true, a.Target.decode(&r))
	case codeCoordinator:
		a.Coordinator = new(Coordinator)
		f.keep(true, a.Coordinator.decode(&r))
	default:
		f.fail("target of unknown kind", amqp.ErrWrongType)
	}
}
