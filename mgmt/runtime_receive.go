package mgmt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control/receive"
	"minibus/mgmt/rest"
)

// errCrowded answers receives of large messages while others use up maxWriting; clients back off and try again.
var errCrowded = problemf(http.StatusServiceUnavailable,
	"SubCode=50004. Too many large messages are being received over HTTP at once. Try again later. ")

// errClientGone ends a request whose client has gone, or whose server is shutting down.
var errClientGone = problemf(http.StatusServiceUnavailable, "SubCode=50004. The server is shutting down. ")

const (
	// longestWait is how long a receive waits for a message, unless it asks for less.
	longestWait = time.Minute
	// maxWriting bounds the bytes that large messages of all requests together have in memory, in the message and in
	// the answer. A message of more than half of it is received alone.
	maxWriting = 256 << 20
	// maxEmptyBody is how many bytes of an unexpected body are read.
	maxEmptyBody = 64 << 10
)

// timeout returns how long the client wants to wait, at most longestWait.
func (x *runtimeCall) timeout() (time.Duration, error) {
	text := x.query.Get("timeout")
	if text == "" {
		return longestWait, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, badRequest("The value of the parameter 'timeout' is not a number of seconds.")
	}
	return min(time.Duration(n)*time.Second, longestWait), nil
}

// discardBody reads the body of a request that should have none: net/http notices that a client has gone only once
// the body is read.
func (x *runtimeCall) discardBody() error {
	n, err := io.Copy(io.Discard, io.LimitReader(x.r.Body, maxEmptyBody+1))
	switch {
	case err != nil:
		return x.bodyError(err)
	case n > maxEmptyBody:
		return badRequest("The request has a body, but it must have none.")
	}
	return nil
}

// peekLock receives a message and leaves it locked.
func (x *runtimeCall) peekLock() (*answer, error) { return x.receive(emulator.PeekLock) }

// receiveAndDelete receives a message and removes it.
func (x *runtimeCall) receiveAndDelete() (*answer, error) {
	return x.receive(emulator.ReceiveAndDelete)
}

// client names the client.
func (x *runtimeCall) client() *emulator.Client {
	return &emulator.Client{Remote: x.r.RemoteAddr, Product: sas.Clip(x.r.UserAgent())}
}

// receive waits for a message and answers with it, or with 204.
func (x *runtimeCall) receive(mode emulator.ReceiveMode) (*answer, error) {
	wait, err := x.timeout()
	if err != nil {
		return nil, err
	}
	if err := x.discardBody(); err != nil {
		return nil, err
	}
	w := receive.New(x.entity, x.sub, mode, x.client())
	w.Bound(x.api.awaitMemory)
	defer w.Close()
	d, err := w.Next(x.r.Context(), wait)
	switch {
	case errors.Is(err, receive.ErrGone):
		return nil, errClientGone
	case err != nil:
		return nil, err
	case d == nil:
		return &answer{status: http.StatusNoContent}, nil
	}
	if x.r.Context().Err() != nil { // the answer must not have the message's headers
		w.Return(d)
		return nil, errClientGone
	}
	a := x.delivery(d, mode)
	w.Hand(x.w, a.status, a.body, d)
	return nil, nil
}

// awaitMemory waits until a message of so many bytes may be received.
func (a *runtimeAPI) awaitMemory(ctx context.Context, bytes int, wait time.Duration) (done func(), err error) {
	n := min(2*int64(bytes), maxWriting)
	if !a.writing.TryAcquire(n) {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if a.writing.Acquire(ctx, n) != nil {
			return nil, errCrowded
		}
	}
	return func() { a.writing.Release(n) }, nil
}

// delivery makes the answer with a message. Old clients make properties of the message of all headers that they do
// not know, so a program gets those of the service alone (management-rest 7.2), and the body in chunks. A browser
// gets those that keep it safe, and none that a sender chose. It already sets headers of the response, so no other
// answer may follow.
func (x *runtimeCall) delivery(d *emulator.Delivery, mode emulator.ReceiveMode) *answer {
	a := &answer{status: http.StatusOK}
	m := rest.Received{Raw: d.Append(nil), Seq: d.Seq(), Count: d.DeliveryCount(), Bare: isBrowser(x.r)}
	if mode == emulator.PeekLock {
		a.status, m.Token = http.StatusCreated, d.Token().String()
	}
	h := x.w.Header()
	a.body = m.Headers(h)
	if !m.Bare {
		disarm(h)
	}
	if !x.r.ProtoAtLeast(1, 1) {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	if m.Token != "" {
		h.Set("Location", x.location(d))
	}
	return a
}

// location returns the address at which a client renews or settles a delivery.
func (x *runtimeCall) location(d *emulator.Delivery) string {
	path := url.URL{Path: fmt.Sprintf("/%s/messages/%d/%s", x.target.messaging, d.Seq(), d.Token())}
	return x.base() + path.EscapedPath()
}
