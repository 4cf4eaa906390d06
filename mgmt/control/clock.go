package control

import (
	"context"
	"time"

	"minibus/emulator"
	"minibus/internal/dotnet"
	"minibus/mgmt/control/api"
)

// Durations reads those of requests.
type Durations interface {
	// ReadDuration reads an ISO 8601 duration as Config.json has them.
	ReadDuration(text string) (time.Duration, error)
}

var dueKinds = [...]string{
	emulator.DueLock:     "lockEnds",
	emulator.DueSchedule: "scheduled",
	emulator.DueExpiry:   "expires",
	emulator.DueSession:  "sessionLockEnds",
	emulator.DueForward:  "forwardRetried",
	emulator.DueIdle:     "idle",
}

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

// clockOutput is an answer.
type clockOutput struct{ Body api.Clock }

// clock registers the operations on clocks.
func (h *handler) clock() {
	const path = "namespaces/{namespace}/clock"
	register(h, "getClock", "GET "+path, tagged("clock"), h.getClock, 200, 400, 404)
	register(h, "setClock", "PUT "+path, tagged("clock"), h.setClock, 200, 400, 404, 409, 413)
	register(h, "advanceClock", "POST "+path+"/advance", tagged("clock"), h.advanceClock, 200, 400, 404, 413)
	freeze, resume := h.steering(emulator.NamespaceClock.Freeze), h.steering(emulator.NamespaceClock.Resume)
	register(h, "freezeClock", "POST "+path+"/freeze", tagged("clock"), freeze, 200, 404)
	register(h, "resumeClock", "POST "+path+"/resume", tagged("clock"), resume, 200, 404)
}

func (h *handler) getClock(_ context.Context, in *struct {
	InNamespace
	Due   int       `query:"due" minimum:"0" maximum:"1000" default:"10" doc:"The most things to name that are due"`
	Until time.Time `query:"until" doc:"Adds a forecast up to this instant"`
}) (*clockOutput, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	out := shownClock(ns, in.Due)
	if !in.Until.IsZero() {
		f := ns.Clock().Forecast(in.Until)
		out.Body.Forecast = &api.Forecast{
			Until: shownTime(in.Until.UTC()), Expire: api.Effect(f.Expire), DeadLettered: f.DeadLettered,
			Activate: api.Effect(f.Activate), Unlock: api.Effect(f.Unlock), Delete: api.Effect(f.Delete),
		}
	}
	return out, nil
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
		return nil, badRequest("body.by: found %.60q; give an ISO 8601 duration of more than zero, such as PT1H "+
			"or P7D. A clock never goes back.", in.Body.By)
	}
	err = in.run(ctx, &in.Unlimited, func(ctx context.Context) error { return ns.Clock().Advance(ctx, d) })
	if err != nil {
		return nil, err
	}
	return shownClock(ns, shownDue), nil
}

// steering returns the operation that calls a method of the namespace and answers with its clock.
func (h *handler) steering(
	f func(emulator.NamespaceClock) error,
) func(context.Context, *InNamespace) (*clockOutput, error) {
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
	offset := isoOf(r.Ahead.Truncate(time.Millisecond))
	c := api.Clock{Goal: goal, Now: r.Now, Offset: offset, Frozen: r.Frozen, Due: []api.Due{}}
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
