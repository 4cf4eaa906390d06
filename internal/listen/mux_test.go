package listen

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	nethttp "net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// serve starts a mux over a pipe and returns it with the pipe.
func serve(t *testing.T, o Options) (*Mux, *Pipe) {
	t.Helper()
	m, p := New(o), NewPipe()
	done := make(chan error, 1)
	go func() { done <- m.Serve(p) }()
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return m, p
}

func dial(t *testing.T, p *Pipe) net.Conn {
	t.Helper()
	c, err := p.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := c.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestMuxHandsOutByProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := serve(t, Options{})
		for _, tt := range []struct {
			head string
			from net.Listener
		}{{"AMQP\x00\x01\x00\x00rest", m.AMQP()}, {"GET / HTTP/1.1\r\n", m.HTTP()}} {
			client := dial(t, p)
			send(t, client, tt.head)
			server, err := tt.from.Accept()
			if err != nil {
				t.Fatal(err)
			}
			expect(t, server, tt.head)
			send(t, server, "answer")
			expect(t, client, "answer")
			if server.(*Conn).IsTLS() {
				t.Error("plain connection called TLS")
			}
			_ = server.Close()
		}
	})
}

func TestMuxUnwrapsTLSAndLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := serve(t, Options{TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}})
		raw := dial(t, p)
		client := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
		go func() { _, _ = client.Write([]byte("AMQP\x03\x01\x00\x00")) }()
		server, err := m.AMQP().Accept()
		if err != nil {
			t.Fatal(err)
		}
		expect(t, server, "AMQP\x03\x01\x00\x00")
		if !server.(*Conn).IsTLS() {
			t.Error("TLS connection called plain")
		}
		go func() { _, _ = server.Write([]byte("hello")) }()
		expect(t, client, "hello")
		_ = server.Close()
	})
}

func TestMuxDropsWhatItDoesNotKnow(t *testing.T) {
	config := &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
	for name, talk := range map[string]func(net.Conn){
		"garbage":     func(c net.Conn) { _, _ = c.Write([]byte("\x00\x01\x02\x03")) },
		"hang-up":     func(c net.Conn) { _, _ = c.Write([]byte("AM")); _ = c.(*pipeConn).Close() },
		"broken TLS":  func(c net.Conn) { _, _ = c.Write([]byte("\x16\x03\x01\x00\x05hello")) },
		"TLS garbage": func(c net.Conn) { _, _ = tls.Client(c, insecure).Write([]byte("(no protocol)")) },
		"TLS in TLS": func(c net.Conn) {
			_, _ = tls.Client(c, insecure).Write([]byte("\x16\x03\x01\x00\x05hello"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p := serve(t, Options{TLS: config})
				c := dial(t, p)
				talk(c)
				start := time.Now()
				_, _ = io.Copy(io.Discard, c) // ends when the mux hangs up
				if waited := time.Since(start); waited != 0 {
					t.Errorf("dropped after %v", waited)
				}
			})
		})
	}
}

var insecure = &tls.Config{InsecureSkipVerify: true}

func TestMuxWithoutTLSDropsTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := serve(t, Options{})
		c := dial(t, p)
		send(t, c, "\x16\x03\x01")
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read: %v", err)
		}
	})
}

func TestMuxDropsTheSilentAfterTheTimeout(t *testing.T) {
	for name, first := range map[string]string{"nothing": "", "half a header": "AMQ", "half a handshake": "\x16\x03\x01"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p := serve(t, Options{TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}})
				c := dial(t, p)
				send(t, c, first)
				start := time.Now()
				_, _ = io.Copy(io.Discard, c)
				if waited := time.Since(start); waited != defaultTimeout {
					t.Errorf("dropped after %v, want %v", waited, defaultTimeout)
				}
			})
		})
	}
}

func TestMuxTimeoutEndsWithTheHandOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := serve(t, Options{})
		client := dial(t, p)
		send(t, client, "AMQP")
		time.Sleep(2 * defaultTimeout) // no server accepts yet: the connection waits, as during the start
		server, err := m.AMQP().Accept()
		if err != nil {
			t.Fatal(err)
		}
		expect(t, server, "AMQP")
		time.Sleep(2 * defaultTimeout)
		send(t, client, "late")
		expect(t, server, "late")
		_ = server.Close()
	})
}

func TestMuxDropsTheOldestBeyondTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := serve(t, Options{MaxPending: 2})
		oldest, middle, newest := dial(t, p), dial(t, p), dial(t, p)
		start := time.Now()
		if _, err := oldest.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(start) != 0 {
			t.Errorf("the oldest: %v after %v", err, time.Since(start))
		}
		for _, c := range []net.Conn{middle, newest} {
			send(t, c, "AMQP")
			server, err := m.AMQP().Accept()
			if err != nil {
				t.Fatal(err)
			}
			expect(t, server, "AMQP")
			_ = server.Close()
		}
	})
}

func TestMuxCloseDropsThePendingAndKeepsTheHandedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := New(Options{}), NewPipe()
		go func() { _ = m.Serve(p) }()
		silent, waiting, active := dial(t, p), dial(t, p), dial(t, p)
		send(t, active, "AMQP")
		server, err := m.AMQP().Accept()
		if err != nil {
			t.Fatal(err)
		}
		send(t, waiting, "GET / ")
		synctest.Wait()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []net.Conn{silent, waiting} {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("read: %v", err)
			}
		}
		send(t, server, "alive")
		expect(t, active, "alive")
		_ = server.Close()
		if _, err := m.HTTP().Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept after close: %v", err)
		}
		if err := m.Serve(NewPipe()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("serve after close: %v", err)
		}
		if err := m.Close(); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// flaky is a listener whose first accepts fail.
type flaky struct {
	net.Listener
	failures int
	at       []time.Time
}

func (f *flaky) Accept() (net.Conn, error) {
	f.at = append(f.at, time.Now())
	if f.failures > 0 {
		f.failures--
		return nil, errors.New("too many open files")
	}
	return f.Listener.Accept()
}

func TestMuxBacksOffWhenAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m, p := New(Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}), NewPipe()
		f := &flaky{Listener: p, failures: 12}
		done := make(chan error, 1)
		go func() { done <- m.Serve(f) }()
		c := dial(t, p)
		send(t, c, "AMQP")
		server, err := m.AMQP().Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = server.Close()
		_ = m.Close()
		<-done
		if first := f.at[1].Sub(f.at[0]); first != 5*time.Millisecond {
			t.Errorf("first pause %v", first)
		}
		if last := f.at[12].Sub(f.at[11]); last != time.Second {
			t.Errorf("last pause %v", last)
		}
		if !bytes.Contains(log.Bytes(), []byte("too many open files")) {
			t.Errorf("log: %s", log.String())
		}
	})
}

func TestMuxServesRealHTTPOverTCPAndTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := New(Options{TLS: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}})
	go func() { _ = m.Serve(l) }()
	server := &nethttp.Server{ReadHeaderTimeout: time.Second, Handler: nethttp.HandlerFunc(
		func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = w.Write([]byte("ok")) })}
	go func() { _ = server.Serve(m.HTTP()) }()
	client := &nethttp.Client{Transport: &nethttp.Transport{TLSClientConfig: insecure, ForceAttemptHTTP2: true}}
	for _, scheme := range []string{"http", "https"} {
		resp, err := client.Get(scheme + "://" + l.Addr().String() + "/")
		if err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(resp.Body).ReadString('\n')
		_ = resp.Body.Close()
		if line != "ok" {
			t.Errorf("%s: %q", scheme, line)
		}
	}
	client.CloseIdleConnections()
	_ = server.Close()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// A silent connection must cost little: at most 256 KiB before authentication in all, of which this package may use
// a fraction.
func TestMuxIdleConnectionCostsLittle(t *testing.T) {
	const conns = 500
	m, p := New(Options{MaxPending: conns}), NewPipe()
	go func() { _ = m.Serve(p) }()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range conns {
		c, err := p.Dial(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc+after.StackInuse) - int64(before.HeapAlloc+before.StackInuse)) / conns
	if each > 16<<10 {
		t.Errorf("%d bytes for an idle connection", each)
	}
	_ = m.Close()
}
