package amqptest

import (
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// Open exchanges protocol headers, without SASL, and open frames.
func (p *Peer) Open() *frames.Open {
	p.t.Helper()
	p.Raw(HeaderAMQP)
	p.WantHeader(HeaderAMQP)
	p.Send(0, &frames.Open{ContainerID: "peer", MaxFrameSize: p.MaxFrameSize, HasMaxFrameSize: true})
	return Want[*frames.Open](p)
}

// Begin opens a session with large windows.
func (p *Peer) Begin(channel uint16) *frames.Begin {
	p.t.Helper()
	return p.BeginWindow(channel, 1<<20)
}

// BeginWindow opens a session with the given incoming-window.
func (p *Peer) BeginWindow(channel uint16, window uint32) *frames.Begin {
	p.t.Helper()
	p.Send(channel, &frames.Begin{IncomingWindow: window, OutgoingWindow: 1 << 20, HandleMax: 1 << 20,
		HasHandleMax: true})
	return Want[*frames.Begin](p)
}

// SenderAttach returns the attach of a client that sends to an address.
func SenderAttach(handle uint32, address string) *frames.Attach {
	return &frames.Attach{
		LinkName: "sender to " + address, Handle: handle, Role: frames.RoleSender, HasInitialDeliveryCount: true,
		Source: &frames.Source{}, Target: &frames.Target{Address: address, HasAddress: true},
	}
}

// ReceiverAttach returns the attach of a client that receives from an address in peek-lock mode.
func ReceiverAttach(handle uint32, address string) *frames.Attach {
	return &frames.Attach{
		LinkName: "receiver from " + address, Handle: handle, Role: frames.RoleReceiver,
		RcvSettleMode: 1, HasRcvSettleMode: true,
		Source: &frames.Source{Address: address, HasAddress: true}, Target: &frames.Target{},
	}
}

// AttachSender attaches a sender and returns the server's attach and the flow that grants credit.
func (p *Peer) AttachSender(channel uint16, handle uint32, address string) (*frames.Attach, *frames.Flow) {
	p.t.Helper()
	p.Send(channel, SenderAttach(handle, address))
	a := Want[*frames.Attach](p)
	if a.Target == nil {
		p.t.Fatalf("sender to %s refused: %v", address, Want[*frames.Detach](p).Error)
	}
	return a, Want[*frames.Flow](p)
}

// AttachReceiver attaches a receiver and returns the server's attach. The link has no credit yet.
func (p *Peer) AttachReceiver(channel uint16, attach *frames.Attach) *frames.Attach {
	p.t.Helper()
	p.Send(channel, attach)
	a := Want[*frames.Attach](p)
	if a.Source == nil {
		p.t.Fatalf("receiver from %s refused: %v", attach.Source.Address, Want[*frames.Detach](p).Error)
	}
	return a
}

// Flow returns a link flow of a receiver that has seen count deliveries.
func Flow(handle, count, credit uint32) *frames.Flow {
	return &frames.Flow{
		NextIncomingID: 1, HasNextIncomingID: true,
		IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20,
		Handle: handle, HasHandle: true,
		DeliveryCount: count, HasDeliveryCount: true,
		LinkCredit: credit, HasLinkCredit: true,
	}
}

// Transfer returns the first or only frame of a delivery.
func Transfer(handle, id uint32) *frames.Transfer {
	return &frames.Transfer{
		Handle: handle, DeliveryID: id, HasDeliveryID: true, DeliveryTag: []byte{byte(id)}, HasMessageFormat: true,
	}
}

// Message returns an encoded message with one data section.
func Message(body string) []byte {
	return amqp.AppendBinary(amqp.AppendDescriptor(nil, 0x75), []byte(body))
}
