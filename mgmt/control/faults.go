package control

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
)

// FaultOrder says what a fault does, and to whom.
type FaultOrder struct {
	Kind        string   `json:"kind" enum:"throttle,refuse,detach,drop,close,loseLock,loseSession,delay,starve,failJournal,expireToken" doc:"What happens to an operation: it is refused with server-busy, or with a condition; its link is detached, its connection cut or closed; the lock of the message or of the session ends before it; its outcome comes later; senders get no credit and receivers no messages; its change can't be written; the tokens of its connection are over"`
	Operations  []string `json:"operations,omitempty" nullable:"false" enum:"attachSender,attachReceiver,send,receive,settle,renew,manage,authenticate,now" doc:"Which are struck; none: those that are usual for the kind. now strikes at once what is connected"`
	Entity      string   `json:"entity,omitempty" example:"orders" doc:"A path, with a sub-queue if that is meant; none: all entities"`
	Client      string   `json:"client,omitempty" maxLength:"255" doc:"The id of a connection, its container, client library or address, or a link; none: all clients"`
	Condition   string   `json:"condition,omitempty" example:"not-found" doc:"Of the error, with kind refuse, detach, close and failJournal; none: what the service says"`
	DelayMillis int      `json:"delayMilliseconds,omitempty" minimum:"1" maximum:"600000" doc:"With kind delay: how long the outcome is kept back, in real time"`
	After       bool     `json:"after,omitempty" doc:"With kind detach, drop and close and the operations send and settle: the operation is carried out, and only its answer is lost"`
	Skip        int      `json:"skip,omitempty" minimum:"0" doc:"How many operations go well first"`
	Count       int      `json:"count,omitempty" minimum:"0" doc:"How many operations are struck; none: all"`
	Probability float64  `json:"probability,omitempty" minimum:"0" maximum:"1" doc:"That an operation is struck; none: it is"`
	Seed        int64    `json:"seed,omitempty" minimum:"0" maximum:"2147483647" doc:"Of the choice: the same seed strikes the same operations again; none: a new one"`
	For         string   `json:"for,omitempty" example:"PT1M" doc:"How long, by the clock of the namespace, as an ISO 8601 duration; none: until it is removed"`
}

// fault is a fault that was injected.
type fault struct {
	ID int64 `json:"id"`
	FaultOrder
	Until *time.Time `json:"until,omitempty" doc:"When it is over, by the clock of the namespace"`
	State string     `json:"state" enum:"active,spent,over,removed" doc:"spent: it has struck as often as it was to. over: its time is"`
	Hits  int        `json:"hits" doc:"How many operations it has struck; with kind starve, how many links"`
}

// shownFault returns a fault as answers show it.
func shownFault(f *emulator.Fault) fault {
	o := f.Options()
	out := fault{ID: f.ID(), State: string(f.State()), Hits: f.Hits(), FaultOrder: FaultOrder{Kind: string(o.Kind), Entity: o.Entity, Client: o.Client, Condition: f.Condition(),
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

// options returns what the domain makes a fault of.
func (r *FaultOrder) options(h *handler) (emulator.FaultOptions, error) {
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
	return ns.Fault(in.Fault)
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

func (h *handler) listFaults(_ context.Context, in *InNamespace) (*struct{ Body page[fault] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	var out struct{ Body page[fault] }
	out.Body.Items = []fault{}
	for _, f := range ns.Faults() {
		out.Body.Items = append(out.Body.Items, shownFault(f))
	}
	return &out, nil
}

func (h *handler) injectFault(_ context.Context, in *struct {
	InNamespace
	Body FaultOrder
}) (*struct{ Body fault }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	o, err := in.Body.options(h)
	if err != nil {
		return nil, err
	}
	f, err := ns.Inject(o)
	if err != nil {
		return nil, guessed(ns, o.Entity, err)
	}
	return &struct{ Body fault }{shownFault(f)}, nil
}

func (h *handler) removeFaults(_ context.Context, in *InNamespace) (*struct{}, error) {
	ns, err := in.find(h)
	if err == nil {
		ns.RemoveFaults()
	}
	return nil, err
}

func (h *handler) getFault(_ context.Context, in *AtFault) (*struct{ Body fault }, error) {
	f, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return &struct{ Body fault }{shownFault(f)}, nil
}

func (h *handler) removeFault(_ context.Context, in *AtFault) (*struct{}, error) {
	f, err := in.find(h)
	if err == nil {
		f.Remove()
	}
	return nil, err
}
