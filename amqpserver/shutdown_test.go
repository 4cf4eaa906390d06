package amqpserver_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"minibus/amqpserver"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// shutdown begins to shut the server down, and returns where the result will be.
func (b *bench) shutdown(t *testing.T) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- b.server.Shutdown(t.Context()) }()
	return ended
}

// sendFive sends five deliveries and waits until they have arrived.
func sendFive(p *amqptest.Peer, first uint32) {
	for id := range uint32(5) {
		p.Send(0, amqptest.Transfer(0, first+id), amqptest.Message("x")...)
	}
	time.Sleep(time.Second)
}

// wantEnd answers the server's close. Then the shutdown must have succeeded, with five messages in "q".
func (b *bench) wantEnd(t *testing.T, p *amqptest.Peer, ended <-chan error) {
	t.Helper()
	p.Send(0, &frames.Close{})
	p.WantEOF()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	b.wantReceivable(t, "q", 5)
}

// listening serves a TCP port, and returns a connection to it, the listener and where Serve's error will be.
func (b *bench) listening(t *testing.T) (net.Conn, net.Listener, <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.server.Serve(l) }()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return nc, l, served
}

func TestShutdown_AcknowledgesWhatIsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
		p.Send(0, amqptest.Flow(1, 0, 10))
		b.journal.Pause()
		sendFive(p, 0)
		ended := b.shutdown(t)
		p.WantSilence(time.Second)
		b.journal.Resume()
		for next := uint32(0); next < 5; {
			next = amqptest.Want[*frames.Disposition](p).Last + 1
		}
		// The receiver gets nothing more and is told to reconnect.
		c := amqptest.Want[*frames.Close](p)
		if c.Error == nil || c.Error.Condition != "amqp:connection:forced" {
			t.Errorf("closed with %v", c.Error)
		}
		b.wantEnd(t, p, ended)
	})
}

// TestShutdown_TakesNothingMoreWhileItWaits: a client that sends without a pause does not keep the server from
// stopping, and the outcomes that it gets are true.
func TestShutdown_TakesNothingMoreWhileItWaits(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		b.journal.Pause()
		sendFive(p, 0)
		ended := b.shutdown(t)
		time.Sleep(time.Second)
		sendFive(p, 5)
		b.journal.Resume()
		next := uint32(0)
		for next < 5 {
			next = amqptest.Want[*frames.Disposition](p).Last + 1
		}
		if next != 5 {
			t.Errorf("%d deliveries were answered, want 5", next)
		}
		amqptest.Want[*frames.Close](p)
		b.wantEnd(t, p, ended)
	})
}

func TestShutdown_GivesBackWhatWasTaken(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 5, deleting)
		b.journal.Pause()
		p.Send(0, amqptest.Flow(0, 0, 10))
		time.Sleep(time.Second)
		ended := b.shutdown(t)
		time.Sleep(5 * time.Second)
		b.journal.Resume()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		b.wantReceivable(t, "q", 5)
	})
}

func TestShutdown_CutsWhenItsTimeIsUp(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		b.journal.Pause()
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		err := b.server.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if n := b.server.Connections(); n != 0 {
			t.Errorf("%d connections", n)
		}
		b.journal.Resume()
	})
}

func TestShutdown_DropsHandshakesAtOnce(t *testing.T) {
	for _, sent := range []string{"", "AMQP\x00\x01\x00\x00"} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.peer(t)
			p.Raw([]byte(sent))
			time.Sleep(time.Second)
			start := time.Now()
			if err := b.server.Shutdown(t.Context()); err != nil || time.Since(start) > time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	}
}

func TestServe_OverTCP(t *testing.T) {
	b := newBench(t)
	nc, l, served := b.listening(t)
	p := amqptest.NewPeer(t, nc)
	p.Open()
	p.Begin(0)
	p.AttachSender(0, 0, "q")
	p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
	wantOutcome(t, p, 0, "")
	// Input that can't be decoded: the close arrives although the socket had unread input.
	p.Raw(append([]byte{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0}, make([]byte, 100_000)...))
	if c := amqptest.Want[*frames.Close](p); c.Error.Condition != "amqp:connection:framing-error" {
		t.Errorf("closed with %v", c.Error)
	}
	p.Close()
	if err := b.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, amqpserver.ErrServerClosed) {
		t.Errorf("Serve returned %v", err)
	}
	if err := b.server.Serve(l); !errors.Is(err, amqpserver.ErrServerClosed) {
		t.Errorf("Serve after Shutdown returned %v", err)
	}
}

func TestServe_HalfClosedPeerStillReadsOurClose(t *testing.T) {
	b := newBench(t)
	nc, _, _ := b.listening(t)
	p := amqptest.NewPeer(t, nc)
	p.Open()
	p.Raw([]byte{0, 0, 0, 8, 0, 0, 0, 0}) // data offset inside the header
	if err := nc.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if c := amqptest.Want[*frames.Close](p); c.Error.Condition != "amqp:connection:framing-error" {
		t.Errorf("closed with %v", c.Error)
	}
	p.WantEOF()
}
