package frames_test

import (
	"context"
	"io"
	"net"
	"reflect"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// scripted is the server of one go-amqp client: it reads the client's frames and answers them with ours.
type scripted struct {
	t    *testing.T
	conn net.Conn
}

// read returns the next performative that is not a flow, with its payload.
func (s *scripted) read() (frames.Performative, []byte) {
	s.t.Helper()
	for {
		p, payload := s.next()
		if _, isFlow := p.(*frames.Flow); !isFlow {
			return p, payload
		}
	}
}

// credit waits for the link's first credit, as a broker does. Until then go-amqp may still be attaching.
func (s *scripted) credit(want uint32) {
	s.t.Helper()
	p, _ := s.next()
	if flow, ok := p.(*frames.Flow); !ok || flow.LinkCredit != want {
		s.t.Errorf("the client sent %+v, want a flow with a credit of %d", p, want)
	}
}

// next returns the next performative with its payload.
func (s *scripted) next() (frames.Performative, []byte) {
	s.t.Helper()
	for {
		head := make([]byte, frames.HeaderSize)
		if _, err := io.ReadFull(s.conn, head); err != nil {
			s.t.Errorf("read a header: %v", err)
			return nil, nil
		}
		h, err := frames.ParseHeader(head)
		if err != nil {
			s.t.Errorf("parse a header: %v", err)
			return nil, nil
		}
		body := make([]byte, int(h.Size)-len(head))
		if _, err := io.ReadFull(s.conn, body); err != nil {
			s.t.Errorf("read a frame: %v", err)
			return nil, nil
		}
		p, payload, err := frames.DecodeBody(body)
		if err != nil {
			s.t.Errorf("decode % x: %v", body, err)
			return nil, nil
		}
		if p != nil {
			return p, payload
		}
	}
}

// want reads a performative of one kind.
func want[P frames.Performative](s *scripted) (p P, payload []byte) {
	s.t.Helper()
	got, payload := s.read()
	p, ok := got.(P)
	if !ok {
		s.t.Errorf("the client sent %+v, want a %T", got, p)
	}
	return p, payload
}

func (s *scripted) write(p frames.Performative, payload []byte) {
	s.t.Helper()
	b, start := frames.BeginFrame(nil, frames.TypeAMQP, 0)
	b = frames.EndFrame(append(p.AppendTo(b), payload...), start)
	if _, err := s.conn.Write(b); err != nil {
		s.t.Errorf("write %s: %v", p.Name(), err)
	}
}

// protocolHeader begins a connection without SASL [AMQP 2.2].
var protocolHeader = []byte{'A', 'M', 'Q', 'P', 0, 1, 0, 0}

// open answers the client up to its session, and returns what it said.
func (s *scripted) open() (*frames.Open, *frames.Begin) {
	s.t.Helper()
	header := make([]byte, len(protocolHeader))
	if _, err := io.ReadFull(s.conn, header); err != nil || string(header) != string(protocolHeader) {
		s.t.Errorf("the client began with % x, %v", header, err)
	}
	_, _ = s.conn.Write(protocolHeader)
	open, _ := want[*frames.Open](s)
	s.write(&frames.Open{ContainerID: "server", MaxFrameSize: 4096, HasMaxFrameSize: true}, nil)
	begin, _ := want[*frames.Begin](s)
	s.write(&frames.Begin{HasRemoteChannel: true, NextOutgoingID: 7, IncomingWindow: 100, OutgoingWindow: 100}, nil)
	return open, begin
}

// dial runs a server beside a client that has opened a session.
func dial(t *testing.T, serve func(*scripted)) *goamqp.Session {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(&scripted{t, server})
		_, _ = io.Copy(io.Discard, server) // what the client still says at its end
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(func() {
		cancel()
		_ = server.Close()
		_ = client.Close()
		<-done
	})
	conn, err := goamqp.NewConn(ctx, client, &goamqp.ConnOptions{
		ContainerID:  "client",
		HostName:     "bus.test",
		IdleTimeout:  time.Minute,
		MaxFrameSize: 8192,
		Properties:   map[string]any{"product": "test"},
	})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	session, err := conn.NewSession(ctx, &goamqp.SessionOptions{MaxLinks: 12})
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	return session
}

// TestPeer_AGoAMQPClientSends compares what the client was told to do with what we read of its frames.
func TestPeer_AGoAMQPClientSends(t *testing.T) {
	sent := goamqp.NewMessage([]byte("hello"))
	encoded, err := sent.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	session := dial(t, func(s *scripted) {
		open, begin := s.open()
		if open.ContainerID != "client" || open.Hostname != "bus.test" || open.MaxFrameSize != 8192 || !open.HasIdleTimeout {
			s.t.Errorf("open: %+v", open)
		}
		if !reflect.DeepEqual(open.Properties, amqp.Map{{Key: amqp.Symbol("product"), Value: "test"}}) {
			s.t.Errorf("open has the properties %v", open.Properties)
		}
		if begin.HandleMax != 11 || begin.HasRemoteChannel {
			s.t.Errorf("begin: %+v", begin)
		}
		attach, _ := want[*frames.Attach](s)
		if attach.LinkName != "to-q" || attach.Role != frames.RoleSender || attach.Target == nil || attach.Target.Address != "q" {
			s.t.Errorf("attach: %+v", attach)
		}
		s.write(&frames.Attach{LinkName: "to-q", Handle: 3, Role: frames.RoleReceiver, Source: attach.Source, Target: attach.Target}, nil)
		s.write(&frames.Flow{
			NextIncomingID: begin.NextOutgoingID, HasNextIncomingID: true, IncomingWindow: 100, OutgoingWindow: 100,
			NextOutgoingID: 7, Handle: 3, HasHandle: true, HasDeliveryCount: true, LinkCredit: 2, HasLinkCredit: true,
		}, nil)
		for i, outcome := range []frames.DeliveryState{&frames.Accepted{}, &frames.Rejected{Error: &frames.Error{
			Condition: "amqp:not-allowed", Description: "no", Info: amqp.Map{{Key: amqp.Symbol("n"), Value: int32(1)}},
		}}} {
			transfer, payload := want[*frames.Transfer](s)
			if transfer.DeliveryID != uint32(i) || !transfer.HasDeliveryID || transfer.More || transfer.Settled || string(payload) != string(encoded) {
				s.t.Errorf("transfer: %+v with % x, want % x", transfer, payload, encoded)
			}
			s.write(&frames.Disposition{Role: frames.RoleReceiver, First: uint32(i), Settled: true, State: outcome}, nil)
		}
		detach, _ := want[*frames.Detach](s)
		if !detach.Closed {
			s.t.Errorf("detach: %+v", detach)
		}
		s.write(&frames.Detach{Handle: 3, Closed: true}, nil)
	})
	ctx := t.Context()
	sender, err := session.NewSender(ctx, "q", &goamqp.SenderOptions{Name: "to-q"})
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(ctx, sent, nil); err != nil {
		t.Errorf("the accepted message: %v", err)
	}
	err = sender.Send(ctx, sent, nil)
	refused, ok := err.(*goamqp.Error) //nolint:errorlint // as go-amqp documents it
	if !ok || refused.Condition != goamqp.ErrCondNotAllowed || refused.Description != "no" || refused.Info["n"] != int32(1) {
		t.Errorf("the rejected message: %v", err)
	}
	if err := sender.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestPeer_AGoAMQPClientReceives sends a message in two frames, and reads each of the client's outcomes.
func TestPeer_AGoAMQPClientReceives(t *testing.T) {
	want2 := goamqp.NewMessage([]byte("in two frames"))
	want2.ApplicationProperties = map[string]any{"color": "red"}
	encoded, err := want2.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan frames.DeliveryState, 5)
	session := dial(t, func(s *scripted) {
		s.open()
		attach, _ := want[*frames.Attach](s)
		if attach.Role != frames.RoleReceiver || attach.Source == nil || attach.Source.Address != "q" {
			s.t.Errorf("attach: %+v", attach)
		}
		s.write(&frames.Attach{LinkName: attach.LinkName, Role: frames.RoleSender, Source: attach.Source, Target: attach.Target,
			HasInitialDeliveryCount: true}, nil)
		s.credit(10)
		for i := range uint32(5) {
			first := &frames.Transfer{DeliveryID: 7 + i, HasDeliveryID: true, DeliveryTag: []byte{byte(i)}, HasMessageFormat: true, HasSettled: true, More: true}
			s.write(first, encoded[:10])
			s.write(&frames.Transfer{}, encoded[10:])
			d, _ := want[*frames.Disposition](s)
			if d == nil || d.First != 7+i || d.Role != frames.RoleReceiver {
				s.t.Errorf("disposition: %+v", d)
				return
			}
			outcomes <- d.State
			if !d.Settled {
				s.write(&frames.Disposition{Role: frames.RoleSender, First: d.First, Settled: true, State: d.State}, nil)
			}
		}
	})
	ctx := t.Context()
	receiver, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for name, settle := range map[string]func(*goamqp.Message) error{
		"accepted": func(m *goamqp.Message) error { return receiver.AcceptMessage(ctx, m) },
		"released": func(m *goamqp.Message) error { return receiver.ReleaseMessage(ctx, m) },
		"rejected": func(m *goamqp.Message) error {
			return receiver.RejectMessage(ctx, m, &goamqp.Error{Condition: "a:b", Description: "why", Info: map[string]any{"k": "v"}})
		},
		"modified": func(m *goamqp.Message) error {
			return receiver.ModifyMessage(ctx, m, &goamqp.ModifyMessageOptions{DeliveryFailed: true, UndeliverableHere: true,
				Annotations: goamqp.Annotations{"x": int64(5)}})
		},
		"rejected without an error": func(m *goamqp.Message) error { return receiver.RejectMessage(ctx, m, nil) },
	} {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if string(m.GetData()) != "in two frames" || m.ApplicationProperties["color"] != "red" {
			t.Errorf("%s: %q, %v", name, m.GetData(), m.ApplicationProperties)
		}
		if err := settle(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		state := map[string]frames.DeliveryState{
			"accepted": &frames.Accepted{}, "released": &frames.Released{},
			"rejected": &frames.Rejected{Error: &frames.Error{Condition: "a:b", Description: "why",
				Info: amqp.Map{{Key: "k", Value: "v"}}}},
			"modified": &frames.Modified{DeliveryFailed: true, UndeliverableHere: true,
				MessageAnnotations: amqp.Map{{Key: amqp.Symbol("x"), Value: int64(5)}}},
			"rejected without an error": &frames.Rejected{},
		}[name]
		if got := <-outcomes; !reflect.DeepEqual(got, state) {
			t.Errorf("%s: we read %+v, want %+v", name, got, state)
		}
	}
}
