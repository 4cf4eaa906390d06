package mgmt

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/listen"
)

// slow runs f with a connection to the server, in a bubble.
func slow(t *testing.T, f func(t *testing.T, b *bus, c net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t, emulator.ProfileRelaxed)
		pipe := listen.NewPipe()
		server := NewServer(b.handler, slog.New(slog.DiscardHandler))
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.Serve(pipe)
		}()
		c, err := pipe.Dial(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f(t, b, c)
		_ = c.Close()
		_ = server.Close()
		<-done
		time.Sleep(2 * time.Second) // so that a client that still writes notices
	})
}

func TestSlowHeadersLoseTheirConnection(t *testing.T) {
	slow(t, func(t *testing.T, _ *bus, c net.Conn) {
		begin := time.Now()
		go func() {
			for _, b := range "GET /$Resources/queues HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("y", 100) {
				if _, err := c.Write([]byte(string(b))); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		_, _ = io.ReadAll(c)
		if took := time.Since(begin); took < headerTimeout || took > headerTimeout+2*time.Second {
			t.Errorf("dropped after %s", took)
		}
	})
}

func TestSlowBodiesAreToldSoAndNothingIsCreated(t *testing.T) {
	slow(t, func(t *testing.T, b *bus, c net.Conn) {
		begin := time.Now()
		go func() {
			_, _ = io.WriteString(c, "PUT /q HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n<entry>")
			for range 990 {
				time.Sleep(time.Second)
				if _, err := c.Write([]byte(" ")); err != nil {
					return
				}
			}
		}()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if took := time.Since(begin); resp.StatusCode != http.StatusRequestTimeout || took < requestTimeout || took > requestTimeout+2*time.Second {
			t.Errorf("status %d after %s", resp.StatusCode, took)
		}
		if n := len(b.ns.Entities().Queues()); n != 0 {
			t.Errorf("%d queues were created", n)
		}
	})
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	slow(t, func(t *testing.T, _ *bus, c net.Conn) {
		if _, err := io.WriteString(c, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		begin := time.Now()
		_, _ = r.ReadByte()
		if took := time.Since(begin); took < idleTimeout || took > idleTimeout+2*time.Second {
			t.Errorf("closed after %s", took)
		}
	})
}
