package amqpserver_test

import (
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"minibus/amqpserver"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// TestHostile_MemoryOfUnauthenticatedConnections opens connections that stop at the worst point of the handshake.
func TestHostile_MemoryOfUnauthenticatedConnections(t *testing.T) {
	b := newBench(t)
	const n = 200
	var clients []net.Conn
	// All but the last byte of a frame of the largest size allowed before open.
	partial := append(amqptest.HeaderAMQP, 0, 0, 0x20, 0, 2, 0, 0, 0)
	partial = append(partial, make([]byte, 8<<10-9)...)
	before := memory()
	for range n {
		c := b.dial()
		clients = append(clients, c)
		if _, err := c.Write(partial); err != nil {
			t.Fatal(err)
		}
	}
	for b.server.Connections() < n {
		runtime.Gosched()
	}
	header := make([]byte, 8)
	for _, c := range clients {
		if _, err := c.Read(header); err != nil {
			t.Fatal(err)
		}
	}
	if each := (memory() - before) / n; each > 256<<10 {
		t.Errorf("%d bytes per connection, want at most %d", each, 256<<10)
	}
	for _, c := range clients {
		_ = c.Close()
	}
}

// memory returns the memory of the process, goroutine stacks included.
func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func TestHostile_OneConnectionDoesNotDisturbAnother(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		s := b.client(t)
		rng := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			c := b.dial()
			garbage := make([]byte, rng.IntN(200))
			for i := range garbage {
				garbage[i] = byte(rng.Uint32())
			}
			_, _ = c.Write(append(amqptest.HeaderAMQP, garbage...))
			_ = c.Close()
		}
		time.Sleep(10 * time.Second)
		b.send(t, s, "q", "still here")
		b.wantReceivable(t, "q", 1)
	})
}

func TestHostile_HugeCountsInAttach(t *testing.T) {
	for name, properties := range map[string][]byte{
		"map32 of 4 G entries":   {0xd1, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xfe},
		"array32 of 4 G nulls":   {0xf0, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0x40},
		"list32 beyond the end":  {0xd0, 0x7f, 0, 0, 0, 0, 0, 0, 1},
		"binary of 4 GB":         {0xb0, 0xff, 0xff, 0xff, 0xff},
		"array of list0 without": {0xf0, 0, 0, 0, 5, 0x00, 0xff, 0xff, 0xff, 0x45},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				// An attach whose 14th field, properties, is hostile.
				fields := []byte{0xa1, 1, 'n', 0x43, 0x42, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40}
				fields = append(fields, properties...)
				body := append([]byte{0, 0x53, 0x12, 0xd0, 0, 0, 0, byte(len(fields) + 4), 0, 0, 0, 14}, fields...)
				p.Raw(append([]byte{0, 0, 0, byte(len(body) + 8), 2, 0, 0, 0}, body...))
				switch f := p.Next().Body.(type) {
				case *frames.Close:
					if f.Error.Condition != "amqp:decode-error" {
						t.Errorf("closed with %v", f.Error)
					}
				case *frames.Attach: // understood, and refused for having no target
				default:
					t.Errorf("got %T", f)
				}
			})
		})
	}
}

func TestHostile_PeerThatWritesAndNeverReads(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		echo := frames.AppendFrame(nil, 0, &frames.Flow{Echo: true})
		chunk := make([]byte, 0, 1000*len(echo))
		for range 1000 {
			chunk = append(chunk, echo...)
		}
		// Each frame asks for an answer that the peer never reads. The server bounds the answers that it keeps, so
		// writing stalls.
		failed := make(chan struct{})
		client := b.dial()
		t.Cleanup(func() { _ = client.Close() })
		go func() {
			defer close(failed)
			start := append(amqptest.HeaderAMQP, frames.AppendFrame(nil, 0, &frames.Open{ContainerID: "x"})...)
			start = frames.AppendFrame(start, 0, &frames.Begin{IncomingWindow: 1, OutgoingWindow: 1})
			if _, err := client.Write(start); err != nil {
				return
			}
			for range 2000 { // 40 MB
				if _, err := client.Write(chunk); err != nil {
					return
				}
			}
			t.Error("the server took 2 million requests for answers that the client does not read")
		}()
		<-failed // after the time-out for writes
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		for {
			if d, ok := p.Next().Body.(*frames.Disposition); ok {
				if _, ok := d.State.(*frames.Accepted); !ok {
					t.Errorf("outcome %T", d.State)
				}
				return
			}
		}
	})
}

// trap is a trace that panics on a frame, in place of a bug.
type trap string

func (word trap) Write(b []byte) (int, error) {
	if strings.Contains(string(b), string(word)) {
		panic("a mistake of ours")
	}
	return len(b), nil
}

func TestHostile_PanicCostsOneConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		s := b.client(t)
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(2, "q"))
		p.Send(0, amqptest.Flow(2, 0, 5))
		time.Sleep(time.Second)
		p.Send(0, amqptest.Flow(77, 0, 5))
		p.WantEOF()
		b.send(t, s, "q", "x")
		time.Sleep(time.Second)     // the socket is closed first, and then the connection's messages go back
		b.wantReceivable(t, "q", 1) // the lost receiver swallows nothing
		if log := b.log.String(); !containsAll(log, "a mistake of ours", "stack=", "remote=", "conn=c2") {
			t.Errorf("log is %q", log)
		}
	}, func(o *amqpserver.Options) { o.Trace = trap("handle=77") })
}

// A panic while links are served, after the frames of a turn, releases the store too: the bench counts.
func TestHostile_PanicOfALinkThatSends(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(2, "q"))
		p.Send(0, amqptest.Flow(2, 0, 5))
		b.send(t, b.client(t), "q", "x")
		p.WantEOF()
		time.Sleep(time.Minute + time.Second) // its lock runs on
		b.wantReceivable(t, "q", 1)
		if log := b.log.String(); !containsAll(log, "a mistake of ours", "serveLinks") {
			t.Errorf("log is %q", log)
		}
	}, func(o *amqpserver.Options) { o.Trace = trap("c1 <- ch=0 transfer") })
}

func containsAll(s string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// TestIdle_MemoryOfConnections measures the memory of an idle connection with an idle receiver.
func TestIdle_MemoryOfConnections(t *testing.T) {
	b := newBench(t)
	const n = 200
	before := memory()
	peers := make([]*amqptest.Peer, n)
	for i := range peers {
		peers[i] = b.opened(t)
		peers[i].AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		peers[i].Send(0, amqptest.Flow(0, 0, 10))
	}
	if each := (memory() - before) / n; each > 60<<10 { // the client's ends included
		t.Errorf("%d bytes per connection, want at most %d", each, 60<<10)
	} else {
		t.Logf("%d bytes per connection", each)
	}
}
