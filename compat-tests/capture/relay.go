package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"sync"
)

// A relay forwards connections to a broker and records the traffic.
type relay struct {
	listener net.Listener
	to       string
	group    sync.WaitGroup

	mu    sync.Mutex
	lines []string // in the order in which frames were complete
	conns []net.Conn
}

func newRelay(to string) (*relay, error) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return nil, fmt.Errorf("open relay: %w", err)
	}
	r := &relay{listener: listener, to: to}
	r.group.Go(r.accept)
	return r, nil
}

func (r *relay) addr() string { return r.listener.Addr().String() }

// accept ends when the listener is closed.
func (r *relay) accept() {
	for number := 1; ; number++ {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.to)
		if err != nil {
			client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		r.group.Go(func() { r.pump(server, client, fmt.Sprintf("C %d", number)) })
		r.group.Go(func() { r.pump(client, server, fmt.Sprintf("S %d", number)) })
	}
}

// pump copies one direction, frame by frame, and closes both ends at its end.
func (r *relay) pump(to, from net.Conn, who string) {
	defer to.Close()
	defer from.Close()
	for {
		frame, err := readFrame(from)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.lines = append(r.lines, who+" "+hex.EncodeToString(frame))
		r.mu.Unlock()
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}

// readFrame reads a protocol header or a frame with its header [AMQP 2.2, 2.3].
func readFrame(from io.Reader) ([]byte, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	if string(head[:4]) == "AMQP" {
		return head, nil
	}
	size := binary.BigEndian.Uint32(head)
	if size < 8 || size > 1<<24 {
		return nil, fmt.Errorf("read frame: size %d", size)
	}
	frame := make([]byte, size)
	copy(frame, head)
	_, err := io.ReadFull(from, frame[8:])
	return frame, err
}

// close ends all connections and returns the record.
func (r *relay) close() []string {
	r.listener.Close()
	r.mu.Lock()
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
	return r.lines
}
