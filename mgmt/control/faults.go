package control

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// shownFault returns a fault as answers show it.
func shownFault(f *emulator.Fault) api.Fault {
	o := f.Options()
	out := api.Fault{ID: f.ID(), State: string(f.State()), Hits: f.Hits(), FaultOrder: api.FaultOrder{Kind: string(o.Kind), Entity: o.Entity, Client: o.Client, Condition: f.Condition(),
		DelayMillis: int(o.Delay.Milliseconds()), After: o.After, Skip: o.Skip, Count: o.Count, Probability: o.Probability, Seed: o.Seed}}
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
	o := emulator.FaultOptions{Kind: emulator.FaultKind(r.Kind), Entity: r.Entity, Client: r.Client, Condition: r.Condition,
		Delay: time.Duration(r.DelayMillis) * time.Millisecond, After: r.After, Skip: r.Skip, Count: r.Count, Probability: r.Probability, Seed: r.Seed}
	for _, op := range r.Operations {
		o.Operations = append(o.Operations, emulator.Operation(op))
	}
	if r.For == "" {
		return o, nil
	}
	var err error
	if o.For, err = h.server.ReadDuration(r.For); err != nil || o.For <= 0 {
		return o, badRequest("body.for: found %.60q; give an ISO 8601 duration of more than zero, such as PT30S or PT1H.", r.For)
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
	tags := []string{"faults"}
	register(h, huma.Operation{OperationID: "listFaults", Method: http.MethodGet, Path: all, Tags: tags,
		Summary: "The faults that were injected into a namespace, the oldest first"}, h.listFaults, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "injectFault", Method: http.MethodPost, Path: all, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Lets operations of clients go wrong from now on",
		Description: "An operation is struck by the first fault that fits it. Faults concern clients over AMQP and the runtime API over HTTP, not the control API. Each strike is an event of " +
			"the kind fault in the history. A namespace has at most 100 faults; those that strike no more make room for others. A restart forgets faults, and a reset of the namespace removes them.",
	}, h.injectFault, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge)
	register(h, huma.Operation{OperationID: "removeFaults", Method: http.MethodDelete, Path: all, Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary: "Removes all faults of a namespace. What they keep back goes on"}, h.removeFaults, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "getFault", Method: http.MethodGet, Path: one, Tags: tags, Summary: "One fault, with how often it has struck"},
		h.getFault, http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "removeFault", Method: http.MethodDelete, Path: one, Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary: "Removes a fault. What it keeps back goes on"}, h.removeFault, http.StatusBadRequest, http.StatusNotFound)
}

func (h *handler) listFaults(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Fault] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	var out struct{ Body api.Page[api.Fault] }
	out.Body.Items = []api.Fault{}
	for _, f := range ns.Faults().List() {
		out.Body.Items = append(out.Body.Items, shownFault(f))
	}
	return &out, nil
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
