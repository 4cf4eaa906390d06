package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
)

// Times of a stream.
const (
	streamBatch    = 1000                   // events that are written together
	streamPause    = 100 * time.Millisecond // between batches, at least
	streamShare    = 300                    // the pause is so many times as long as its batch took
	longestPause   = 2 * time.Second
	heartbeat      = 15 * time.Second // a comment keeps proxies from closing a quiet stream
	streamPatience = 10 * time.Second // how long a reader may take for a write
)

// StreamStart says where a stream of events begins.
type StreamStart struct {
	From        int64 `query:"from" doc:"The number of the first event; without it those that come from now on"`
	LastEventID int64 `header:"Last-Event-ID" doc:"The last event that the client has got; browsers send it"`
}

// stream registers the live stream.
func (h *handler) stream() {
	register(h, "streamEvents", "GET namespaces/{namespace}/events", huma.Operation{
		Tags:      []string{"history"},
		Responses: answered("The stream", "text/event-stream", &huma.Schema{Type: huma.TypeString}),
	}, h.streamEvents, 200, 400, 404, 409)
}

func (h *handler) streamEvents(_ context.Context, in *struct {
	InNamespace
	Selecting
	OfMessage
	StreamStart
}) (*huma.StreamResponse, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	f, err := in.filter(in.MessageID)
	if err != nil {
		return nil, err
	}
	if ns.History().Record() == nil {
		return nil, newError(http.StatusConflict, nil, "No history is kept. Start Minibus without --history off.")
	}
	_, next := ns.History().Record().Events(0)
	switch {
	case in.LastEventID > 0:
		next = in.LastEventID + 1
	case in.From > 0:
		next = in.From
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		_, w := humago.Unwrap(ctx)
		s := &eventStream{w: w, c: http.NewResponseController(w), ns: ns, filter: f, next: next}
		_ = s.run(ctx.Context()) // the client is gone if this fails
		if errors.Is(context.Cause(ctx.Context()), ErrTokenExpired) {
			_ = s.comment("the token has expired")
		}
	}}, nil
}

// eventStream is a stream to one client.
type eventStream struct {
	w      http.ResponseWriter
	c      *http.ResponseController
	ns     *emulator.Namespace
	filter emulator.EventFilter
	next   int64 // number of the first event that the client has not got
	batch  bytes.Buffer
	took   time.Duration // to make the last batch
}

// run writes events until the client, the namespace or the server is gone.
func (s *eventStream) run(ctx context.Context) error {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
	if err := s.comment("what happens in " + s.ns.Name()); err != nil {
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		changed, done := s.ns.History().Record().Changed(s.next)
		err := s.wait(ctx, changed, beat.C)
		done()
		if err == nil {
			err = s.catchUp()
		}
		if err == nil {
			err = s.pause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// pause lets events gather.
func (s *eventStream) pause(ctx context.Context) error {
	select {
	case <-time.After(min(max(streamPause, streamShare*s.took), longestPause)):
	case <-s.ns.Deleted():
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// wait waits for an event.
func (s *eventStream) wait(ctx context.Context, changed <-chan struct{}, beat <-chan time.Time) error {
	for {
		select {
		case <-changed:
			return nil
		case <-beat:
			if err := s.comment("still here"); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ns.Deleted():
			return errors.Join(s.comment("the namespace was deleted"), http.ErrServerClosed)
		}
	}
}

// catchUp writes the events that there are.
func (s *eventStream) catchUp() error {
	if missed := s.ns.History().Record().Oldest() - s.next; missed > 0 {
		if err := s.write("", "missed", map[string]int64{"count": missed}); err != nil {
			return err
		}
		s.next += missed
	}
	began, n := time.Now(), 0
	events, next := s.ns.History().Events(s.next, s.filter)
	for e := range events {
		if n++; n > streamBatch {
			next = e.Number
			break
		}
		if err := s.write(fmt.Sprintf("id: %d\n", e.Number), "event", shownEvent(&e)); err != nil {
			return err
		}
	}
	s.next, s.took = next, time.Since(began)
	return s.flush()
}

// write adds an event to the batch.
func (s *eventStream) write(id, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(&s.batch, "%sevent: %s\ndata: %s\n\n", id, name, text)
	return err
}

func (s *eventStream) comment(text string) error {
	_, _ = fmt.Fprintf(&s.batch, ": %s\n\n", text) // memory
	return s.flush()
}

// flush writes the batch.
func (s *eventStream) flush() error {
	_ = s.c.SetWriteDeadline(time.Now().Add(streamPatience))
	_, err := s.batch.WriteTo(s.w)
	return errors.Join(err, s.c.Flush())
}
