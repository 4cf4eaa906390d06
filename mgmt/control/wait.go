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
	"minibus/mgmt/control/api"
)

// defaultWait is how long a wait lasts that does not say.
const defaultWait = 30

// wait registers the wait.
func (h *handler) wait() {
	register(h, "wait", "POST namespaces/{namespace}/wait", huma.Operation{
		Tags:       []string{"wait"},
		Extensions: readOnly,
	}, h.waitFor, 200, 400, 404, 409)
}

func (h *handler) waitFor(ctx context.Context, in *struct {
	InNamespace
	Unlimited
	Body api.WaitFor
}) (*struct{ Body api.Waited }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	what, err := awaitOf(&in.Body)
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
	var out struct{ Body api.Waited }
	out.Body = api.Waited{Met: s.Met, Events: s.Events, Next: s.Next, Text: s.String(), SequenceNumber: s.Message}
	if what.Entity != "" {
		c := shownCounts(s.Counts)
		out.Body.Counts = &c
	}
	if !s.Met {
		out.Body.Wanted, out.Body.Why = what.String(), h.whyNotMet(ns, &what)
	}
	return &out, nil
}

// whyNotMet looks at the entity of a wait; nil without one.
func (h *handler) whyNotMet(ns *emulator.Namespace, what *emulator.Await) *api.Diagnosis {
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

// awaitOf returns what the body says.
func awaitOf(body *api.WaitFor) (emulator.Await, error) {
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
		what.Message = &emulator.AwaitMessage{Entity: path, Sub: sub, Select: selectionOf(m.Filter)}
		if len(what.Message.Select.Seqs) > 0 {
			return what, badRequest("message.filter: sequenceNumbers names no message to wait for; leave it out.")
		}
	}
	if body.Events == nil {
		return what, nil
	}
	e := body.Events
	f, err := Selecting{Entity: e.Entity, Sequence: e.Sequence, Client: e.Client, Kinds: e.Kinds}.filter(e.MessageID)
	what.Events = &f
	what.Times = e.Times
	what.From = e.From
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
