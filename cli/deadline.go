package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// usualTimeout is how long a command waits for an answer, unless --timeout says.
const usualTimeout = time.Minute

// streamSilence is longer than a stream of events is silent: it has a comment every 15 seconds.
const streamSilence = 45 * time.Second

// mostAnswer is more than an answer has, in bytes: a body of 100 MiB is the longest. A stream of events may have any
// number.
const mostAnswer = 128 << 20

// silenceError is the error of a server that does not answer in time.
type silenceError struct{ after time.Duration }

func (s *silenceError) Error() string { return fmt.Sprintf("no answer in %v", s.after) }

// NonRetriable tells the SDK that another try would be as long.
func (s *silenceError) NonRetriable() {}

// errEndless is the error of an answer that does not end.
var errEndless = errors.New("the answer is endless")

// requestLimits holds the limits of one request, in its context.
type requestLimits struct {
	least  time.Duration // how long the answer may take, unless --timeout says
	pieces bool          // the answer may take as long as it likes, but for a silence as long as that
	stream bool          // it may be of any length too
}

type requestLimitsKey struct{}

func withLimits(ctx context.Context, l requestLimits) context.Context {
	return context.WithValue(ctx, requestLimitsKey{}, l)
}

// timeout returns how long an answer may take, if there is a reason why it takes this long.
func (a *app) timeout(least time.Duration) time.Duration {
	if a.flags.timeout == "" {
		return max(usualTimeout, least)
	}
	d, _ := parseDuration(a.flags.timeout) // begin has checked it
	return d
}

// boundedTransport ends requests whose answer does not come, or does not end.
type boundedTransport struct {
	next http.RoundTripper
	app  *app
}

// RoundTrip implements http.RoundTripper.
func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	p, _ := r.Context().Value(requestLimitsKey{}).(requestLimits)
	longest := t.app.timeout(p.least)
	if p.stream {
		longest = max(longest, streamSilence)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	b := &boundedBody{ctx: ctx, cancel: cancel, requestLimits: p, longest: longest}
	b.timer = time.AfterFunc(longest, func() { cancel(&silenceError{longest}) })
	answer, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		err = b.explain(err)
		b.end()
		return nil, err
	}
	b.ReadCloser, answer.Body = answer.Body, b
	return answer, nil
}

// boundedBody is the body of an answer, of which only so much is read, and only for so long.
type boundedBody struct {
	io.ReadCloser
	requestLimits

	ctx     context.Context
	cancel  context.CancelCauseFunc
	longest time.Duration
	timer   *time.Timer
	read    int64
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.read += int64(n); b.read > mostAnswer && !b.stream {
		return 0, errEndless
	}
	if b.pieces && n > 0 && b.ctx.Err() == nil {
		b.timer.Reset(b.longest)
	}
	return n, b.explain(err)
}

// explain returns the silence that made a request fail, or else its own error.
func (b *boundedBody) explain(err error) error {
	var s *silenceError
	if err != nil && errors.As(context.Cause(b.ctx), &s) {
		return s
	}
	return err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

func (b *boundedBody) end() {
	b.timer.Stop()
	b.cancel(nil)
}

// almost is how much earlier than its context a connection may give up.
const almost = 20 * time.Millisecond

// within asks over AMQP, for as long as an answer may take.
func within[T any](ctx context.Context, a *app, ask func(context.Context) (T, error)) (T, error) {
	s := &silenceError{a.timeout(0)}
	asking, cancel := context.WithTimeoutCause(ctx, s.after, s)
	defer cancel()
	answer, err := ask(asking)
	if end, _ := asking.Deadline(); err != nil && ctx.Err() == nil && time.Until(end) < almost {
		err = s
	}
	return answer, err
}

// ask is within for what has no answer but an error.
func (a *app) ask(ctx context.Context, ask func(context.Context) error) error {
	_, err := within(ctx, a, func(ctx context.Context) (struct{}, error) { return struct{}{}, ask(ctx) })
	return err
}

// parting returns a context for what has to be said at the end, also after an interrupt.
func (a *app) parting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), min(closing, a.timeout(0)))
}
