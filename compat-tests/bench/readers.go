package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// readers are ten that look at the broker through the control API while a run lasts, as the windows of people do: two
// of each kind. They throw away what they get, so that their own work costs little.
type readers struct {
	base   string // of the namespace
	queue  string
	client *http.Client
	asked  int // requests that were answered
	failed error

	mu   sync.Mutex
	stop context.CancelFunc
	done sync.WaitGroup
}

// lookEvery is how often a reader asks that does not follow a stream.
const lookEvery = time.Second

// startReaders sets ten readers on a queue, or none without an address.
func startReaders(ctx context.Context, address, queue string) *readers {
	ctx, stop := context.WithCancel(ctx)
	r := &readers{base: address + "/$minibus/v1/namespaces/$default/", queue: queue, client: &http.Client{}, stop: stop}
	if address == "" {
		return r
	}
	for range 2 {
		for _, path := range []string{"entities/" + queue + "/messages?limit=100", "entities", "history?order=newest&entity=" + queue, "history/life?messageId=none"} {
			r.done.Go(func() { r.poll(ctx, path) })
		}
		r.done.Go(func() { r.note(ctx, r.get(ctx, "events?entity="+queue)) })
	}
	return r
}

// poll asks again and again.
func (r *readers) poll(ctx context.Context, path string) {
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for ctx.Err() == nil {
		r.note(ctx, r.get(ctx, path))
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}

// get reads an answer to its end.
func (r *readers) get(ctx context.Context, path string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, nil)
	if err != nil {
		return err
	}
	answer, err := r.client.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func (r *readers) note(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.asked++
	} else if ctx.Err() == nil {
		r.failed = err
	}
}

// end stops the readers. It fails if one of them did.
func (r *readers) end() error {
	r.stop()
	r.done.Wait()
	return r.failed
}
