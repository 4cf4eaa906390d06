package control

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// Condition compares a count.
type Condition struct {
	Of    string `json:"of" enum:"active,deferred,scheduled,deadLetter,transfer,transferDeadLetter" doc:"As in the counts of an entity"`
	Least int64  `json:"least,omitempty" minimum:"0" doc:"At least so many"`
	Most  *int64 `json:"most,omitempty" minimum:"0" doc:"At most so many; none: no limit"`
}

// EventsAwaited selects events to wait for.
type EventsAwaited struct {
	Entity    string   `json:"entity,omitempty"`
	Sequence  int64    `json:"sequenceNumber,omitempty"`
	MessageID string   `json:"messageId,omitempty" doc:"Of messages that come with the id: kinds sent, scheduled, duplicate and sendRefused"`
	Client    string   `json:"client,omitempty"`
	Kinds     []string `json:"kinds,omitempty" nullable:"false" doc:"As in the history: sent, delivered, completed and so on; none: any"`
	Times     int      `json:"times,omitempty" minimum:"0" doc:"How many; none: one"`
	From      int64    `json:"from,omitempty" minimum:"0" doc:"The number of the first event that counts; none: those that come from now on"`
}

// waitFor is the body of a wait.
type waitFor struct {
	TimeoutSeconds float64         `json:"timeoutSeconds,omitempty" minimum:"0" maximum:"3600" doc:"How long to wait; none: 30"`
	Entity         string          `json:"entity,omitempty" doc:"Of counts and idle"`
	Counts         []Condition     `json:"counts,omitempty" nullable:"false" maxItems:"20"`
	Idle           bool            `json:"idle,omitempty" doc:"No message of the entity is available or locked, or waits to be forwarded"`
	Events         *EventsAwaited  `json:"events,omitempty"`
	Message        *messageAwaited `json:"message,omitempty" doc:"A message that is there, or comes"`
}

// messageAwaited selects a message to wait for.
type messageAwaited struct {
	Entity string     `json:"entity" example:"orders/$DeadLetterQueue" doc:"Where it is: a path, with a sub-queue if that is meant"`
	Filter *jobFilter `json:"filter,omitempty" doc:"What it fits, as in a job; none: any active one. Locked ones count as active or deferred. sequenceNumbers is refused"`
}

// waited is how it stands at the end of a wait.
type waited struct {
	Met    bool    `json:"met" doc:"Whether all holds; if not, the time is over"`
	Counts *counts `json:"counts,omitempty" doc:"Of the entity"`
	Events int     `json:"events" doc:"How many there were"`
	Next   int64   `json:"next" doc:"The number of the next event, to go on from"`
	Text   string  `json:"text" doc:"The same in words"`

	Wanted string     `json:"wanted,omitempty" doc:"What was waited for, in words, if not all of it holds"`
	Why    *diagnosis `json:"why,omitempty" doc:"What explainEntity says of the entity of the wait, if not all holds"`

	SequenceNumber int64 `json:"sequenceNumber,omitempty" doc:"Of the message, if the wait is for one and it is there"`
}

// defaultWait is how long a wait lasts that does not say.
const defaultWait = 30

// wait registers the wait.
func (h *handler) wait() {
	register(h, huma.Operation{
		OperationID: "wait", Method: http.MethodPost, Path: "namespaces/{namespace}/wait", Tags: []string{"wait"}, Extensions: readOnly, Summary: "Waits until something holds",
		Description: "All that the body names has to hold at one moment. The answer comes then, or when the time is over, and says how it stands. If not all holds, it also says what was " +
			"wanted and what stands in the way of receiving.",
	}, h.waitFor, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
}

func (h *handler) waitFor(ctx context.Context, in *struct {
	InNamespace
	Unlimited
	Body waitFor
}) (*struct{ Body waited }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	what, err := in.Body.await()
	if err != nil {
		return nil, err
	}
	seconds := in.Body.TimeoutSeconds
	if seconds == 0 {
		seconds = defaultWait
	}
	long := time.Duration(seconds * float64(time.Second))
	what.Room = h.takeToRead
	in.lift(long)
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	s, err := ns.Wait(ctx, what)
	if err != nil {
		return nil, err
	}
	if !s.Met && errors.Is(context.Cause(ctx), ErrTokenExpired) {
		return nil, ErrTokenExpired
	}
	out := &struct{ Body waited }{waited{Met: s.Met, Events: s.Events, Next: s.Next, Text: s.String(), SequenceNumber: s.Message}}
	if what.Entity != "" {
		c := shownCounts(s.Counts)
		out.Body.Counts = &c
	}
	if !s.Met {
		out.Body.Wanted, out.Body.Why = what.String(), h.whyNotMet(ns, &what)
	}
	return out, nil
}

// whyNotMet looks at the entity of a wait; nil without one.
func (h *handler) whyNotMet(ns *emulator.Namespace, what *emulator.Await) *diagnosis {
	path, sub := what.Entity, emulator.Main
	switch {
	case path != "":
	case what.Message != nil:
		path, sub = what.Message.Entity, what.Message.Sub
	case what.Events != nil:
		path = what.Events.Entity
	}
	e, err := ns.Entity(path)
	if path == "" || err != nil {
		return nil
	}
	d := h.diagnose(ns, e, sub, "")
	return &d
}

// await returns what the body says.
func (body *waitFor) await() (emulator.Await, error) {
	what := emulator.Await{Entity: body.Entity, Idle: body.Idle}
	if body.Entity == "" && (body.Idle || len(body.Counts) > 0) {
		return what, badRequest("Whose counts? Give the entity.")
	}
	for _, c := range body.Counts {
		condition := emulator.CountCondition{Of: emulator.Counted(c.Of), Least: c.Least, Most: -1}
		if c.Most != nil {
			condition.Most = *c.Most
		}
		what.Counts = append(what.Counts, condition)
	}
	if !body.Idle && len(body.Counts) == 0 && body.Events == nil && body.Message == nil {
		return what, badRequest("What to wait for? Give counts, idle, events or message.")
	}
	if m := body.Message; m != nil {
		path, sub := entitypath.CutSubQueue(m.Entity)
		if what.Message = (&emulator.AwaitMessage{Entity: path, Sub: sub, Select: m.Filter.selection()}); len(what.Message.Select.Seqs) > 0 {
			return what, badRequest("message.filter: sequenceNumbers names no message to wait for; leave it out.")
		}
	}
	if body.Events == nil {
		return what, nil
	}
	e := body.Events
	f, err := Selecting{Entity: e.Entity, Sequence: e.Sequence, Client: e.Client, Kinds: e.Kinds}.filter(e.MessageID)
	what.Events, what.Times, what.From = &f, e.Times, e.From
	return what, err
}

// Unlimited lets an operation take longer than the server's limits allow.
type Unlimited struct{ c *http.ResponseController }

// answerTime is how long an answer may take after a wait.
const answerTime = 30 * time.Second

// Resolve implements [huma.Resolver].
func (u *Unlimited) Resolve(ctx huma.Context) []error {
	_, w := humago.Unwrap(ctx)
	u.c = http.NewResponseController(w)
	return nil
}

// lift lifts the server's limit for the answer.
func (u *Unlimited) lift(by time.Duration) { _ = u.c.SetWriteDeadline(time.Now().Add(by + answerTime)) }
