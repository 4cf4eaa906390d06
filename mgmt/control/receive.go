package control

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/mgmt/control/api"
	"minibus/mgmt/control/receive"
)

// longestWait is how long a request waits at most.
const longestWait = time.Minute

// receiveBytes is the size of messages from which on a receive takes no more.
const receiveBytes = 16 << 20

// Waiting is an argument of operations that wait.
type Waiting string

// duration returns how long to wait; the document's pattern has been checked.
func (w Waiting) duration() (time.Duration, error) {
	if w == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(string(w))
	if err != nil || d > longestWait {
		return 0, badRequest("wait: %q is not a time of at most 60s.", string(w))
	}
	return d, nil
}

// receiving says what to receive.
type receiving struct {
	Max             int     `json:"max,omitempty" minimum:"1" maximum:"64" default:"1"`
	Wait            Waiting `json:"wait,omitempty" pattern:"^[0-9]{1,5}(ms|s)$" default:"0s" example:"10s"`
	Mode            string  `json:"mode,omitempty" enum:"peekLock,receiveAndDelete" default:"peekLock"`
	Session         *string `json:"session,omitempty" doc:"The id of the session, on an entity that requires sessions"`
	SessionToken    string  `json:"sessionToken,omitempty" doc:"Of a session that an earlier receive has locked"`
	NextSession     bool    `json:"nextSession,omitempty" doc:"The next session that is free, instead of session"`
	SequenceNumbers []int64 `json:"sequenceNumbers,omitempty" nullable:"false" maxItems:"250"`
}

// receive registers the operations that receive and settle.
func (h *handler) receive() {
	receipt := h.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[api.Receipt](), true, "")
	register(h, "receiveMessages", "POST "+oneEntity+"/receive", huma.Operation{
		Tags:      []string{"receive"},
		Responses: answered("OK", "application/json", receipt),
	}, h.receiveMessages, 200, 400, 404, 409)
	register(h, "settleMessages", "POST "+oneEntity+"/settle", tagged("receive"), h.settle, 204, 400, 404, 409, 413)
	register(h, "renewLocks", "POST "+oneEntity+"/renew", tagged("receive"), h.renew, 200, 400, 404, 409)
}

func (h *handler) receiveMessages(ctx context.Context, in *struct {
	AtEntity
	Body receiving
}) (*huma.StreamResponse, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	mode := emulator.PeekLock
	if in.Body.Mode == "receiveAndDelete" {
		mode = emulator.ReceiveAndDelete
	}
	wait, err := in.Body.Wait.duration()
	if err != nil {
		return nil, err
	}
	w, end, err := in.Body.waiter(h, e, sub, mode, in.client)
	if err != nil {
		return nil, err
	}
	ds, err := in.Body.from(ctx, w, wait, func(holder *emulator.Consumer) ([]*emulator.Delivery, error) {
		return deferred(e, sub, in.Body.SequenceNumbers, mode, holder, in.client)
	})
	keep := in.Body.SessionToken != "" || len(ds) > 0 && mode == emulator.PeekLock
	text, done, err := h.writtenReceipt(ctx, w, ds, keep, err)
	if ctx.Err() != nil {
		err = receive.ErrGone
	}
	if err != nil {
		w.Return(ds...)
		end()
		done()
	}
	if errors.Is(err, receive.ErrGone) {
		err = errGone()
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer done()
		_, rw := humago.Unwrap(ctx)
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if w.Hand(rw, http.StatusOK, text, ds...) && keep {
			end = w.Leave
		}
		end()
	}}, err
}

// waiter returns the waiter for what is to be received. end ends it if the receive fails.
func (r *receiving) waiter(
	h *handler, e *emulator.Entity, sub emulator.SubQueue, mode emulator.ReceiveMode, client *emulator.Client,
) (w *receive.Waiter, end func(), err error) {
	named := r.Session != nil
	switch {
	case !named && r.SessionToken == "" && !r.NextSession:
		w = receive.New(e, sub, mode, client)
	case named == r.NextSession || sub != emulator.Main:
		return nil, nil, badRequest("Name a session or ask for the next one, and not of a dead-letter queue, which " +
			"has no sessions.")
	case r.NextSession:
		w = receive.NewSession(e, mode, client, receive.Session{Next: true}, &h.held)
	case r.SessionToken == "":
		w = receive.NewSession(e, mode, client, receive.Session{ID: *r.Session}, &h.held)
	case mode != emulator.PeekLock:
		return nil, nil, badRequest("mode: a session that is locked already has the mode peekLock.")
	default:
		if w, err = h.held.Resume(e, *r.Session, r.SessionToken); err != nil {
			return nil, nil, err
		}
		return w, w.Leave, nil
	}
	return w, w.Close, nil
}

// from receives what the request asks for: active messages, or those that byNumber returns.
func (r *receiving) from(
	ctx context.Context, w *receive.Waiter, wait time.Duration,
	byNumber func(*emulator.Consumer) ([]*emulator.Delivery, error),
) ([]*emulator.Delivery, error) {
	if len(r.SequenceNumbers) == 0 {
		return r.next(ctx, w, wait)
	}
	var holder *emulator.Consumer
	if r.Session != nil || r.NextSession {
		var err error
		if holder, err = w.Open(ctx, wait); err != nil || holder == nil {
			return nil, err
		}
	}
	return byNumber(holder)
}

// receiveFactor is how many bytes of memory a byte of a received message takes: in the message, in base64 and in the
// answer.
const receiveFactor = 4

// writtenReceipt waits for the memory that [shownReceipt] takes, and also returns what gives it back.
func (h *handler) writtenReceipt(
	ctx context.Context, w *receive.Waiter, ds []*emulator.Delivery, keep bool, err error,
) ([]byte, func(), error) {
	size := int64(0)
	for _, d := range ds {
		size += int64(d.Size())
	}
	done := func() {}
	if err == nil {
		if enough, wrong := h.take(ctx, size*receiveFactor); wrong == nil {
			done = enough
		} else {
			err = wrong
		}
	}
	text, err := shownReceipt(w, ds, keep, err)
	return text, done, err
}

// shownReceipt returns the answer with deliveries of a waiter, and with its session if that is kept, unless there is
// an error already.
func shownReceipt(w *receive.Waiter, ds []*emulator.Delivery, keep bool, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	out := api.Receipt{Messages: make([]*messagejson.Message, len(ds))}
	for i, d := range ds {
		out.Messages[i] = shownReceived(d)
	}
	if id, token, until, ok := w.Session(); ok && keep {
		out.Session = &api.HeldSession{ID: id, Token: token, LockedUntil: instant(until)}
	}
	return json.Marshal(out)
}

// next receives active messages. It waits for the first one only.
func (r *receiving) next(
	ctx context.Context, w *receive.Waiter, wait time.Duration,
) (ds []*emulator.Delivery, err error) {
	for size := 0; len(ds) < r.Max && size < receiveBytes; size += ds[len(ds)-1].Size() {
		d, err := w.Next(ctx, wait)
		if err != nil && len(ds) > 0 && ctx.Err() != nil {
			w.Return(ds...)
			return nil, err
		}
		if d == nil { // what came before the end of the wait, or an error, is the client's
			if len(ds) > 0 {
				return ds, nil
			}
			return nil, err
		}
		ds, wait = append(ds, d), 0
	}
	return ds, nil
}

// deferred receives deferred messages. It takes none if they are too large together.
func deferred(
	e *emulator.Entity, sub emulator.SubQueue, seqs []int64, mode emulator.ReceiveMode, holder *emulator.Consumer,
	client *emulator.Client,
) (ds []*emulator.Delivery, err error) {
	size := int64(0)
	for _, seq := range seqs {
		if s, err := e.Messages().Get(sub, seq); err == nil { // ReceiveDeferred says what is missing
			size += s.Size
		}
	}
	if len(seqs) > 1 && size > receiveBytes {
		return nil, badRequest("sequenceNumbers: the messages have %d bytes together, and at most %d can be received "+
			"at once. Name fewer.", size, receiveBytes)
	}
	done := make(completion, 1)
	err = done.wait(e.ReceiveDeferred(sub, seqs, mode, holder, client, func(list []*emulator.Delivery, err error) {
		ds = list
		done.Completed(err)
	}))
	return ds, err
}

// errGone is the answer to a request that ended early.
func errGone() error {
	return newError(http.StatusServiceUnavailable, nil, "The server is shutting down, or the client has gone.")
}

// completion waits until the broker has made an operation durable.
type completion chan error

// Completed implements [emulator.Completion].
func (c completion) Completed(err error) { c <- err }

// wait returns the result of an operation whose start returned err.
func (c completion) wait(err error) error {
	if err != nil {
		return err
	}
	return <-c
}

// shownReceived returns a delivery as answers show it.
func shownReceived(d *emulator.Delivery) *messagejson.Message {
	raw := d.Append(nil)
	var r *messagejson.Message
	if m, err := message.Scan(raw); err == nil {
		r = messagejson.Of(&m, &m, -1)
	} else {
		r = messagejson.MalformedMessage(raw, err)
	}
	if t := d.Token(); t != (emulator.LockToken{}) {
		r.LockToken = t.String()
	}
	return r
}

// encodeProperties returns application properties that a request sets as an encoded map, nil if there are none.
func encodeProperties(p messagejson.Values, more ...amqp.Pair) ([]byte, error) {
	var list amqp.Map
	for _, name := range slices.Sorted(maps.Keys(p)) {
		v, err := messagejson.FromJSON(p[name])
		if err != nil {
			return nil, badRequest("properties: %q: %v.", name, err)
		}
		list = append(list, amqp.Pair{Key: name, Value: v})
	}
	encoded, err := message.EncodeProperties(append(list, more...))
	if err != nil {
		return nil, badRequest("properties: %v.", err)
	}
	return encoded, nil
}
