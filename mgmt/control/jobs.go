package control

import (
	"context"
	"time"

	"minibus/emulator"
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
	var out struct{ Body api.Page[api.Job] }
	out.Body.Items = []api.Job{}
	for _, j := range ns.Jobs().List() {
		out.Body.Items = append(out.Body.Items, shownJob(j))
	}
	return &out, nil
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
	o.Client = in.who
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
