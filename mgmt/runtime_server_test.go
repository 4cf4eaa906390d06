package mgmt

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/listen"
)

// served is a bus behind the product's HTTP server, in a bubble and on pipes in memory.
type served struct {
	*bus
	server *Server
	pipe   *listen.Pipe
}

// overPipes runs a test in a bubble.
func overPipes(t *testing.T, f func(*testing.T, *served)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &served{bus: newTimedBus(t, emulator.ProfileRelaxed), pipe: listen.NewPipe()}
		s.makeQueue("q", emulator.QueueOptions{})
		s.server = NewServer(s.handler, slog.New(slog.DiscardHandler))
		var running sync.WaitGroup
		running.Go(func() { _ = s.server.Serve(Listener(s.pipe)) })
		defer func() {
			_ = s.server.Close()
			running.Wait()
			s.close()
		}()
		f(t, s)
	})
}

// rawClient is a client with a connection of its own.
type rawClient struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func (s *served) connect(t *testing.T) *rawClient {
	t.Helper()
	c, err := s.pipe.Dial(context.Background())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return &rawClient{t, c, bufio.NewReader(c)}
}

func (c *rawClient) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

func (c *rawClient) answer(status int) (http.Header, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatalf("read answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		c.t.Fatalf("status %d, want %d: %s (%v)", resp.StatusCode, status, body, err)
	}
	return resp.Header, string(body)
}

// TestPropertyNamesKeepTheirCase, even on reused connections and with pipelined requests.
func TestPropertyNamesKeepTheirCase(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		const text = "POST /q/messages HTTP/1.1\r\nHost: h\r\nfAKE: 1\r\n\r\n"
		c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nmyProp: 1\r\nX-UPPER: 2\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		c.answer(201)
		c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nMYPROP: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
		c.answer(201)
		both := make(chan struct{})
		go func() {
			defer close(both)
			c.send("GET /health HTTP/1.1\r\nHost: h\r\nmyprop: 9\r\n\r\n" +
				"POST /q/messages HTTP/1.1\r\nHost: h\r\nmyprop: 4\r\nContent-Length: 0\r\n\r\n" +
				"POST /q/messages HTTP/1.1\r\nHost: h\r\nMyprop: 5\r\nContent-Length: 0\r\n\r\n")
		}()
		c.answer(200)
		c.answer(201)
		c.answer(201)
		<-both
		c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nmyPROP: 6\r\nMYprop: 7\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n")
		c.answer(201)
		for i, want := range []map[string]any{{"myProp": int32(1), "X-UPPER": int32(2)}, {"MYPROP": int32(3)}, {"myprop": int32(4)}, {"Myprop": int32(5)}, {"myPROP": "6,7"}} {
			got := s.userProperties("q")
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("message %d: %v, want %v", i, got, want)
			}
		}
	})
}

// TestPropertyNamesAreOfTheirOwnRequest: the connection tells requests apart only by method and address, so earlier requests that did not
// use their names, because they were refused or sent a batch, must leave none behind.
func TestPropertyNamesAreOfTheirOwnRequest(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		const post = "POST /q/messages HTTP/1.1\r\nHost: h\r\n"
		for _, before := range []struct {
			request string
			status  int
		}{
			{post + "MYPROP: 1\r\nContent-Length: 2\r\nContent-Type: application/vnd.microsoft.servicebus.json\r\n\r\n[]", 201},
			{post + "Other: 1\r\nContent-Length: 0\r\nBrokerProperties: no\r\n\r\n", 400},
			{"POST /q/messages?timeout=x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", 400},
			{"POST /none/messages HTTP/1.1\r\nHost: h\r\nmyprop: 1\r\nContent-Length: 0\r\n\r\n", 404},
		} {
			c.send("%s", before.request)
			c.answer(before.status)
			c.send("%s", post+"myProp: 2\r\nContent-Length: 0\r\n\r\n")
			c.answer(201)
			if got := s.userProperties("q"); len(got) != 1 || got["myProp"] != int32(2) {
				t.Errorf("after %q: %v", before.request, got)
			}
		}
	})
}

// TestPropertyNamesOfClientsThatOfferHTTP2: Java's client offers it with each request, and the connection still knows the names.
func TestPropertyNamesOfClientsThatOfferHTTP2(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		for _, name := range []string{"myProp", "MYPROP"} {
			c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"+
				"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n%s: 1\r\nContent-Length: 2\r\n\r\nhi", name)
			c.answer(201)
			if got := s.userProperties("q"); len(got) != 1 || got[name] != int32(1) {
				t.Errorf("%v", got)
			}
		}
	})
}

// TestLongWaitsAreNotCut by the server's time-outs, which a wait of a minute exceeds.
func TestLongWaitsAreNotCut(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		for _, method := range []string{"POST", "DELETE", "POST"} {
			c.send("%s /q/messages/head HTTP/1.1\r\n", method)
			time.Sleep(time.Second) // the server counts from here, the wait from the end of the header
			start := time.Now()
			c.send("Host: h\r\nContent-Length: 0\r\n\r\n")
			c.answer(204)
			if took := time.Since(start); took != time.Minute {
				t.Errorf("%s took %v", method, took)
			}
			time.Sleep(30 * time.Second)
		}
	})
}

// TestRAD5_AClientThatHangsUp while it waits takes no message.
func TestRAD5_AClientThatHangsUp(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		for _, method := range []string{"POST", "DELETE"} {
			for _, body := range []string{"", "not expected"} {
				c := s.connect(t)
				c.send("%s /q/messages/head HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", method, len(body), body)
				synctest.Wait()
				_ = c.Close()
				synctest.Wait()
				s.post("q", "m")
				w := s.do("DELETE", "/q/messages/head?timeout=0", "")
				wants(t, w, 200, "m")
				if p := brokerProperties(t, w); p["DeliveryCount"] != 1.0 {
					t.Errorf("%v", p)
				}
			}
		}
	})
}

// TestLOCK10_ALockOutlivesItsConnection: a client can settle over another one.
func TestLOCK10_ALockOutlivesItsConnection(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		s.post("q", "m")
		c := s.connect(t)
		c.send("POST /q/messages/head HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
		h, _ := c.answer(201)
		_ = c.Close()
		time.Sleep(59 * time.Second)
		wants(t, s.do("DELETE", "/q/messages/head?timeout=0", ""), 204)
		path, _ := strings.CutPrefix(h.Get("Location"), "http://h")
		wants(t, s.do("DELETE", path, ""), 200)
	})
}

func TestShutdownEndsWaits(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		c.send("POST /q/messages/head HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
		synctest.Wait()
		start := time.Now()
		down := make(chan error)
		go func() { down <- s.server.Shutdown(context.Background()) }()
		_, body := c.answer(503)
		if err := <-down; err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second || !strings.Contains(body, "shutting down") {
			t.Errorf("after %v: %s", took, body)
		}
	})
}

// TestSlowBodies: the server gives up after its read time-out, and nothing is stored.
func TestSlowBodies(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		start := time.Now()
		c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
		for range 50 {
			c.send("x")
			time.Sleep(time.Second)
		}
		_, body := c.answer(408)
		if took := time.Since(start); took != time.Minute || !strings.Contains(body, "did not arrive in time") {
			t.Errorf("after %v: %s", took, body)
		}
		s.wantCounts("q", 0, 0)
		c = s.connect(t)
		c.send("POST /q/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nhalf")
		_ = c.Close()
		synctest.Wait()
		s.wantCounts("q", 0, 0)
	})
}

// TestReceivedMessagesHaveTheServicesFrame: as recorded from the service (management-rest 7.2), a message comes in chunks. A client of HTTP/1.0
// knows none, and could not tell a message from half of one without its length.
func TestReceivedMessagesHaveTheServicesFrame(t *testing.T) {
	overPipes(t, func(t *testing.T, s *served) {
		c := s.connect(t)
		defer c.Close()
		for _, body := range []string{"", "x", strings.Repeat("x", 100_000)} {
			for _, method := range []string{"POST", "DELETE"} {
				s.post("q", body)
				c.send("%s /q/messages/head HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", method)
				resp, err := http.ReadResponse(c.r, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || string(got) != body || fmt.Sprint(resp.TransferEncoding) != "[chunked]" {
					t.Errorf("%s: %d bytes of %d in %v, %v", method, len(got), len(body), resp.TransferEncoding, err)
				}
				for name := range resp.Header {
					switch name {
					case "Brokerproperties", "Content-Type", "Date", "Server":
					case "Location":
						if method == "DELETE" {
							t.Error("a message that is gone has a location")
						}
					default:
						t.Errorf("%s: the header %s", method, name)
					}
				}
			}
		}
		s.post("q", "old")
		c.send("DELETE /q/messages/head HTTP/1.0\r\n\r\n")
		if h, body := c.answer(200); body != "old" || h.Get("Content-Length") != "3" {
			t.Errorf("HTTP/1.0: %q with %v", body, h)
		}
	})
}
