package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/printable"
	"minibus/internal/strictjson"
	"minibus/mgmt/control/api"
)

const (
	// maxSend is how many bytes a request has that sends messages. As base64 it holds a body of 70 MiB.
	maxSend = 96 << 20
	// sendPatience is how long such a request may take to arrive.
	sendPatience = 50 * time.Second
	// sendFactor is how many bytes of memory a byte of such a request takes: in the request, decoded and encoded.
	sendFactor = 3
	// maxSent is how many messages one request sends.
	maxSent = 1000
)

// sending is the body of a request that sends messages.
type sending struct{ messages []messagejson.Message }

// Schema implements [huma.SchemaProvider].
func (s sending) Schema(r huma.Registry) *huma.Schema {
	one := huma.SchemaFromType(r, reflect.TypeFor[messagejson.Message]())
	several := &huma.Schema{Type: huma.TypeArray, Items: one, MinItems: new(1), MaxItems: new(maxSent)}
	return &huma.Schema{OneOf: []*huma.Schema{one, several}}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *sending) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		m, err := messagejson.Read(text)
		if err != nil {
			return err
		}
		s.messages = []messagejson.Message{*m}
		return nil
	}
	var list []json.RawMessage
	if err := strictjson.Decode(text, &list); err != nil {
		return err
	}
	if len(list) == 0 || len(list) > maxSent {
		return fmt.Errorf("the array has %d messages; allowed: 1 to %d", len(list), maxSent)
	}
	s.messages = make([]messagejson.Message, len(list))
	for i, text := range list {
		m, err := messagejson.Read(text)
		if err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
		s.messages[i] = *m
	}
	return nil
}

func (h *handler) sendMessages(_ context.Context, in *struct {
	AtEntity
	Put  bool `query:"put" doc:"Also into a subscription or a dead-letter queue, where clients can't send"`
	Body sending
}) (*struct{ Body api.Sent }, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	unsendable := sub != emulator.Main || e.Kind() == emulator.KindSubscription
	if unsendable && in.Put {
		var out struct{ Body api.Sent }
		out.Body.SequenceNumbers, err = in.Body.putAll(e, sub, time.UnixMilli(ns.Now()), in.client)
		return &out, err
	}
	if sub != emulator.Main {
		return nil, badRequest("Messages can't be sent to a sub-queue, only to its queue or topic.")
	}
	if err := ns.CheckBatch(e.Path(), len(in.Body.messages)); err != nil {
		return nil, err
	}
	list, err := in.Body.encode(time.UnixMilli(ns.Now()))
	if err != nil {
		return nil, err
	}
	in.Body.messages = nil // their memory is counted once
	done := make(completion, 1)
	var out struct{ Body api.Sent }
	out.Body.SequenceNumbers, err = e.Submit(list, emulator.By(in.client, done))
	return &out, done.wait(err)
}

// encode makes the messages. It drops each body after it is encoded, so that memory holds one form of it.
func (s *sending) encode(now time.Time) ([]message.Message, error) {
	list := make([]message.Message, len(s.messages))
	for i := range s.messages {
		raw, err := s.messages[i].Encode(now)
		if err != nil && len(s.messages) > 1 {
			return nil, badRequest("message %d: %v.", i+1, err)
		}
		if err != nil {
			return nil, badRequest("%v.", err)
		}
		s.messages[i] = messagejson.Message{}
		if list[i], err = scan(raw); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// awaitMemory makes a large request wait for memory after its beginning has come, before the rest is read.
func (h *handler) awaitMemory(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	length, err := strconv.ParseInt(ctx.Header("Content-Length"), 10, 64)
	if err != nil {
		length = maxSend // it does not say
	}
	restart := func() {}
	if length*sendFactor >= small {
		var whole int64
		if whole, restart, err = readStart(w, r); err != nil {
			w.Header().Set("Connection", "close") // the rest of the body is not awaited
			Refuse(w, problemOf(err))
			return
		}
		if whole >= 0 {
			length = whole
		}
	}
	done, err := h.take(ctx.Context(), min(length, maxSend)*sendFactor)
	if err != nil {
		Refuse(w, problemOf(err))
		return
	}
	defer done()
	restart()
	next(ctx)
}

// clipped bounds what a client wrote before it is repeated.
func clipped(s string) string { return printable.Clip(s, 100) }

// A large request has to come on: while it is read it holds memory that others wait for.
const (
	// uploadStart is how many bytes of it come before it gets its memory, so that one that is only announced holds
	// none.
	uploadStart = 64 << 10
	// uploadGrace is how long the bytes may be late.
	uploadGrace = 3 * time.Second
	// uploadRate is how many bytes there have to be for each second after that.
	uploadRate = 1 << 20
)

// upload is the body of a request that has to come on.
type upload struct {
	io.ReadCloser
	deadline func(time.Time) error // of the connection
	begin    time.Time
	got      int64
}

// Read implements io.Reader. It fails if the bytes are late.
func (u *upload) Read(p []byte) (int, error) {
	late := u.begin.Add(uploadGrace + time.Duration(u.got)*time.Second/uploadRate)
	_ = u.deadline(late) // in a test there may be no connection
	n, err := u.ReadCloser.Read(p)
	u.got += int64(n)
	if err != nil {
		_ = u.deadline(time.Now().Add(sendPatience)) // the connection is watched while the request is carried out
	}
	return n, err
}

// readStart reads the beginning of a large request into memory, and puts it back in front of the rest. whole reports
// that this is all. restart begins the time again: others used it up while the request waited for memory.
func readStart(w http.ResponseWriter, r *http.Request) (whole int64, restart func(), err error) {
	u := &upload{ReadCloser: r.Body, deadline: http.NewResponseController(w).SetReadDeadline, begin: time.Now()}
	start := make([]byte, uploadStart)
	n, err := io.ReadFull(u, start)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start[:n]), u), u}
	switch late := net.Error(nil); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return int64(n), func() {}, nil
	case errors.As(err, &late) && late.Timeout():
		return 0, nil, newError(http.StatusRequestTimeout, nil,
			"The body of the request did not come: its first %d bytes may take %v.", uploadStart, uploadGrace)
	case err != nil:
		return 0, nil, badRequest("The body of the request could not be read: %v.", err)
	}
	return -1, func() { u.begin, u.got = time.Now(), 0 }, nil
}
