package amqpserver

import (
	"bytes"
	"io"
	"net"
	"testing"

	"minibus/emulator"
	"minibus/store/storetest"
)

// tcpPair returns the two ends of a connection whose buffers are small.
func tcpPair(t *testing.T) (server, client *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server, client = accepted.(*net.TCPConn), dialled.(*net.TCPConn)
	t.Cleanup(func() { server.Close(); client.Close() })
	_ = server.SetWriteBuffer(8 << 10)
	_ = client.SetReadBuffer(64 << 10)
	return server, client
}

func socketConn(t *testing.T, nc net.Conn) *conn {
	t.Helper()
	broker, err := emulator.OpenBroker(storetest.NewMemory(), emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	c := newConn(New(broker, Options{}), nc, "1")
	c.socket.open(nc)
	if c.socket.raw == nil && directWrites {
		t.Fatal("there is no direct access to a TCP connection")
	}
	return c
}

// A peer that reads slowly gets all bytes in their order: what the socket does not take in a turn is the write
// goroutine's.
func TestOutput_WhatTheSocketDoesNotTakeAtOnce(t *testing.T) {
	server, client := tcpPair(t)
	c := socketConn(t, server)
	go c.out.loop()
	var want []byte
	left := 0 // how often the write goroutine was needed
	got := make(chan []byte)
	for i := range 40 {
		chunk := bytes.Repeat([]byte{byte(i)}, 10_000)
		want = append(want, chunk...)
		c.out.buf = append(c.out.buf, chunk...)
		c.out.flush()
		if c.out.busy {
			if left++; left == 1 {
				go func() {
					b, _ := io.ReadAll(client)
					got <- b
				}()
			}
			c.out.done(<-c.out.written)
		}
	}
	for c.out.flush(); c.out.busy; c.out.flush() {
		c.out.done(<-c.out.written)
	}
	if left == 0 {
		t.Fatal("the socket took everything at once")
	}
	c.out.stop()
	server.Close()
	if !bytes.Equal(<-got, want) {
		t.Error("the peer read something else than was written")
	}
}
