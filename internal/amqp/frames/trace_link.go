package frames

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"minibus/internal/amqp"
)

func (t *tracer) attach(a *Attach) {
	t.text("name", a.LinkName)
	t.put("handle", a.Handle)
	t.put("role", a.Role)
	t.opt("snd-settle-mode", a.SndSettleMode, a.HasSndSettleMode)
	t.opt("rcv-settle-mode", a.RcvSettleMode, a.HasRcvSettleMode)
	t.source(a.Source)
	if a.Coordinator != nil {
		t.put("target", "coordinator")
		t.symbols("capabilities", a.Coordinator.Capabilities)
	} else {
		t.target(a.Target)
	}
	t.opt("initial-delivery-count", a.InitialDeliveryCount, a.HasInitialDeliveryCount)
	t.opt("max-message-size", a.MaxMessageSize, a.HasMaxMessageSize)
	t.symbols("offered-capabilities", a.OfferedCapabilities)
	t.symbols("desired-capabilities", a.DesiredCapabilities)
	t.keys("properties", a.Properties)
}

// source shows a source, target a target. A null matters, because it means a refused link.
func (t *tracer) source(s *Source) {
	if s == nil {
		t.put("source", "null")
		return
	}
	fmt.Fprintf(t, " source=%q", s.Address)
	t.keeping(s.Durable, s.ExpiryPolicy, s.Timeout, s.Dynamic)
	t.symbol("distribution-mode", s.DistributionMode)
	t.filters(s.Filter)
	t.symbols("capabilities", s.Capabilities)
}

func (t *tracer) target(x *Target) {
	if x == nil {
		t.put("target", "null")
		return
	}
	fmt.Fprintf(t, " target=%q", x.Address)
	t.keeping(x.Durable, x.ExpiryPolicy, x.Timeout, x.Dynamic)
	t.symbols("capabilities", x.Capabilities)
}

// keeping shows the fields about a terminus's lifetime, if they are unusual.
func (t *tracer) keeping(durable uint32, policy amqp.Symbol, timeout uint32, dynamic bool) {
	switch durable {
	case 0:
	case 1:
		t.put("durable", "configuration")
	case 2:
		t.put("durable", "unsettled-state")
	default:
		t.put("durable", durable)
	}
	t.symbol("expiry-policy", policy)
	t.opt("timeout", timeout, timeout != 0)
	t.flag("dynamic", dynamic)
}

// filters shows the names and types of filters, without their values.
func (t *tracer) filters(m amqp.Map) {
	if len(m) == 0 {
		return
	}
	all := make([]string, len(m))
	for i, p := range m {
		name, _ := amqp.AsString(p.Key)
		all[i] = strconv.Quote(name)
		d, _ := p.Value.(amqp.Described)
		switch kind := d.Descriptor.(type) {
		case amqp.Symbol:
			all[i] += " (" + plain(kind) + ")"
		case uint64:
			all[i] += fmt.Sprintf(" (%#x)", kind)
		}
	}
	fmt.Fprintf(t, " filter=[%s]", strings.Join(all, " "))
}

func (t *tracer) symbol(name string, s amqp.Symbol) {
	if s != "" {
		t.put(name, plain(s))
	}
}

func (t *tracer) symbols(name string, list []amqp.Symbol) {
	if len(list) == 0 {
		return
	}
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = plain(s)
	}
	t.put(name, all)
}

// plain returns a symbol as it is, or quoted if it has characters that could break the line.
func plain(s amqp.Symbol) string {
	if quoted := strconv.Quote(string(s)); quoted[1:len(quoted)-1] != string(s) {
		return quoted
	}
	return string(s)
}

func (t *tracer) flow(f *Flow) {
	t.opt("next-incoming-id", f.NextIncomingID, f.HasNextIncomingID)
	t.put("incoming-window", f.IncomingWindow)
	t.put("next-outgoing-id", f.NextOutgoingID)
	t.put("outgoing-window", f.OutgoingWindow)
	t.opt("handle", f.Handle, f.HasHandle)
	t.opt("delivery-count", f.DeliveryCount, f.HasDeliveryCount)
	t.opt("link-credit", f.LinkCredit, f.HasLinkCredit)
	t.opt("available", f.Available, f.HasAvailable)
	t.flag("drain", f.Drain)
	t.flag("echo", f.Echo)
}

func (t *tracer) transfer(x *Transfer) {
	t.put("handle", x.Handle)
	t.opt("delivery-id", x.DeliveryID, x.HasDeliveryID)
	t.opt("delivery-tag", hex.EncodeToString(x.DeliveryTag), x.DeliveryTag != nil)
	t.opt("message-format", x.MessageFormat, x.HasMessageFormat)
	t.opt("settled", x.Settled, x.HasSettled || x.HasDeliveryID) // the first frame of a delivery decides it, even by leaving it out
	t.flag("more", x.More)
	t.state(x.State)
	t.flag("resume", x.Resume)
	t.flag("aborted", x.Aborted)
}

func (t *tracer) disposition(d *Disposition) {
	t.put("role", d.Role)
	t.put("first", d.First)
	t.opt("last", d.Last, d.HasLast)
	t.put("settled", d.Settled)
	t.state(d.State)
}

func (t *tracer) sasl(p Performative) {
	switch p := p.(type) {
	case *SASLMechanisms:
		t.put("mechanisms", p.Mechanisms)
	case *SASLInit:
		t.text("mechanism", string(p.Mechanism))
		t.text("hostname", p.Hostname)
		t.put("initial-response-bytes", len(p.InitialResponse))
	case *SASLChallenge:
		t.put("challenge-bytes", len(p.Challenge))
	case *SASLResponse:
		t.put("response-bytes", len(p.Response))
	case *SASLOutcome:
		t.put("code", p.Code)
	}
}
