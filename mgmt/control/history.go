package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/mgmt/control/api"
)

// Selecting are arguments that select events.
type Selecting struct {
	Entity   string    `query:"entity" doc:"Of an entity or a sub-queue, such as orders/$DeadLetterQueue"`
	Sequence int64     `query:"sequenceNumber" doc:"Of the message with the number, in the entity"`
	Client   string    `query:"client" doc:"Of a client: the id of its connection, its container or its address"`
	Kinds    []string  `query:"kind" doc:"Of these kinds, with commas between"`
	Since    time.Time `query:"since"`
	Before   time.Time `query:"before"`
}

// OfMessage is the argument that selects events by a message's id.
type OfMessage struct {
	MessageID string `query:"messageId" doc:"Of messages that came with the id"`
}

// filter returns what the arguments select.
func (in Selecting) filter(messageID string) (emulator.EventFilter, error) {
	f := emulator.EventFilter{Sequence: in.Sequence, MessageID: messageID, Client: in.Client}
	if in.Entity != "" {
		path, sub := entitypath.CutSubQueue(in.Entity)
		f.Entity = path
		if path != in.Entity {
			f.Sub = &sub
		}
	}
	if !in.Since.IsZero() {
		f.Since = in.Since.UnixMilli()
	}
	if !in.Before.IsZero() {
		f.Before = end(in.Before)
	}
	for _, name := range in.Kinds {
		kind, ok := kindNamed(name)
		if !ok {
			return f, badRequest("There is no event %q. There are %s.", name, strings.Join(eventKinds(), ", "))
		}
		f.Kinds = append(f.Kinds, kind)
	}
	return f, nil
}

// kindNames are the kinds as the API names them: lock expired is lockExpired.
var kindNames = func() (names []string) {
	for k := emulator.EventNone; k <= emulator.LastEventKind; k++ {
		names = append(names, camel(k))
	}
	return names
}()

func kindName(k emulator.EventKind) string { return kindNames[k] }

func camel(k emulator.EventKind) string {
	words := strings.FieldsFunc(k.String(), func(r rune) bool { return r == ' ' || r == '-' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// kindNamed returns the kind with a name, case-insensitively.
func kindNamed(name string) (emulator.EventKind, bool) {
	for _, k := range eventKinds() {
		if strings.EqualFold(k, name) {
			return emulator.EventKind(slices.Index(kindNames, k)), true
		}
	}
	return 0, false
}

// eventKinds returns the names of all kinds of events.
func eventKinds() []string { return kindNames[emulator.EventSent:] }

// history registers the operations on what happened.
func (h *handler) history() {
	register(h, "listHistory", "GET namespaces/{namespace}/history", tagged("history"), h.listHistory, 200, 400, 404)
	register(h, "getLife", "GET namespaces/{namespace}/history/life", tagged("history"), h.life, 200, 400, 404)
}

// HistoryOrder are the arguments of a list of events.
type HistoryOrder struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"The most items of a page"`
	Cursor int64  `query:"cursor" doc:"What the page before had in next"`
	Order  string `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first"`
}

func (h *handler) listHistory(_ context.Context, in *struct {
	InNamespace
	Selecting
	OfMessage
	HistoryOrder
}) (*struct{ Body api.HistoryPage }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	f, err := in.filter(in.MessageID)
	if err != nil {
		return nil, err
	}
	var out struct{ Body api.HistoryPage }
	out.Body.Oldest = ns.History().Record().Oldest()
	var items []emulator.Event
	if in.Order == "newest" {
		items, out.Body.Next = newest(ns, f, in.Cursor, in.Limit)
	} else {
		events, next := ns.History().Events(in.Cursor, f)
		items, out.Body.Next = oldest(events, next, in.Limit)
	}
	out.Body.Items = shownEvents(ns, items)
	return &out, nil
}

// oldest returns the first events, and from where to go on.
func oldest(events iter.Seq[emulator.Event], next int64, limit int) (items []emulator.Event, _ int64) {
	for e := range events {
		if len(items) == limit {
			return items, e.Number
		}
		items = append(items, e)
	}
	return items, next
}

// newest returns the last events before a number, the last one first, and before which to go on. Without a number it
// takes the last of all.
func newest(ns *emulator.Namespace, f emulator.EventFilter, before int64, limit int) (items []emulator.Event, _ int64) {
	for e := range ns.History().EventsBack(before, f) {
		if items = append(items, e); len(items) == limit {
			break
		}
	}
	if len(items) == 0 {
		return items, before
	}
	return items, items[len(items)-1].Number
}

func (h *handler) life(_ context.Context, in *struct {
	InNamespace
	OfMessage
	Entity   string `query:"entity"`
	Sequence int64  `query:"sequenceNumber"`
}) (*struct{ Body api.HistoryPage }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	if in.MessageID == "" && (in.Entity == "" || in.Sequence == 0) {
		return nil, badRequest("Which message? Give messageId, or entity and sequenceNumber.")
	}
	f, err := Selecting{Entity: in.Entity, Sequence: in.Sequence}.filter(in.MessageID)
	if err != nil {
		return nil, err
	}
	var out struct{ Body api.HistoryPage }
	out.Body.Oldest = ns.History().Record().Oldest()
	out.Body.Items = shownEvents(ns, ns.History().Life(f))
	if n := len(out.Body.Items); n > 0 {
		out.Body.Next = out.Body.Items[n-1].Number + 1
	}
	return &out, nil
}

// shownEvents returns events as answers show them, each with the id of its message.
func shownEvents(ns *emulator.Namespace, events []emulator.Event) []api.Event {
	ns.History().Name(events)
	items := make([]api.Event, len(events))
	for i := range events {
		items[i] = shownEvent(&events[i])
	}
	return items
}

// shownEvent returns an event as answers show it.
func shownEvent(e *emulator.Event) api.Event {
	out := api.Event{
		Number:         e.Number,
		Time:           instant(e.At),
		Kind:           kindName(e.Kind),
		Entity:         e.Entity,
		SubQueue:       e.Sub.Name(),
		SequenceNumber: e.Sequence,
		NewNumber:      e.NextSequence,
		FirstNumber:    e.FirstSequence,
		DeliveryCount:  int64(e.DeliveryCount),
		MessageID:      e.MessageID,
		Detail:         e.Text,
		Client:         shownClient(e.Client),
		Text:           e.String(),
	}
	if e.Topic {
		out.Copies = &e.Copies
	}
	until := instant(e.Until)
	switch {
	case e.Until == 0:
	case e.Kind == emulator.EventScheduled, e.Kind == emulator.EventRescheduled:
		out.ScheduledFor = &until
	default:
		out.LockedUntil = &until
	}
	return out
}

// shownClient returns a client as answers show it, nil for none.
func shownClient(w *emulator.Client) *api.Client {
	if w == nil {
		return nil
	}
	return &api.Client{
		Connection: w.Connection,
		Link:       w.Link,
		Container:  w.Container,
		Product:    w.Product,
		Remote:     w.Remote,
	}
}

// latest is the last instant that JSON has a form for [RFC 3339 5.6]. Messages may be scheduled for later ones.
var latest = time.Date(9999, time.December, 31, 23, 59, 59, 999e6, time.UTC)

// instant returns an instant in milliseconds as a time: the latest for one after it.
func instant(ms int64) time.Time { return shownTime(time.UnixMilli(ms)) }

// shownTime returns a time as answers show it: the latest for one after it.
func shownTime(t time.Time) time.Time {
	if t.After(latest) {
		return latest
	}
	return t.UTC()
}

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
	began := time.Now()
	events, next := s.ns.History().Events(s.next, s.filter)
	items, next := oldest(events, next, streamBatch)
	for _, e := range shownEvents(s.ns, items) {
		if err := s.write(fmt.Sprintf("id: %d\n", e.Number), "event", e); err != nil {
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
