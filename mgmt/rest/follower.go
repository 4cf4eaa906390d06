package rest

import (
	"bytes"
	"net/textproto"
	"strconv"
	"strings"
)

// maxHeads bounds the heads that a connection keeps, in bytes. The server accepts less for one request and what it
// reads ahead.
const maxHeads = 128 << 10

// follower finds the heads of requests in the bytes of a connection [RFC 9112]. It need not be strict: the server
// refuses malformed requests and ends the connection. When it can't follow any longer it gives up.
type follower struct {
	state followState
	line  []byte // beginning of an incomplete line
	left  int64  // bytes left of the body or the chunk

	first   bool // the request line has been read
	keep    bool // the request may be a send
	size    int  // bytes of the current head
	length  int64
	chunked bool
	upgrade bool // to a WebSocket, the only protocol that the server changes to
	current head

	heads []head // of possible sends, until take or drop, oldest first
	kept  int    // their size in bytes
}

// head has the kept parts of a request's head.
type head struct {
	request string // method and target
	names   []string
	size    int
}

type followState uint8

const (
	inHead    followState = iota
	inBody                // a body, or the data of a chunk
	inSize                // the line with the size of a chunk
	afterData             // the line end behind a chunk
	inTrailer
	lost
)

// feed takes the next bytes of the connection.
func (f *follower) feed(b []byte) {
	for len(b) > 0 && f.state != lost {
		if f.state == inBody {
			n := min(f.left, int64(len(b)))
			b, f.left = b[n:], f.left-n
			if f.left == 0 {
				f.bodyEnded()
			}
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			f.line = append(f.line, b...)
			f.bound(len(b))
			return
		}
		line := b[:end]
		if len(f.line) > 0 {
			f.line = append(f.line, line...)
			line = f.line
		}
		f.bound(end + 1)
		if f.state != lost {
			f.takeLine(bytes.TrimSuffix(line, []byte("\r")))
		}
		f.line = f.line[:0]
		b = b[end+1:]
	}
}

// bound counts bytes of a head or a chunk's lines, and gives up when there are more than the server accepts.
func (f *follower) bound(n int) {
	if f.size += n; f.size > maxHeads {
		*f = follower{state: lost}
	}
}

func (f *follower) bodyEnded() {
	if f.chunked {
		f.state, f.size = afterData, 0
		return
	}
	f.nextRequest()
}

func (f *follower) nextRequest() {
	*f = follower{heads: f.heads, kept: f.kept, line: f.line}
}

func (f *follower) takeLine(line []byte) {
	switch f.state {
	case inHead:
		f.headLine(line)
	case inSize:
		f.chunkSize(line)
	case afterData:
		f.state = inSize
	case inTrailer:
		if len(line) == 0 {
			f.nextRequest()
		}
	}
}

func (f *follower) headLine(line []byte) {
	switch {
	case !f.first && len(line) == 0: // empty lines may precede a request
	case !f.first:
		f.requestLine(string(line))
	case len(line) == 0:
		f.headEnded()
	case line[0] == ' ' || line[0] == '\t': // a continuation of the last field
	default:
		f.field(line)
	}
}

func (f *follower) requestLine(line string) {
	method, rest, _ := strings.Cut(line, " ")
	target, version, ok := strings.Cut(rest, " ")
	if !ok || method == "CONNECT" || !strings.HasPrefix(version, "HTTP/1.") {
		f.state = lost
		return
	}
	f.first = true
	f.keep = method == "POST" && strings.Contains(strings.ToLower(target), "messages")
	f.current.request = method + " " + target
}

func (f *follower) field(line []byte) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return
	}
	if f.keep {
		f.current.names = append(f.current.names, string(name))
	}
	switch strings.ToLower(string(name)) {
	case "content-length":
		f.length, _ = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
	case "transfer-encoding":
		f.chunked = true
	case "upgrade": // Java's client offers HTTP/2 this way; the server ignores that
		f.upgrade = f.upgrade || bytes.Contains(bytes.ToLower(value), []byte("websocket"))
	}
}

// headEnded keeps the head of a possible send and finds out where the next one begins.
func (f *follower) headEnded() {
	if f.keep {
		f.current.size = f.size
		f.heads, f.kept = append(f.heads, f.current), f.kept+f.size
		for f.kept > maxHeads {
			f.drop(1)
		}
	}
	f.current = head{}
	f.size = 0
	f.first = false
	switch {
	case f.upgrade:
		f.state = lost // the rest need not be HTTP
	case f.chunked:
		f.state = inSize
	case f.length > 0:
		f.state, f.left = inBody, f.length
	default:
		f.nextRequest()
	}
}

func (f *follower) chunkSize(line []byte) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 62)
	switch {
	case err != nil:
		f.state = lost
	case n == 0:
		f.state, f.size = inTrailer, 0
	default:
		f.state, f.size = inBody, 0
		f.left = int64(n)
	}
}

// drop forgets the n oldest heads.
func (f *follower) drop(n int) {
	for _, h := range f.heads[:n] {
		f.kept -= h.size
	}
	f.heads = append([]head(nil), f.heads[n:]...)
}

func (f *follower) take(request string) map[string]string {
	for i, h := range f.heads {
		if h.request != request {
			continue
		}
		f.drop(i + 1)
		names := make(map[string]string, len(h.names))
		for _, name := range h.names {
			canonical := textproto.CanonicalMIMEHeaderKey(name)
			if _, again := names[canonical]; !again {
				names[canonical] = name
			}
		}
		return names
	}
	return nil
}
