package compat

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
	"minibus/internal/amqp/frames"
)

// stranger is a connection that never shows a token.
type stranger struct {
	t  testing.TB
	nc net.Conn
}

// strange opens a connection that shows no token.
func strange(t testing.TB, server *harness.Server) *stranger {
	t.Helper()
	nc, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	s := &stranger{t, nc}
	header := []byte("AMQP\x00\x01\x00\x00")
	if _, err := nc.Write(frames.AppendFrame(header, 0, &frames.Open{ContainerID: "stranger"})); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(nc, make([]byte, len(header))); err != nil {
		t.Fatal(err)
	}
	if _, open := s.next().(*frames.Open); !open {
		t.Fatal("the connection was not opened")
	}
	return s
}

// next returns the next frame's performative, nil at the end of the connection.
func (s *stranger) next() frames.Performative {
	s.t.Helper()
	if err := s.nc.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	head := make([]byte, frames.HeaderSize)
	if _, err := io.ReadFull(s.nc, head); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.t.Fatal(err)
		}
		return nil
	}
	h, err := frames.ParseHeader(head)
	if err != nil {
		s.t.Fatal(err)
	}
	body := make([]byte, h.Size-frames.HeaderSize)
	if _, err := io.ReadFull(s.nc, body); err != nil {
		return nil
	}
	if len(body) == 0 {
		return s.next() // a heartbeat
	}
	p, _, err := frames.DecodeBody(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// sessions begins sessions, and attaches in each a link with the highest handle that a server takes. It returns how many
// sessions it began before the server closed the connection, if it did, and how many bytes it wrote.
func (s *stranger) sessions(n uint16) (begun, sent int) {
	s.t.Helper()
	var all []byte
	for channel := range n {
		all = frames.AppendFrame(all, channel, &frames.Begin{IncomingWindow: 1, OutgoingWindow: 1})
		all = frames.AppendFrame(all, channel, &frames.Attach{LinkName: "x", Handle: 1023, Role: frames.RoleSender})
	}
	go func() { _, _ = s.nc.Write(all) }()
	for refused := 0; refused < int(n); {
		switch s.next().(type) {
		case *frames.Begin:
			begun++
		case *frames.Detach, *frames.End:
			refused++
		case *frames.Close, nil:
			return begun, len(all)
		}
	}
	return begun, len(all)
}

// residentMiB returns the resident memory of the server's process.
func residentMiB(t testing.TB, server *harness.Server) int64 {
	t.Helper()
	return server.Resident(t) >> 20
}

// The memory of links does not depend on their handles.
func TestMemory_HighHandlesInManySessions(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	server := harness.Start(t, harness.Options{})
	before := residentMiB(t, server)
	s := strange(t, server)
	begun, sent := s.sessions(5000)
	grown := residentMiB(t, server) - before
	t.Logf("%d sessions, %d KiB sent: %d MiB more than %d", begun, sent>>10, grown, before)
	if begun != 5000 {
		t.Errorf("%d sessions were begun", begun)
	}
	if grown > 30 {
		t.Errorf("the server holds %d MiB more for %d KiB", grown, sent>>10)
	}
}

// If tokens are checked, a connection without one gets little, and only few such connections are open, however many come.
func TestERR3_MemoryOfConnectionsWithoutAToken(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	server := harness.Start(t, harness.Options{Config: harness.WriteConfig(t, harness.Queue{Name: queueName}), Args: []string{"--auth", "sas"}})
	before := residentMiB(t, server)
	begin := time.Now()
	if begun, _ := strange(t, server).sessions(5000); begun > 128 {
		t.Errorf("a connection without a token has begun %d sessions", begun)
	}
	var all []*stranger
	sent := 0
	for range 1500 {
		s := strange(t, server)
		_, n := s.sessions(120)
		all, sent = append(all, s), sent+n
	}
	grown := residentMiB(t, server) - before
	t.Logf("%d KiB sent: %d MiB more than %d", sent>>10, grown, before)
	if grown > 300 {
		t.Errorf("the server holds %d MiB more for %d KiB", grown, sent>>10)
	}
	for _, s := range all[:400] { // the oldest made room for others, and were told why
		if _, closed := s.next().(*frames.Close); !closed {
			t.Fatal("more than 1,000 connections without a token live")
		}
	}
	log := server.Log()
	late := strings.Contains(log, "has shown no valid token") // on a slow machine the time of the oldest is over before
	most := 10 * int(time.Since(begin).Seconds()+2)           // the log takes ten lines of a kind in a second
	if n := strings.Count(log, "have shown no token"); n == 0 && !late || n > most {
		t.Errorf("%d lines of the log say why connections were closed, and it may have %d", n, most)
	}
	b := connectBench(t, server)
	b.send("still alive")
}
