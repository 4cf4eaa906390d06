package amqpserver_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// inFlight is how many deliveries a benchmark keeps under way.
const inFlight = 200

// tcpPeer returns a peer with a session over a loopback connection, and that connection.
func tcpPeer(b *testing.B, server *bench) (*amqptest.Peer, net.Conn) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = server.server.Serve(l) }()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	p := amqptest.NewPeer(b, nc)
	p.Open()
	p.Begin(0)
	return p, nc
}

// rawReader reads frames with as little work as possible, so that the benchmark measures the server.
type rawReader struct {
	r    *bufio.Reader
	body []byte
}

func (r *rawReader) next(b *testing.B) []byte {
	var header [8]byte
	if _, err := io.ReadFull(r.r, header[:]); err != nil {
		b.Fatal(err)
	}
	n := int(binary.BigEndian.Uint32(header[:])) - len(header)
	if cap(r.body) < n {
		r.body = make([]byte, n)
	}
	r.body = r.body[:n]
	if _, err := io.ReadFull(r.r, r.body); err != nil {
		b.Fatal(err)
	}
	return r.body
}

// BenchmarkSend measures unsettled sends of 1 KiB up to their dispositions, over a journal in memory.
func BenchmarkSend(b *testing.B) {
	server := newBench(b)
	p, nc := tcpPeer(b, server)
	p.AttachSender(0, 0, "q")
	message := amqptest.Message(strings.Repeat("x", 1024))
	r := &rawReader{r: bufio.NewReaderSize(nc, 64<<10)}
	b.ReportAllocs()
	b.ResetTimer()
	var out []byte
	for sent, settled := 0, 0; settled < b.N; {
		out = out[:0]
		for ; sent < b.N && sent-settled < inFlight; sent++ {
			t := amqptest.Transfer(0, uint32(sent))
			var start int
			out, start = frames.BeginFrame(out, frames.TypeAMQP, 0)
			out = frames.EndFrame(append(t.AppendTo(out), message...), start)
		}
		if _, err := nc.Write(out); err != nil {
			b.Fatal(err)
		}
		for more := true; more; more = r.r.Buffered() > 0 {
			var d frames.Disposition
			if body := r.next(b); d.Decode(body) == nil {
				settled = int(d.Last) + 1
			}
		}
	}
}

// BenchmarkReceive measures deliveries of 1 KiB in peek-lock mode and their completion, over a journal in memory.
func BenchmarkReceive(b *testing.B) {
	server := newBench(b)
	fill(b, server, b.N)
	p, nc := tcpPeer(b, server)
	p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
	r := &rawReader{r: bufio.NewReaderSize(nc, 64<<10)}
	b.ReportAllocs()
	b.ResetTimer()
	var out []byte
	received, settled := 0, 0
	flow := func() {
		f := amqptest.Flow(0, uint32(received), inFlight)
		f.NextIncomingID = uint32(received) + 1
		out = frames.AppendFrame(out, 0, f)
	}
	flow()
	for granted := inFlight; settled < b.N; {
		if received+inFlight/2 > granted {
			flow()
			granted = received + inFlight
		}
		if _, err := nc.Write(out); err != nil {
			b.Fatal(err)
		}
		out = out[:0]
		first := received
		for more := true; more; more = r.r.Buffered() > 0 {
			body := r.next(b)
			if frames.IsTransfer(body) {
				received++
				continue
			}
			var d frames.Disposition
			if d.Decode(body) == nil {
				settled += int(d.Last-d.First) + 1
			}
		}
		if received > first {
			out = frames.AppendFrame(out, 0, &frames.Disposition{Role: frames.RoleReceiver,
				First: uint32(first), Last: uint32(received - 1), HasLast: true, State: &frames.Accepted{}})
		}
	}
}
