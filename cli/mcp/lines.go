package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goodLines reads the lines of an assistant that are messages, and answers each other one with an error, as JSON-RPC
// demands. The transport of the SDK would end the connection instead.
type goodLines struct {
	in      *bufio.Reader
	out     io.Writer // takes whole lines, from several goroutines
	longest int       // bytes of a line
	rest    []byte    // of the line that is being read out
}

func newGoodLines(in io.Reader, out io.Writer) *goodLines {
	return &goodLines{in: bufio.NewReader(in), out: out, longest: mcp.DefaultMaxLineLength - 1}
}

// Read implements io.Reader.
func (g *goodLines) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		line, tooLong, err := g.line()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return 0, err
		}
		if code, wrong := check(line, tooLong); wrong != "" {
			if err := g.refuse(code, wrong); err != nil {
				return 0, err
			}
		} else if len(line) > 0 {
			g.rest = append(line, '\n')
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// Close implements io.Closer. The input stays open.
func (*goodLines) Close() error { return nil }

// line returns the next line without spaces around it. Of one that is too long it keeps the beginning.
func (g *goodLines) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := g.in.ReadSlice('\n')
		if space := g.longest - len(line); len(part) > space {
			part, tooLong = part[:space], true
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), tooLong, err
		}
	}
}

// check says what is wrong with a line; an empty text if nothing is. A batch is wrong if one of its messages is: the
// SDK ends the connection for it.
func check(line []byte, tooLong bool) (code int64, wrong string) {
	switch {
	case tooLong:
		return jsonrpc.CodeInvalidRequest, "The line is too long."
	case len(line) == 0:
		return 0, ""
	case !json.Valid(line):
		return jsonrpc.CodeParseError, "The line is not JSON. Each line is one message of JSON-RPC 2.0."
	}
	messages := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &messages); err != nil || len(messages) == 0 {
			return jsonrpc.CodeInvalidRequest, "The batch has no message."
		}
	}
	for _, m := range messages {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return jsonrpc.CodeInvalidRequest, "The line is no message of JSON-RPC 2.0: " + err.Error()
		}
	}
	return 0, ""
}

// refuse answers a line. Nobody knows to which request it belongs, so the answer has no id.
func (g *goodLines) refuse(code int64, wrong string) error {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil,
		"error": jsonrpc.Error{Code: code, Message: wrong}})
	if err != nil {
		return err
	}
	_, err = g.out.Write(append(answer, '\n'))
	return err
}

// wholeWrites lets several goroutines write, one after the other. It keeps the standard output open.
type wholeWrites struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (w *wholeWrites) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// Close does nothing.
func (*wholeWrites) Close() error { return nil }
