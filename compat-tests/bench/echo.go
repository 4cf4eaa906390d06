package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// echoScheme begins the -url of an echo that is a process of its own.
const echoScheme = "tcp://"

// echo sends a body to an echo, over a socket, and gets it back, one after another. No broker takes part. An echo in
// this process shows how slow the machine itself is at times. One that is a process of its own shows what two
// processes pay to wake each other, whatever the server does.
func (r *runner) echo(ctx context.Context) ([]series, error) {
	address, own := strings.CutPrefix(r.options.url, echoScheme)
	if !own {
		listener, err := listenEcho()
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		address = listener.Addr().String()
		go func() { _ = serveEcho(listener) }()
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the echo: %w", err)
	}
	defer c.Close()
	times, back := series{name: "echo"}, make([]byte, len(r.body))
	for ctx.Err() == nil && r.toSend.take() {
		begin := time.Now()
		if _, err := c.Write(r.body); err != nil {
			return nil, fmt.Errorf("send to the echo: %w", err)
		}
		if _, err := io.ReadFull(c, back); err != nil {
			return nil, fmt.Errorf("read the echo: %w", err)
		}
		times.add(time.Since(begin))
	}
	return []series{times}, nil
}

// echoCommand prints the address of an echo as a -url for mode echo, and serves it until the process is stopped.
func echoCommand(output io.Writer) error {
	listener, err := listenEcho()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(output, echoScheme+listener.Addr().String()); err != nil {
		return err
	}
	return serveEcho(listener)
}

func listenEcho() (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the echo: %w", err)
	}
	return listener, nil
}

// serveEcho serves one connection at a time, until the listener is closed.
func serveEcho(listener net.Listener) error {
	for {
		c, err := listener.Accept()
		if err != nil {
			return fmt.Errorf("accept a connection of the echo: %w", err)
		}
		_, _ = io.Copy(onlyWriter{c}, c)
		c.Close()
	}
}

// onlyWriter hides the methods of a socket by which the kernel would copy alone.
type onlyWriter struct{ io.Writer }
