package frames

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"minibus/internal/amqp"
)

// Trace returns one readable line about a frame: direction, channel, performative and the fields that matter, with
// the standard's names. A nil performative is a heartbeat. Of message bodies and SASL responses it shows only the size, and
// of properties and filters only the keys, so that a trace can be passed on.
func Trace(dir string, channel uint16, p Performative, payload int) string {
	var t tracer
	t.WriteString(dir)
	t.WriteString(" ch=")
	t.WriteString(strconv.Itoa(int(channel)))
	if p == nil {
		t.WriteString(" heartbeat")
		return t.String()
	}
	t.WriteByte(' ')
	t.WriteString(p.Name())
	t.performative(p)
	if payload > 0 {
		t.put("payload", payload)
	}
	return t.String()
}

type tracer struct{ strings.Builder }

func (t *tracer) put(name string, v any) { fmt.Fprintf(t, " %s=%v", name, v) }

func (t *tracer) opt(name string, v any, has bool) {
	if has {
		t.put(name, v)
	}
}

func (t *tracer) text(name, v string) {
	if v != "" {
		fmt.Fprintf(t, " %s=%q", name, v)
	}
}

func (t *tracer) flag(name string, v bool) {
	if v {
		t.WriteByte(' ')
		t.WriteString(name)
	}
}

// keys shows the keys of a map without its values, which may be secret.
func (t *tracer) keys(name string, m amqp.Map) {
	if len(m) == 0 {
		return
	}
	names := make([]string, len(m))
	for i, p := range m {
		names[i], _ = amqp.AsString(p.Key)
	}
	fmt.Fprintf(t, " %s=%q", name, names)
}

func (t *tracer) fault(e *Error) {
	if e != nil {
		fmt.Fprintf(t, " error=%q", e.Error())
	}
}

func (t *tracer) state(s DeliveryState) {
	if s == nil {
		return
	}
	t.put("state", s.Name())
	switch s := s.(type) {
	case *Rejected:
		t.fault(s.Error)
	case *Modified:
		t.flag("delivery-failed", s.DeliveryFailed)
		t.flag("undeliverable-here", s.UndeliverableHere)
		t.keys("message-annotations", s.MessageAnnotations)
	case *Declared:
		t.put("txn-id", hex.EncodeToString(s.TxnID))
	case *TransactionalState:
		t.put("txn-id", hex.EncodeToString(s.TxnID))
		t.state(s.Outcome)
	}
}

func (t *tracer) performative(p Performative) {
	switch p := p.(type) {
	case *Open:
		t.text("container-id", p.ContainerID)
		t.text("hostname", p.Hostname)
		t.opt("max-frame-size", p.MaxFrameSize, p.HasMaxFrameSize)
		t.opt("channel-max", p.ChannelMax, p.HasChannelMax)
		t.opt("idle-time-out", p.IdleTimeout, p.HasIdleTimeout)
		t.symbols("offered-capabilities", p.OfferedCapabilities)
		t.symbols("desired-capabilities", p.DesiredCapabilities)
		t.keys("properties", p.Properties)
	case *Begin:
		t.opt("remote-channel", p.RemoteChannel, p.HasRemoteChannel)
		t.put("next-outgoing-id", p.NextOutgoingID)
		t.put("incoming-window", p.IncomingWindow)
		t.put("outgoing-window", p.OutgoingWindow)
		t.opt("handle-max", p.HandleMax, p.HasHandleMax)
	case *Attach:
		t.attach(p)
	case *Flow:
		t.flow(p)
	case *Transfer:
		t.transfer(p)
	case *Disposition:
		t.disposition(p)
	case *Detach:
		t.put("handle", p.Handle)
		t.put("closed", p.Closed)
		t.fault(p.Error)
	case *End:
		t.fault(p.Error)
	case *Close:
		t.fault(p.Error)
	default:
		t.sasl(p)
	}
}
