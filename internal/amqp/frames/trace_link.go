package frames

import (
	"encoding/hex"
	"fmt"

	"minibus/internal/amqp"
)

func (t *tracer) attach(a *Attach) {
	t.text("name", a.LinkName)
	t.put("handle", a.Handle)
	t.put("role", a.Role)
	t.opt("snd-settle-mode", a.SndSettleMode, a.HasSndSettleMode)
	t.opt("rcv-settle-mode", a.RcvSettleMode, a.HasRcvSettleMode)
	t.terminus("source", a.Source != nil, func() (string, amqp.Map) { return a.Source.Address, a.Source.Filter })
	if a.Coordinator != nil {
		t.put("target", "coordinator")
	} else {
		t.terminus("target", a.Target != nil, func() (string, amqp.Map) { return a.Target.Address, nil })
	}
	t.opt("initial-delivery-count", a.InitialDeliveryCount, a.HasInitialDeliveryCount)
	t.opt("max-message-size", a.MaxMessageSize, a.HasMaxMessageSize)
	t.keys("properties", a.Properties)
}

// terminus shows a source or target; one that is null matters, because it means a refused link.
func (t *tracer) terminus(name string, present bool, parts func() (address string, filter amqp.Map)) {
	if !present {
		t.put(name, "null")
		return
	}
	address, filter := parts()
	fmt.Fprintf(t, " %s=%q", name, address)
	t.keys("filter", filter)
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
	t.opt("settled", x.Settled, x.HasSettled)
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
