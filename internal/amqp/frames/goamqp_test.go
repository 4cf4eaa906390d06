package frames_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// A fakePeer answers a real client as far as it takes to see every performative go both ways.
type fakePeer struct {
	conn net.Conn
	r    *bufio.Reader
	seen map[string]int
	role frames.Role // of the last link
}

// TestGoAMQP_UnderstandsWhatWeWriteAndWritesWhatWeRead drives the client that azservicebus uses through a connection whose
// other end knows nothing but this package.
func TestGoAMQP_UnderstandsWhatWeWriteAndWritesWhatWeRead(t *testing.T) {
	client, server := net.Pipe()
	p := &fakePeer{conn: server, r: bufio.NewReader(server), seen: map[string]int{}}
	done := make(chan error, 1)
	go func() {
		done <- p.serve()
		_ = server.Close() // a peer that failed must not leave the client waiting
	}()

	driveClient(t, client)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sasl-init", "open", "begin", "attach", "flow", "transfer", "disposition", "detach", "end", "close"} {
		if p.seen[name] == 0 {
			t.Errorf("the client never sent %s", name)
		}
	}
}

func driveClient(t *testing.T, client net.Conn) {
	ctx := context.Background()
	conn, err := goamqp.NewConn(ctx, client, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous(), ContainerID: "client"})
	must(t, err)
	session, err := conn.NewSession(ctx, nil)
	must(t, err)
	sender, err := session.NewSender(ctx, "queue", nil)
	must(t, err)
	must(t, sender.Send(ctx, goamqp.NewMessage([]byte("there")), nil))
	must(t, sender.Close(ctx))
	mode := goamqp.ReceiverSettleModeSecond
	receiver, err := session.NewReceiver(ctx, "queue", &goamqp.ReceiverOptions{SettlementMode: &mode})
	must(t, err)
	got, err := receiver.Receive(ctx, nil)
	must(t, err)
	if string(got.GetData()) != "back" || string(got.DeliveryTag) != "tag" {
		t.Errorf("received %q with tag %q", got.GetData(), got.DeliveryTag)
	}
	must(t, receiver.AcceptMessage(ctx, got))
	must(t, receiver.Close(ctx))
	must(t, session.Close(ctx))
	_ = conn.Close() // it hangs up without reading the answer, and knows a socket's error for that but not a pipe's
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *fakePeer) serve() error {
	if err := p.protocolHeader(3); err != nil {
		return err
	}
	if err := p.write(frames.AppendSASLFrame(nil, &frames.SASLMechanisms{Mechanisms: []amqp.Symbol{"MSSBCBS", "ANONYMOUS"}})); err != nil {
		return err
	}
	for p.seen["close"] == 0 {
		channel, body, err := p.frame()
		if err != nil {
			return err
		}
		in, payload, err := frames.DecodeBody(body)
		if err != nil {
			return err
		}
		if in == nil {
			continue
		}
		p.seen[in.Name()]++
		if err := p.answer(channel, in, payload); err != nil {
			return err
		}
	}
	return nil
}

// protocolHeader expects a protocol header and echoes it [AMQP 2.2].
func (p *fakePeer) protocolHeader(id byte) error {
	var h [8]byte
	if _, err := io.ReadFull(p.r, h[:]); err != nil {
		return err
	}
	if want := [8]byte{'A', 'M', 'Q', 'P', id, 1, 0, 0}; h != want {
		return fmt.Errorf("protocol header % x, want % x", h, want)
	}
	return p.write(h[:])
}

func (p *fakePeer) frame() (uint16, []byte, error) {
	b := make([]byte, frames.HeaderSize)
	if _, err := io.ReadFull(p.r, b); err != nil {
		return 0, nil, err
	}
	h, err := frames.ParseHeader(b)
	if err != nil {
		return 0, nil, err
	}
	b = make([]byte, int(h.Size)-frames.HeaderSize)
	_, err = io.ReadFull(p.r, b)
	return h.Channel, b[h.BodyStart()-frames.HeaderSize:], err
}

func (p *fakePeer) write(b []byte) error {
	_, err := p.conn.Write(b)
	return err
}

func (p *fakePeer) send(channel uint16, out ...frames.Performative) error {
	for _, o := range out {
		if err := p.write(frames.AppendFrame(nil, channel, o)); err != nil {
			return err
		}
	}
	return nil
}

func (p *fakePeer) answer(channel uint16, in frames.Performative, payload []byte) error {
	switch in := in.(type) {
	case *frames.SASLInit:
		if err := p.write(frames.AppendSASLFrame(nil, &frames.SASLOutcome{})); err != nil {
			return err
		}
		return p.protocolHeader(0)
	case *frames.Open:
		return p.send(0, &frames.Open{ContainerID: "peer", MaxFrameSize: 65536, HasMaxFrameSize: true, ChannelMax: 255, HasChannelMax: true})
	case *frames.Begin:
		return p.send(channel, &frames.Begin{RemoteChannel: channel, HasRemoteChannel: true, NextOutgoingID: 1, IncomingWindow: 5000,
			OutgoingWindow: 5000, HandleMax: 255, HasHandleMax: true})
	case *frames.Attach:
		return p.attach(channel, in)
	case *frames.Flow:
		if !in.HasHandle || p.role != frames.RoleReceiver || p.seen["delivered"] > 0 {
			return nil
		}
		return p.deliver(channel)
	case *frames.Transfer:
		if string(payload) != "\x00\x53\x75\xa0\x05there" {
			return fmt.Errorf("payload % x", payload)
		}
		return p.send(channel, &frames.Disposition{Role: frames.RoleReceiver, First: in.DeliveryID, Settled: true, State: &frames.Accepted{}})
	case *frames.Disposition:
		return p.send(channel, &frames.Disposition{First: in.First, Settled: true, State: in.State})
	case *frames.Detach:
		return p.send(channel, &frames.Detach{Handle: in.Handle, Closed: true})
	case *frames.End:
		return p.send(channel, &frames.End{})
	case *frames.Close:
		return nil
	}
	return fmt.Errorf("unexpected %s", in.Name())
}

// attach echoes the link and, to a sender, gives credit.
func (p *fakePeer) attach(channel uint16, in *frames.Attach) error {
	p.role = in.Role
	out := *in
	out.Role = !in.Role
	out.InitialDeliveryCount, out.HasInitialDeliveryCount = 0, true
	out.MaxMessageSize, out.HasMaxMessageSize = 262144, true
	out.Properties = amqp.Map{{Key: amqp.Symbol("com.microsoft:max-message-batch-size"), Value: int64(262144)}}
	if err := p.send(channel, &out); err != nil || in.Role == frames.RoleReceiver {
		return err
	}
	return p.send(channel, &frames.Flow{NextIncomingID: 0, HasNextIncomingID: true, IncomingWindow: 5000, NextOutgoingID: 1, OutgoingWindow: 5000,
		Handle: in.Handle, HasHandle: true, HasDeliveryCount: true, LinkCredit: 100, HasLinkCredit: true})
}

func (p *fakePeer) deliver(channel uint16) error {
	p.seen["delivered"]++
	t := frames.Transfer{HasDeliveryID: true, DeliveryTag: []byte("tag"), HasMessageFormat: true, HasSettled: true, Batchable: true}
	b, start := frames.BeginFrame(nil, frames.TypeAMQP, channel)
	b = append(t.AppendTo(b), "\x00\x53\x75\xa0\x04back"...)
	return p.write(frames.EndFrame(b, start))
}
