package control

import (
	"context"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
	"minibus/mgmt/control/api"
)

// jobStates are the names of the domain's states.
var jobStates = map[emulator.JobState]string{
	emulator.JobRunning:   "running",
	emulator.JobDone:      "done",
	emulator.JobCancelled: "cancelled",
	emulator.JobFailed:    "failed",
}

// shownJob returns a job as answers show it.
func shownJob(j *emulator.Job) api.Job {
	p, o := j.Progress(), j.Options()
	out := api.Job{
		ID:       j.ID(),
		Kind:     "purge",
		Entity:   o.Sub.Join(j.Entity().Path()),
		State:    jobStates[p.State],
		Total:    p.Total,
		Examined: p.Examined,
		Done:     p.Done,
		Failed:   p.Failed,
		Skipped:  p.Skipped,
		Errors:   []api.JobError{},
		Why:      p.Why,
		Started:  instant(j.Started()),
	}
	if o.Kind == emulator.MoveJob {
		if out.Kind, out.Target = "move", o.Target; out.Target == "" {
			out.Target = j.Entity().Path()
		}
		if o.Again {
			out.Kind = "resubmit"
		}
	}
	if p.Ended != 0 {
		t := instant(p.Ended)
		out.Ended = &t
	}
	for _, e := range p.Errors {
		out.Errors = append(out.Errors, api.JobError{SequenceNumber: e.Seq, Detail: e.Text})
	}
	return out
}

// WaitForJob is an argument of operations that can wait until a job has ended.
type WaitForJob struct {
	Wait Waiting `query:"wait" pattern:"^[0-9]{1,5}(ms|s)$" example:"10s" doc:"How long to wait for its end, up to 60s"`
}

// shown waits and returns the job.
func (in *WaitForJob) shown(ctx context.Context, j *emulator.Job) (*struct{ Body api.Job }, error) {
	wait, err := in.Wait.duration()
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		select {
		case <-j.Ended():
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return &struct{ Body api.Job }{shownJob(j)}, nil
}

// AtJob is an argument of operations on one job.
type AtJob struct {
	InNamespace
	Job int64 `path:"job"`
}

// find returns the job.
func (in *AtJob) find(h *handler) (*emulator.Job, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	return ns.Jobs().Get(in.Job)
}

// jobs registers the operations on jobs.
func (h *handler) jobs() {
	const all, one = "namespaces/{namespace}/jobs", "namespaces/{namespace}/jobs/{job}"
	register(h, "listJobs", "GET "+all, tagged("jobs"), h.listJobs, 200, 404)
	register(h, "startJob", "POST "+all, tagged("jobs"), h.startJob, 201, 400, 404, 409, 413)
	register(h, "getJob", "GET "+one, tagged("jobs"), h.getJob, 200, 400, 404)
	register(h, "cancelJob", "POST "+one+"/cancel", tagged("jobs"), h.cancelJob, 200, 400, 404)
}

func (h *handler) listJobs(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Job] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return pageOf(ns.Jobs().List(), "", shownJob), nil
}

func (h *handler) startJob(ctx context.Context, in *struct {
	InNamespace
	WaitForJob
	Body api.JobOrder
}) (*struct{ Body api.Job }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	if _, err := in.Wait.duration(); err != nil {
		return nil, err
	}
	e, o, err := jobOptions(ns, &in.Body)
	if err != nil {
		return nil, err
	}
	o.Client = in.client
	j, err := ns.Jobs().Start(e, o)
	if err != nil {
		return nil, err
	}
	return in.shown(ctx, j)
}

func (h *handler) getJob(ctx context.Context, in *struct {
	AtJob
	WaitForJob
}) (*struct{ Body api.Job }, error) {
	j, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return in.shown(ctx, j)
}

func (h *handler) cancelJob(ctx context.Context, in *struct {
	AtJob
	WaitForJob
}) (*struct{ Body api.Job }, error) {
	j, err := in.find(h)
	if err != nil {
		return nil, err
	}
	j.Cancel()
	return in.shown(ctx, j)
}

// states are the domain's, by name.
var states = map[string]emulator.State{
	"active":    emulator.Active,
	"deferred":  emulator.Deferred,
	"scheduled": emulator.Scheduled,
}

// jobOptions returns the entity and what to do there.
func jobOptions(ns *emulator.Namespace, r *api.JobOrder) (*emulator.Entity, emulator.JobOptions, error) {
	o := emulator.JobOptions{Target: r.Target, Max: r.Max}
	path, sub := entitypath.CutSubQueue(r.Entity)
	o.Sub = sub
	switch r.Kind {
	case "move":
		if o.Kind = emulator.MoveJob; r.Target == "" {
			return nil, o, badRequest("A move needs a target.")
		}
	case "resubmit":
		o.Again = true
		if o.Kind = emulator.MoveJob; sub == emulator.Main {
			o.Sub = emulator.DeadLetter
		}
	default:
		if r.Target != "" || r.Edit != nil {
			return nil, o, badRequest("A purge has no target and no edit.")
		}
	}
	o.Select = selectionOf(r.Filter)
	var err error
	if r.Edit != nil {
		if o.Edit, err = editOf(r.Edit); err != nil {
			return nil, o, err
		}
	}
	o.Edit.Strip = o.Again
	if r.Edit != nil && r.Edit.Strip != nil {
		o.Edit.Strip = *r.Edit.Strip
	}
	e, err := ns.Entity(path)
	return e, o, guessed(ns, path, err)
}

func selectionOf(f *api.JobFilter) (s emulator.Selection) {
	if f == nil {
		return s
	}
	s = emulator.Selection{SQL: f.SQL, Text: f.Text, Reason: f.Reason, SessionID: f.SessionID, Seqs: f.SequenceNumbers}
	for _, name := range f.States {
		s.States = append(s.States, states[name])
	}
	if f.Before != nil {
		s.Before = end(*f.Before)
	}
	return s
}

func editOf(x *api.JobEdit) (e emulator.Edit, err error) {
	e = emulator.Edit{Remove: x.RemoveProperties}
	if e.Properties, err = encodeProperties(x.Properties); err != nil {
		return e, err
	}
	var system message.Map
	for key, value := range map[string]*string{
		message.SystemMessageID:     x.MessageID,
		message.SystemSessionID:     x.SessionID,
		message.SystemLabel:         x.Subject,
		message.SystemContentType:   x.ContentType,
		message.SystemCorrelationID: x.CorrelationID,
		message.SystemTo:            x.To,
		message.SystemReplyTo:       x.ReplyTo,
	} {
		if value != nil {
			system = append(system, amqp.Pair{Key: key, Value: *value})
		}
	}
	if x.ScheduledEnqueueTime != nil {
		at := amqp.Timestamp(x.ScheduledEnqueueTime.UnixMilli())
		system = append(system, amqp.Pair{Key: message.SystemScheduled, Value: at})
	}
	if e.System, err = message.EncodeProperties(system); err != nil {
		return e, badRequest("edit: %v.", err)
	}
	if x.Body != nil && x.BodyBase64 != nil {
		return e, badRequest("edit: give the body as body or as bodyBase64, not both.")
	}
	body := x.BodyBase64
	if x.Body != nil {
		body = []byte(*x.Body)
	}
	if x.Body != nil || x.BodyBase64 != nil {
		e.Body = message.DataSection(body)
	}
	return e, nil
}
