package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// echo sends a body to a goroutine of this process, over a socket, and gets it back, one after another. No broker takes part: the slowest of these times are
// what the machine itself adds.
func (r *runner) echo(ctx context.Context) ([]series, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the echo: %w", err)
	}
	defer listener.Close()
	go func() {
		if c, err := listener.Accept(); err == nil {
			_, _ = io.Copy(onlyWriter{c}, c)
			c.Close()
		}
	}()
	c, err := net.Dial("tcp", listener.Addr().String())
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

// onlyWriter hides the methods of a socket by which the kernel would copy alone.
type onlyWriter struct{ io.Writer }
