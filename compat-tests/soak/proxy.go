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

// proxy passes connections on to the broker of the moment, and can break them.
type proxy struct {
	listener net.Listener
	group    sync.WaitGroup

	mu      sync.Mutex
	backend string
	pairs   map[*pair]struct{}
	closed  bool
}

// pair is a client's connection and the one to the broker.
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

// port is where clients connect.
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
		return // the client sees the end of its connection, as without the proxy
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
		// To close a connection with something unread in it would reset it, and what the broker said last would be lost.
		_, _ = io.Copy(io.Discard, client)
	})
	pass(client, both.broker)
	_ = client.SetReadDeadline(time.Now().Add(lastWords))
	up.Wait()
}

// pass copies one direction and its end. All that the source sent arrives before the end does.
func pass(to, from *net.TCPConn) {
	_, _ = io.Copy(to, from) // the end of either side ends the copy, whatever its name
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

// breakSome resets connections on both sides, each with this probability, and returns how many.
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

// reset closes both sides with a TCP reset: what is on its way is lost.
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
