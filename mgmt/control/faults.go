package control

import (
	"context"
	"time"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// shownFault returns a fault as answers show it.
func shownFault(f *emulator.Fault) api.Fault {
	o := f.Options()
	out := api.Fault{ID: f.ID(), State: string(f.State()), Hits: f.Hits(), FaultOrder: api.FaultOrder{
		Kind:        string(o.Kind),
		Entity:      o.Entity,
		Client:      o.Client,
		Condition:   f.Condition(),
		DelayMillis: int(o.Delay.Milliseconds()),
		After:       o.After,
		Skip:        o.Skip,
		Count:       o.Count,
		Probability: o.Probability,
		Seed:        o.Seed,
	}}
	for _, op := range o.Operations {
		out.Operations = append(out.Operations, string(op))
	}
	if o.For > 0 {
		out.For = isoOf(o.For)
	}
	if f.Until() != 0 {
		t := instant(f.Until())
		out.Until = &t
	}
	return out
}

// faultOptions returns what the domain makes a fault of.
func (h *handler) faultOptions(r *api.FaultOrder) (emulator.FaultOptions, error) {
	o := emulator.FaultOptions{
		Kind:        emulator.FaultKind(r.Kind),
		Entity:      r.Entity,
		Client:      r.Client,
		Condition:   r.Condition,
		Delay:       time.Duration(r.DelayMillis) * time.Millisecond,
		After:       r.After,
		Skip:        r.Skip,
		Count:       r.Count,
		Probability: r.Probability,
		Seed:        r.Seed,
	}
	for _, op := range r.Operations {
		o.Operations = append(o.Operations, emulator.Operation(op))
	}
	if r.For == "" {
		return o, nil
	}
	var err error
	if o.For, err = h.server.ReadDuration(r.For); err != nil || o.For <= 0 {
		return o, badRequest("body.for: found %.60q; give an ISO 8601 duration of more than zero, such as PT30S or "+
			"PT1H.", r.For)
	}
	return o, nil
}

// AtFault is an argument of operations on one fault.
type AtFault struct {
	InNamespace
	Fault int64 `path:"fault"`
}

// find returns the fault.
func (in *AtFault) find(h *handler) (*emulator.Fault, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	return ns.Faults().Get(in.Fault)
}

// faults registers the operations on faults.
func (h *handler) faults() {
	const all, one = "namespaces/{namespace}/faults", "namespaces/{namespace}/faults/{fault}"
	register(h, "listFaults", "GET "+all, tagged("faults"), h.listFaults, 200, 404)
	register(h, "injectFault", "POST "+all, tagged("faults"), h.injectFault, 201, 400, 404, 409, 413)
	register(h, "removeFaults", "DELETE "+all, tagged("faults"), h.removeFaults, 204, 404)
	register(h, "getFault", "GET "+one, tagged("faults"), h.getFault, 200, 400, 404)
	register(h, "removeFault", "DELETE "+one, tagged("faults"), h.removeFault, 204, 400, 404)
}

func (h *handler) listFaults(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Fault] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return pageOf(ns.Faults().List(), "", shownFault), nil
}

func (h *handler) injectFault(_ context.Context, in *struct {
	InNamespace
	Body api.FaultOrder
}) (*struct{ Body api.Fault }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	o, err := h.faultOptions(&in.Body)
	if err != nil {
		return nil, err
	}
	f, err := ns.Faults().Inject(o)
	if err != nil {
		return nil, guessed(ns, o.Entity, err)
	}
	return &struct{ Body api.Fault }{shownFault(f)}, nil
}

func (h *handler) removeFaults(_ context.Context, in *InNamespace) (*struct{}, error) {
	ns, err := in.find(h)
	if err == nil {
		ns.Faults().RemoveAll()
	}
	return nil, err
}

func (h *handler) getFault(_ context.Context, in *AtFault) (*struct{ Body api.Fault }, error) {
	f, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Fault }{shownFault(f)}, nil
}

func (h *handler) removeFault(_ context.Context, in *AtFault) (*struct{}, error) {
	f, err := in.find(h)
	if err == nil {
		f.Remove()
	}
	return nil, err
}
