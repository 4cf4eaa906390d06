package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// unhurried is a transport whose end comes only when every request that was read has its answer. The SDK cancels
// them at the end of the input otherwise, so a file of requests would get few answers.
type unhurried struct{ mcp.Transport }

// Connect connects.
func (t unhurried) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &unhurriedConn{Connection: c, open: make(map[jsonrpc.ID]bool), closed: make(chan struct{}),
		answered: make(chan struct{}, 1)}, nil
}

// unhurriedConn counts requests and answers.
type unhurriedConn struct {
	mcp.Connection
	answered chan struct{} // has a token after an answer
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // requests that have no answer yet
}

// Read returns the next message, and the error that ends the input once all requests are answered or the connection
// is closed.
func (c *unhurriedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.mu.Lock()
		c.open[r.ID] = true
		c.mu.Unlock()
	}
	for err != nil && c.waiting() {
		select {
		case <-c.answered:
		case <-c.closed:
			return m, err
		case <-ctx.Done():
			return m, err
		}
	}
	return m, err
}

func (c *unhurriedConn) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// Write writes a message.
func (c *unhurriedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, r.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default: // Read looks anyway
		}
	}
	return err
}

// Close closes the connection.
func (c *unhurriedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
