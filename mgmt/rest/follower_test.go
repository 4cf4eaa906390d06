package rest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const stream = "GET /health HTTP/1.1\r\nX-One: 1\r\n\r\n" +
	"POST /q/messages HTTP/1.1\r\nHost: h\r\nmyName: 1\r\nMYNAME: 2\r\nContent-Length: 35\r\n\r\nPOST /q/messages HTTP/1.1\r\nfalse: 1\r\n" +
	"\r\nPOST /q/messages?timeout=5 HTTP/1.1\nfolded: a\n b: c\nTransfer-Encoding: chunked\n\n" +
	"a;x=y\r\nPOST /q/me\r\n3\nx\n\n\r\n0\r\ntrailer: 1\r\n\r\n" +
	"POST /q/messages HTTP/1.1\r\nlast-One: 1\r\n\r\n"

// TestNamesOfHeaders: the follower finds the names of sends wherever the server's reads end.
func TestNamesOfHeaders(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := range 200 {
		var f follower
		for rest := stream; rest != ""; {
			n := min(max(1, size), len(rest))
			if size > 100 {
				n = 1 + random.IntN(len(rest))
			}
			f.feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		if f.state == lost || f.kept == 0 {
			t.Fatalf("size %d: lost", size)
		}
		for _, want := range []struct{ target, names string }{
			{"/q/messages", "map[Content-Length:Content-Length Host:Host Myname:myName]"},
			{"/q/messages?timeout=5", "map[Folded:folded Transfer-Encoding:Transfer-Encoding]"},
			{"/q/messages", "map[Last-One:last-One]"},
			{"/q/messages", "map[]"},
		} {
			if got := fmt.Sprint(f.take("POST " + want.target)); got != want.names {
				t.Fatalf("size %d: %s: %s, want %s", size, want.target, got, want.names)
			}
		}
		if f.kept != 0 {
			t.Errorf("%d bytes are counted", f.kept)
		}
	}
}

// TestFollowerIsBounded: no client can make a connection keep more than maxHeads.
func TestFollowerIsBounded(t *testing.T) {
	var f follower
	one := []byte("POST /q/messages HTTP/1.1\r\n" + strings.Repeat("a: b\r\n", 1000) + "\r\n")
	for range 1000 {
		f.feed(one)
		if f.kept > maxHeads {
			t.Fatalf("%d bytes are kept", f.kept)
		}
	}
	if f.take("POST /q/messages") == nil {
		t.Error("nothing is kept")
	}
	for name, text := range map[string]string{
		"line": strings.Repeat("x", maxHeads+1), "lines": "GET / HTTP/1.1\r\n" + strings.Repeat("a: b\r\n", maxHeads/4),
		"no HTTP": "hello\r\n", "HTTP/2": "PRI * HTTP/2.0\r\n", "tunnel": "CONNECT h:1 HTTP/1.1\r\n",
		"upgrade":  "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
		"no chunk": "POST /messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"trailers": "POST /messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("a: b\r\n", maxHeads/4),
	} {
		var f follower
		f.feed([]byte(text))
		if f.state != lost {
			t.Errorf("%s: state %d", name, f.state)
		}
		f.feed([]byte("POST /q/messages HTTP/1.1\r\na: b\r\n\r\n"))
		if len(f.heads) > 1 || len(f.line) > 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func FuzzFollower(f *testing.F) {
	f.Add([]byte(stream), 7)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		var whole, parts follower
		whole.feed(b)
		at = min(max(at, 0), len(b))
		parts.feed(b[:at])
		parts.feed(b[at:])
		if len(whole.heads) != len(parts.heads) || whole.state != parts.state || whole.kept > maxHeads {
			t.Errorf("%+v, in parts %+v", whole, parts)
		}
	})
}
