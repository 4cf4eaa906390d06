package control

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/dotnet"
	"minibus/mgmt/control/api"
)

// Durations reads those of requests.
type Durations interface {
	// ReadDuration reads an ISO 8601 duration as Config.json has them.
	ReadDuration(text string) (time.Duration, error)
}

var dueKinds = [...]string{emulator.DueLock: "lockEnds", emulator.DueSchedule: "scheduled", emulator.DueExpiry: "expires",
	emulator.DueSession: "sessionLockEnds", emulator.DueForward: "forwardRetried", emulator.DueIdle: "idle"}

// shownDue is how many things that are due the answer has to a request that steers the clock.
const shownDue = 10

// Limited are the arguments of operations that advance a clock.
type Limited struct {
	Timeout int `query:"timeoutSeconds" minimum:"1" maximum:"3600" default:"60" doc:"How long the request may take"`
}

// run calls f with a context that ends after the time, or with the request.
func (in *Limited) run(ctx context.Context, u *Unlimited, f func(context.Context) error) error {
	long := time.Duration(in.Timeout) * time.Second
	u.lift(long)
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	return f(ctx)
}

// stops follows the description of operations that advance a clock.
const stops = " If the client goes away, or the time is over, the clock stops where it is, everything that fell due until then has happened, and the error is 503. While it is " +
	"being advanced, getClock shows how far it is."

// clockOutput is an answer.
type clockOutput struct{ Body api.Clock }

// clock registers the operations on clocks.
func (h *handler) clock() {
	const path = "namespaces/{namespace}/clock"
	tags := []string{"clock"}
	register(h, huma.Operation{
		OperationID: "getClock", Method: http.MethodGet, Path: path, Tags: tags, Summary: "What the clock of a namespace shows, and what is due next",
	}, h.getClock, http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{
		OperationID: "setClock", Method: http.MethodPut, Path: path, Tags: tags, Summary: "Advances the clock to an instant",
		Description: "Everything that falls due until then happens in one order before the answer. A clock never goes back: an earlier instant is refused." + stops,
	}, h.setClock, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge)
	register(h, huma.Operation{
		OperationID: "advanceClock", Method: http.MethodPost, Path: path + "/advance", Tags: tags, Summary: "Lets time pass in a namespace",
		Description: "Locks end, messages expire, scheduled ones become active and idle entities are deleted, in one order, before the answer. No time passes on the network." + stops,
	}, h.advanceClock, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge)
	register(h, huma.Operation{
		OperationID: "freezeClock", Method: http.MethodPost, Path: path + "/freeze", Tags: tags, Summary: "Lets the time of a namespace stand still",
		Description: "Nothing ends, expires or is due until the clock is resumed, but for what advancing it brings about. What is sent has the instant at which the clock stands.",
	}, h.steering(emulator.NamespaceClock.Freeze), http.StatusNotFound)
	register(h, huma.Operation{
		OperationID: "resumeClock", Method: http.MethodPost, Path: path + "/resume", Tags: tags, Summary: "Lets a frozen clock go on from where it stands",
	}, h.steering(emulator.NamespaceClock.Resume), http.StatusNotFound)
}

func (h *handler) getClock(_ context.Context, in *struct {
	InNamespace
	Due int `query:"due" minimum:"0" maximum:"1000" default:"10" doc:"The most things to name that are due"`
}) (*clockOutput, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return shownClock(ns, in.Due), nil
}

func (h *handler) setClock(ctx context.Context, in *struct {
	InNamespace
	Unlimited
	Limited
	Body struct {
		Now time.Time `json:"now" doc:"What the clock shows from then on"`
	}
}) (*clockOutput, error) {
	ns, err := in.find(h)
	if err == nil {
		err = in.run(ctx, &in.Unlimited, func(ctx context.Context) error { return ns.Clock().Set(ctx, in.Body.Now) })
	}
	if err != nil {
		return nil, err
	}
	return shownClock(ns, shownDue), nil
}

func (h *handler) advanceClock(ctx context.Context, in *struct {
	InNamespace
	Unlimited
	Limited
	Body struct {
		By string `json:"by" example:"PT1H" doc:"For how long, as an ISO 8601 duration"`
	}
}) (*clockOutput, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	d, err := h.server.ReadDuration(in.Body.By)
	if err != nil || d <= 0 {
		return nil, badRequest("body.by: found %.60q; give an ISO 8601 duration of more than zero, such as PT1H or P7D. A clock never goes back.", in.Body.By)
	}
	if err := in.run(ctx, &in.Unlimited, func(ctx context.Context) error { return ns.Clock().Advance(ctx, d) }); err != nil {
		return nil, err
	}
	return shownClock(ns, shownDue), nil
}

// steering returns the operation that calls a method of the clock and answers with what it shows.
func (h *handler) steering(f func(emulator.NamespaceClock) error) func(context.Context, *InNamespace) (*clockOutput, error) {
	return func(_ context.Context, in *InNamespace) (*clockOutput, error) {
		ns, err := in.find(h)
		if err == nil {
			err = f(ns.Clock())
		}
		if err != nil {
			return nil, err
		}
		return shownClock(ns, shownDue), nil
	}
}

// shownClock returns a clock as answers show it.
func shownClock(ns *emulator.Namespace, most int) *clockOutput {
	r := ns.Clock().Read()
	var goal *time.Time
	if !r.Goal.IsZero() {
		goal = &r.Goal
	}
	c := api.Clock{Goal: goal, Now: r.Now, Offset: isoOf(r.Ahead.Truncate(time.Millisecond)), Frozen: r.Frozen, Due: []api.Due{}}
	for _, d := range ns.Clock().NextDue(most) {
		c.Due = append(c.Due, api.Due{At: shownTime(d.At), Entity: d.Entity, Kind: dueKinds[d.Kind]})
	}
	return &clockOutput{c}
}

// isoOf writes a duration as ISO 8601 text, with a minus sign if it is negative.
func isoOf(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return sign + dotnet.FormatISO(uint64(d/time.Second), uint64(d%time.Second), 9)
}
