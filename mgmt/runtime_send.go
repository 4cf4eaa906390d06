package mgmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/mgmt/rest"
)

const (
	// maxBatchBody bounds the messages of a batch together, in bytes, even where single messages may be larger (QUO-6).
	maxBatchBody = 1 << 20
	// maxReading bounds the bytes of bodies that all requests together hold in memory until they are stored.
	maxReading = 256 << 20
	// maxLargeBatches bounds the large batches that are parsed and stored at once: parsed, a document takes a
	// multiple of the memory counted for it. Other batches wait.
	maxLargeBatches = 4
	// largeBatch is the length of a document, in bytes, above which maxLargeBatches applies.
	largeBatch = 64 << 10
	// readStep is how much memory, in bytes, a body gets before its bytes have arrived.
	readStep = 64 << 10
	// maxWeight is how many operations the journal makes of what all requests together have sent to topics, unless it
	// is those of one: clients of other entities wait behind them.
	maxWeight = 512
)

// errBusy answers sends while maxReading is used up; clients back off and try again.
var errBusy = problemf(http.StatusServiceUnavailable,
	"SubCode=50004. Too many large messages are being sent over HTTP at once. Try again later. ")

// send stores a message, or a batch, and answers once it is durable.
func (x *runtimeCall) send() (*answer, error) {
	if _, err := x.timeout(); err != nil {
		return nil, err
	}
	if x.sub != emulator.Main {
		return nil, badRequest("Messages can't be sent to the sub-queue '" + x.target.messaging + "'.")
	}
	if err := x.entity.CanSend(); err != nil {
		return nil, err
	}
	read := x.readMessage
	if rest.IsBatch(x.r.Header.Get("Content-Type")) {
		read = x.readBatch
	}
	// A body may take until the server's read deadline to arrive; leave time to answer if it does not.
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(2 * requestTimeout))
	b := body{r: x.r.Body, used: &x.api.reading}
	defer b.release()
	messages, err := read(&b)
	if err != nil {
		return nil, err
	}
	if n := min(int64(len(messages))*x.entity.SendWeight(), maxWeight); n > 0 {
		if x.api.weight.Acquire(x.r.Context(), n) != nil {
			return nil, errClientGone
		}
		defer x.api.weight.Release(n)
	}
	done := newCompletion()
	if err := done.wait(x.entity.Send(messages, emulator.By(x.client(), done))); err != nil {
		return nil, err
	}
	return empty(http.StatusCreated), nil
}

// readMessage encodes the request as a message. It reads the body straight into its place in the encoding.
func (x *runtimeCall) readMessage(b *body) ([]message.Message, error) {
	m, err := rest.FromHeaders(x.r.Header, x.spelling)
	if err != nil {
		return nil, badRequest(err.Error())
	}
	raw, err := m.AppendHead(nil, x.now)
	if err != nil {
		return nil, badRequest(err.Error())
	}
	start := len(raw)
	if raw, err = b.read(rest.BeginData(raw), x.entity.MaxMessageSize(), x.r.ContentLength); err != nil {
		return nil, x.bodyError(err)
	}
	rest.EndData(raw, start)
	return x.scan(raw)
}

// readBatch encodes the messages of a batch (QUO-6, QUO-7).
func (x *runtimeCall) readBatch(b *body) ([]message.Message, error) {
	limit := min(x.entity.MaxMessageSize(), maxBatchBody)
	document, err := b.read(nil, 2*limit+readStep, x.r.ContentLength) // JSON is longer than the encoded messages
	if err != nil {
		return nil, x.bodyError(err)
	}
	if len(document) > largeBatch {
		select {
		case x.api.batches <- struct{}{}:
			b.slots = x.api.batches
		case <-x.r.Context().Done():
			return nil, errBusy
		}
	}
	encoded, err := rest.ParseBatch(document, x.now)
	if err != nil {
		return nil, badRequest(err.Error())
	}
	if err := x.ns.CheckBatch(x.entity.Path(), len(encoded)); err != nil {
		return nil, err
	}
	size := 0
	for _, raw := range encoded {
		size += len(raw)
	}
	if int64(size) > limit {
		return nil, x.tooLarge(limit)
	}
	return x.scan(encoded...)
}

func (x *runtimeCall) scan(encoded ...[]byte) ([]message.Message, error) {
	messages := make([]message.Message, len(encoded))
	for i, raw := range encoded {
		var err error
		if messages[i], err = message.Scan(raw); err != nil {
			return nil, fmt.Errorf("read encoded message: %w", err)
		}
	}
	return messages, nil
}

// tooLarge answers a message or batch above a limit, in bytes.
func (x *runtimeCall) tooLarge(limit int64) error {
	return &emulator.Error{Code: emulator.CodeMessageTooLarge, Entity: x.entity.Path(), Text: fmt.Sprintf(
		"The message, or the batch of messages, exceeds the limit of %d bytes for the entity "+
			"'%s'.", limit, x.entity.Path())}
}

// bodyError answers a body that could not be read.
func (x *runtimeCall) bodyError(err error) error {
	var large *tooLargeError
	var network net.Error
	switch {
	case errors.As(err, &large):
		return x.tooLarge(large.limit)
	case errors.Is(err, errBusy):
		return errBusy
	case errors.As(err, &network) && network.Timeout():
		return problemf(http.StatusRequestTimeout, "SubCode=40000. The body of the request did not arrive in time. ")
	}
	return badRequest("The body of the request could not be read: " + err.Error() + ".")
}

// spelling returns a function from canonical header names to the client's spelling; nil if the connection does not
// know it. The connection then forgets the names.
func spelling(r *http.Request) func(string) string {
	c, ok := r.Context().Value(connKey{}).(*rest.Conn)
	if !ok {
		return nil
	}
	names := c.Names(r.Method, r.RequestURI)
	return func(canonical string) string {
		if name, ok := names[canonical]; ok {
			return name
		}
		return canonical
	}
}

// body reads the body of a request into memory and counts it against maxReading.
type body struct {
	r    io.Reader
	used interface{ Add(int64) int64 }
	mine int64

	slots chan struct{} // a large batch has put an element in; nil for others
}

// tooLargeError says that a body has more than limit bytes.
type tooLargeError struct{ limit int64 }

func (e *tooLargeError) Error() string { return fmt.Sprintf("more than %d bytes", e.limit) }

// read appends the body to dst. A body of more than limit bytes is an error. It takes memory as bytes arrive, not by
// the announced length.
func (b *body) read(dst []byte, limit, announced int64) ([]byte, error) {
	if announced > limit {
		return nil, &tooLargeError{limit}
	}
	start := len(dst)
	for {
		left := limit - int64(len(dst)-start)
		if cap(dst) == len(dst) {
			var err error
			if dst, err = b.grow(dst, left, announced-int64(len(dst)-start)); err != nil {
				return nil, err
			}
		}
		n, err := b.r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if int64(len(dst)-start) > limit {
			return nil, &tooLargeError{limit}
		}
		if errors.Is(err, io.EOF) {
			return trim(dst), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// grow doubles the room of dst, but adds no more than needed, and one byte so that Read can report the end.
func (b *body) grow(dst []byte, left, announced int64) ([]byte, error) {
	more := max(readStep, int64(cap(dst)))
	if announced >= 0 {
		more = min(more, announced+1)
	}
	more = min(more, left+1)
	if int64(len(dst))+more > readStep { // small messages get through even when large ones have used up maxReading
		b.mine += more
		if b.used.Add(more) > maxReading {
			return nil, errBusy
		}
	}
	grown := make([]byte, len(dst), int64(len(dst))+more)
	copy(grown, dst)
	return grown, nil
}

// trim drops unused capacity, because the broker keeps the bytes of a message.
func trim(b []byte) []byte {
	if cap(b)-len(b) > len(b)/8 {
		return bytes.Clone(b)
	}
	return b
}

// release gives back the memory share and the slot of a large batch.
func (b *body) release() {
	b.used.Add(-b.mine)
	if b.slots != nil {
		<-b.slots
	}
}
