package control

import (
	"context"
	"time"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// longestStep is the longest step of a schedule.
const longestStep = 24 * time.Hour

// upcoming registers the operation on the schedule of an entity.
func (h *handler) upcoming() {
	register(h, "getSchedule", "GET "+oneEntity+"/schedule", tagged("messages"), h.getSchedule, 200, 400, 404, 409)
}

func (h *handler) getSchedule(_ context.Context, in *struct {
	AtEntity
	From  time.Time `query:"from" doc:"The beginning, rounded down to a minute; none: now"`
	Step  string    `query:"step" default:"PT1H" doc:"How long a step is: minutes, at most a day, as ISO 8601"`
	Steps int       `query:"steps" minimum:"1" maximum:"1000" default:"24" doc:"How many steps"`
}) (*struct{ Body api.Upcoming }, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	if sub != emulator.Main {
		const text = "A dead-letter queue has no scheduled messages."
		return nil, &emulator.Error{Code: emulator.CodeNotAllowed, Entity: e.Path(), Text: text}
	}
	step, err := h.server.ReadDuration(in.Step)
	if err != nil || step < time.Minute || step > longestStep || step%time.Minute != 0 {
		return nil, badRequest("step: found %.60q; give an ISO 8601 duration of whole minutes, from PT1M to P1D.",
			in.Step)
	}
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	out := api.Upcoming{Now: ns.Clock().Read().Now, Steps: []api.DueStep{}}
	from := in.From.UTC()
	if in.From.IsZero() {
		from = out.Now
	}
	if from.Year() < 1970 || from.Year() > 9999 {
		return nil, badRequest("from: the time must lie between the years 1970 and 9999.")
	}
	out.From = from.Truncate(time.Minute)
	if out.To = out.From.Add(step * time.Duration(in.Steps)); out.To.After(latest) {
		return nil, badRequest("steps: the last step must end before the year 10000.")
	}
	u, err := e.Messages().Upcoming(out.From.UnixMilli(), step.Milliseconds(), in.Steps)
	if err != nil {
		return nil, err
	}
	if out.Total = u.Total; u.Next != 0 {
		next := instant(u.Next)
		out.Next = &next
	}
	for i, n := range u.Slots {
		if n > 0 {
			out.Steps = append(out.Steps, api.DueStep{From: out.From.Add(step * time.Duration(i)), Messages: n})
		}
	}
	return &struct{ Body api.Upcoming }{out}, nil
}
