package control

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/mgmt/control/api"
)

// AtMessage is an argument of operations on one message.
type AtMessage struct {
	AtEntity
	SequenceNumber int64 `path:"sequenceNumber"`
}

// load returns the message with its content, and what gives its memory back.
func (in *AtMessage) load(ctx context.Context, h *handler) (*emulator.MessageView, func(), error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, nil, err
	}
	s, err := e.Messages().Get(sub, in.SequenceNumber)
	if err != nil {
		return nil, nil, err
	}
	done, err := h.take(ctx, s.Size)
	if err != nil {
		return nil, nil, err
	}
	if err := s.Load(); err != nil {
		done()
		return nil, nil, err
	}
	return s, done, nil
}

// shownSeen returns a message as answers show it, with so many bytes of its body.
func shownSeen(s *emulator.MessageView, body int64) *messagejson.Message {
	head, content, err := s.Sections()
	var m *messagejson.Message
	if err == nil {
		m = messagejson.Of(&head, &content, body)
	} else {
		m = messagejson.MalformedMessage(content.Raw, err)
		m.SequenceNumber = &s.Sequence
	}
	m.State = standingNames[s.Standing]
	m.DeadLetterReason = s.Reason
	m.SizeBytes = &s.Size
	m.ExpiresAt = timeAt(s.Expires)
	if s.Standing == emulator.StandingLocked {
		m.LockedUntil, m.LockedBy = timeAt(s.LockedUntil), s.HeldBy()
	}
	return m
}

// standingNames are the names of the domain's.
var standingNames = func() map[emulator.Standing]string {
	names := make(map[emulator.Standing]string)
	for _, name := range slices.Sorted(maps.Keys(standings)) {
		names[standings[name]] = name
	}
	return names
}()

// timeAt returns an instant in milliseconds as a time; nil for 0, and for what JSON has no year for.
func timeAt(ms int64) *time.Time {
	t := time.UnixMilli(ms).UTC()
	if ms == 0 || t.Year() > 9999 {
		return nil
	}
	return &t
}

func (h *handler) getMessage(ctx context.Context, in *struct {
	AtMessage
	Shown int64 `query:"body" minimum:"0" maximum:"1048576" default:"262144" doc:"How many bytes of the body to show"`
}) (*struct{ Body *messagejson.Message }, error) {
	s, done, err := in.load(ctx, h)
	if err != nil {
		return nil, err
	}
	defer done()
	return &struct{ Body *messagejson.Message }{shownSeen(s, in.Shown)}, nil
}

// bodyStep is how many bytes of a body are written at once, in streamPatience each.
const bodyStep = 1 << 20

func (h *handler) getMessageBody(ctx context.Context, in *AtMessage) (*huma.StreamResponse, error) {
	s, done, err := in.load(ctx, h)
	if err != nil {
		return nil, err
	}
	_, content, err := s.Sections()
	if err != nil {
		done()
		return nil, fmt.Errorf("read a message: %w", err)
	}
	data, err := messagejson.Data(&content)
	if err != nil {
		data = [][]byte{content.Bytes(content.Body)} // it does not decode
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer done()
		_, w := humago.Unwrap(ctx)
		writeBody(w, s.Sequence, data)
	}}, nil
}

// writeBody writes bytes as a file that a browser saves and never runs.
func writeBody(w http.ResponseWriter, seq int64, data [][]byte) {
	size := 0
	for _, d := range data {
		size += len(d)
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="message-%d"`, seq))
	h.Set("Content-Length", strconv.Itoa(size))
	c := http.NewResponseController(w)
	for _, d := range data {
		for piece := range slices.Chunk(d, bodyStep) {
			_ = c.SetWriteDeadline(time.Now().Add(streamPatience))
			if _, err := w.Write(piece); err != nil {
				return // the client is gone
			}
		}
	}
}

func (h *handler) deleteMessages(_ context.Context, in *struct {
	AtEntity
	SequenceNumbers []int64 `query:"sequenceNumbers" required:"true" minItems:"1" maxItems:"1000" doc:"With commas"`
}) (*struct{}, error) {
	return nil, in.remove(h, in.SequenceNumbers)
}

func (h *handler) deleteMessage(_ context.Context, in *AtMessage) (*struct{}, error) {
	return nil, in.remove(h, []int64{in.SequenceNumber})
}

// remove removes messages of the entity.
func (in *AtEntity) remove(h *handler, seqs []int64) error {
	e, sub, err := in.find(h)
	if err != nil {
		return err
	}
	done := make(completion, 1)
	return done.wait(e.Messages().Remove(sub, seqs, emulator.By(in.client, done)))
}

func (h *handler) rescheduleMessage(_ context.Context, in *struct {
	AtMessage
	Body struct {
		ScheduledEnqueueTime time.Time `json:"scheduledEnqueueTime"`
	}
}) (*struct{ Body api.Schedule }, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	if sub != emulator.Main {
		return nil, badRequest("A dead-letter queue has no scheduled messages.")
	}
	at := in.Body.ScheduledEnqueueTime
	done := make(completion, 1)
	err = done.wait(e.Messages().Reschedule(in.SequenceNumber, at.UnixMilli(), emulator.By(in.client, done)))
	if err != nil {
		return nil, err
	}
	out := api.Schedule{SequenceNumber: in.SequenceNumber, ScheduledEnqueueTime: instant(at.UnixMilli())}
	return &struct{ Body api.Schedule }{out}, nil
}

// scan checks the encoded message that a request makes.
func scan(raw []byte) (message.Message, error) {
	m, err := message.Scan(raw)
	if err != nil {
		return m, fmt.Errorf("read an encoded message: %w", err)
	}
	return m, nil
}
