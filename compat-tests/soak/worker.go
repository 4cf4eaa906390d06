package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

const (
	operationLimit = 25 * time.Second // a broker that has not answered by then never will
	receiveWait    = 400 * time.Millisecond
	closeWait      = 2 * time.Second
	pause          = 4 * time.Millisecond // between two operations of a worker
)

// load holds the workers of one stretch of work.
type load struct {
	s        *soak
	ctx      context.Context
	cancel   context.CancelFunc
	stopping atomic.Bool
	group    sync.WaitGroup

	mu      sync.Mutex
	clients map[*azservicebus.Client]*worker
}

func newLoad(s *soak) *load {
	ctx, cancel := context.WithCancel(context.Background())
	return &load{s: s, ctx: ctx, cancel: cancel, clients: make(map[*azservicebus.Client]*worker)}
}

// stop ends all workers: at once if the broker is gone, else when they have settled their messages.
func (l *load) stop(gone bool) {
	l.stopping.Store(true)
	done := make(chan struct{})
	go func() { l.group.Wait(); close(done) }()
	if !gone {
		select {
		case <-done:
		case <-time.After(operationLimit):
		}
	}
	l.cancel()
	// In go-amqp 1.7 a send whose frame could not be written waits until its link is closed, whatever its context says.
	l.mu.Lock()
	clients := l.clients
	l.clients = nil
	l.mu.Unlock()
	closeAll(slices.Collect(maps.Keys(clients)))
	<-done
}

// letGo closes the clients of workers that were waiting for an answer when connections were broken, since before a
// time. In go-amqp 1.7 they may wait for ever.
func (l *load) letGo(since time.Time) {
	l.mu.Lock()
	var stuck []*azservicebus.Client
	for client, w := range l.clients {
		if busy := w.busy.Load(); busy != 0 && busy < since.UnixNano() {
			stuck = append(stuck, client)
		}
	}
	l.mu.Unlock()
	for _, client := range stuck { // without waiting: they may take as long as the fault
		l.group.Go(func() { closeClient(client) })
	}
}

// worker is one goroutine of the load with its own client.
type worker struct {
	*soak
	l      *load
	name   string
	client *azservicebus.Client
	opened time.Time    // when the client was made
	began  time.Time    // when the current operation began
	busy   atomic.Int64 // the same for other goroutines, in nanoseconds; 0: no operation
}

// goWork runs work until the load stops. After an error it starts again with a new connection.
func (l *load) goWork(name string, work func(*worker) error) {
	w := &worker{soak: l.s, l: l, name: fmt.Sprintf("%s%d", name, l.s.life)}
	l.group.Go(func() {
		for !w.over() {
			w.began = time.Now()
			err := w.connect()
			if err == nil {
				err = work(w)
				w.disconnect()
			}
			if err != nil && !w.over() {
				w.failed(err)
				time.Sleep(50*time.Millisecond + rand.N(100*time.Millisecond))
			}
		}
	})
}

// over reports whether the worker is to end.
func (w *worker) over() bool { return w.l.stopping.Load() }

func (w *worker) connect() error {
	client, err := w.newClient()
	if err != nil {
		return err
	}
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	if w.l.clients == nil {
		return context.Canceled
	}
	w.l.clients[client] = w
	w.client, w.opened = client, time.Now()
	return nil
}

func (w *worker) disconnect() {
	if w.client == nil {
		return
	}
	w.l.mu.Lock()
	delete(w.l.clients, w.client)
	w.l.mu.Unlock()
	closeClient(w.client)
}

// keepConnection leaves the worker's client open after the load's end, until the checkpoint is over.
func (w *worker) keepConnection() {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	delete(w.l.clients, w.client)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, w.client)
	w.client = nil
}

// closeKept closes the clients that keepConnection left open.
func (s *soak) closeKept() {
	s.mu.Lock()
	kept := s.kept
	s.kept = nil
	s.mu.Unlock()
	closeAll(kept)
}

// closeAll closes clients at the same time, since one may take a while.
func closeAll(clients []*azservicebus.Client) {
	var group sync.WaitGroup
	for _, client := range clients {
		group.Go(func() { closeClient(client) })
	}
	group.Wait()
}

func closeClient(client *azservicebus.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = client.Close(ctx) // the broker may be gone
}

// id makes a new id.
func (w *worker) id() string { return fmt.Sprintf("%s.%d", w.name, w.tally.ids.Add(1)) }

// try runs an operation that the broker has to answer.
func (w *worker) try(operation func(context.Context) error) error {
	w.began = time.Now()
	w.busy.Store(w.began.UnixNano())
	defer w.busy.Store(0)
	ctx, cancel := context.WithTimeout(w.l.ctx, operationLimit)
	defer cancel()
	client := w.client
	guard := time.AfterFunc(operationLimit+time.Second, func() { closeClient(client) })
	defer guard.Stop()
	return operation(ctx)
}

// take receives messages, or none if none come.
func (w *worker) take(from source, most int) ([]*azservicebus.ReceivedMessage, error) {
	w.began = time.Now()
	ctx, cancel := context.WithTimeout(w.l.ctx, receiveWait)
	defer cancel()
	messages, err := from.ReceiveMessages(ctx, most, nil)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return messages, nil
	}
	w.tally.received.Add(int64(len(messages)))
	return messages, err
}

// source is a receiver, with or without a session.
type source interface {
	ReceiveMessages(ctx context.Context, most int, o *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
}

// failed judges an error. It is a finding unless a fault explains it. No fault explains a missing answer while the
// connection stands.
func (w *worker) failed(err error) {
	w.tally.errors.Add(1)
	took := time.Since(w.began)
	switch {
	case strings.Contains(err.Error(), "connection must be reset"): // the SDK's own error if a context ends while it opens a link
	case took >= operationLimit && !w.trouble.brokenSince(w.began):
		w.find("%s: no answer for %v: %v", w.name, took.Round(time.Second), err)
	case !w.trouble.excuses(w.began):
		w.find("%s: failed without a reason: %v", w.name, err)
	}
}
