package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// lastWords is how long a client may take to notice that the broker has closed.
const lastWords = 3 * time.Second

// proxy passes connections on to the current broker, and can break them.
type proxy struct {
	listener net.Listener
	group    sync.WaitGroup

	mu      sync.Mutex
	backend string
	pairs   map[*pair]struct{}
	closed  bool
}

// pair is a client's connection and the matching one to the broker.
type pair struct{ client, broker *net.TCPConn }

func newProxy() (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the proxy: %w", err)
	}
	p := &proxy{listener: listener, pairs: make(map[*pair]struct{})}
	p.group.Go(p.accept)
	return p, nil
}

// port returns the port for clients.
func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// aim sets the broker's address.
func (p *proxy) aim(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backend = addr
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		p.group.Go(func() { p.serve(client.(*net.TCPConn)) })
	}
}

func (p *proxy) serve(client *net.TCPConn) {
	defer func() { _ = client.Close() }()
	p.mu.Lock()
	backend := p.backend
	p.mu.Unlock()
	broker, err := net.DialTimeout("tcp", backend, 5*time.Second)
	if err != nil {
		return // the client sees its connection end, as without the proxy
	}
	defer broker.Close()
	both := &pair{client, broker.(*net.TCPConn)}
	if !p.add(both) {
		return
	}
	defer p.remove(both)
	var up sync.WaitGroup
	up.Go(func() {
		pass(both.broker, client)
		// Closing a connection with unread input would reset it, and lose what the broker sent last.
		_, _ = io.Copy(io.Discard, client)
	})
	pass(client, both.broker)
	_ = client.SetReadDeadline(time.Now().Add(lastWords))
	up.Wait()
}

// pass copies one direction, then closes it. Everything that the source sent arrives before the end does.
func pass(to, from *net.TCPConn) {
	_, _ = io.Copy(to, from) // the end of either side ends the copy, with any error
	_ = to.CloseWrite()
}

func (p *proxy) add(both *pair) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.pairs[both] = struct{}{}
	}
	return !p.closed
}

func (p *proxy) remove(both *pair) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, both)
}

// breakSome resets each connection with this probability, on both sides, and returns how many it reset.
func (p *proxy) breakSome(probability float64) (broken int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for both := range p.pairs {
		if rand.Float64() < probability {
			both.reset()
			broken++
		}
	}
	return broken
}

// reset closes both sides with a TCP reset, which loses what is on its way.
func (both *pair) reset() {
	for _, conn := range []*net.TCPConn{both.client, both.broker} {
		_ = conn.SetLinger(0)
		_ = conn.Close()
	}
}

// close ends everything and waits for it.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.breakSome(1)
	p.group.Wait()
}
