package control

import (
	"context"
	"time"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// activity registers the operations on the last hour.
func (h *handler) activity() {
	register(h, "getActivity", "GET namespaces/{namespace}/activity", tagged("entities"), h.getActivity, 200, 404)
	register(h, "getEntityActivity", "GET "+oneEntity+"/activity", tagged("entities"), h.getEntityActivity, 200, 404)
}

func (h *handler) getActivity(_ context.Context, in *InNamespace) (*struct{ Body api.Activity }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return shownActivity(ns.Activity()), nil
}

func (h *handler) getEntityActivity(_ context.Context, in *AtEntity) (*struct{ Body api.Activity }, error) {
	e, _, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return shownActivity(e.Activity()), nil
}

// shownActivity returns steps as answers show them: a list for each count.
func shownActivity(a emulator.Activity) *struct{ Body api.Activity } {
	column := func(of func(emulator.ActivityOfStep) int64) []int64 {
		list := make([]int64, len(a.Steps))
		for i, s := range a.Steps {
			list[i] = of(s)
		}
		return list
	}
	return &struct{ Body api.Activity }{api.Activity{
		From:        a.From,
		To:          a.To,
		StepSeconds: int64(emulator.ActivityStep / time.Second),
		Stored:      column(func(s emulator.ActivityOfStep) int64 { return s.Stored }),
		Completed:   column(func(s emulator.ActivityOfStep) int64 { return s.Completed }),
		Active:      column(func(s emulator.ActivityOfStep) int64 { return s.Active }),
		DeadLetter:  column(func(s emulator.ActivityOfStep) int64 { return s.DeadLetter }),
		Scheduled:   column(func(s emulator.ActivityOfStep) int64 { return s.Scheduled }),
	}}
}
