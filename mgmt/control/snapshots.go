package control

import (
	"context"
	"time"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

func shownSnapshot(r emulator.SnapshotRecord) api.Snapshot {
	return api.Snapshot{Name: r.Name, Saved: instant(r.Saved), Now: instant(r.Now), Frozen: r.Frozen,
		Entities: r.Entities, Messages: r.Messages, Bytes: r.Bytes}
}

// AtSnapshot is an argument of operations on one snapshot.
type AtSnapshot struct {
	InNamespace
	Snapshot string `path:"snapshot" maxLength:"50" doc:"Case-insensitive" example:"seeded"`
}

// longCopy is longer than any copy takes.
const longCopy = time.Hour

// snapshots registers the operations on snapshots.
func (h *handler) snapshots() {
	const all, one = "namespaces/{namespace}/snapshots", "namespaces/{namespace}/snapshots/{snapshot}"
	register(h, "listSnapshots", "GET "+all, tagged("snapshots"), h.listSnapshots, 200, 404)
	register(h, "saveSnapshot", "POST "+all, tagged("snapshots"), h.saveSnapshot, 201, 400, 404, 409, 413)
	register(h, "getSnapshot", "GET "+one, tagged("snapshots"), h.getSnapshot, 200, 400, 404)
	register(h, "deleteSnapshot", "DELETE "+one, tagged("snapshots"), h.deleteSnapshot, 204, 400, 404)
	register(h, "restoreSnapshot", "POST "+one+"/restore", tagged("snapshots"), h.restoreSnapshot, 200, 400, 404, 409)
}

func (h *handler) listSnapshots(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Snapshot] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return pageOf(ns.Snapshots().List(), "", shownSnapshot), nil
}

func (h *handler) saveSnapshot(ctx context.Context, in *struct {
	InNamespace
	Unlimited
	Body struct {
		Name    string `json:"name" example:"seeded" doc:"1 to 50 letters, digits, hyphens, dots, underscores"`
		Replace bool   `json:"replace,omitempty" doc:"Replaces one of that name, which stays if saving fails"`
	}
}) (*struct{ Body api.Snapshot }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	in.lift(longCopy)
	r, err := ns.Snapshots().Save(ctx, in.Body.Name, in.Body.Replace)
	if ctx.Err() != nil {
		return nil, errGone()
	}
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Snapshot }{shownSnapshot(r)}, nil
}

func (h *handler) getSnapshot(_ context.Context, in *AtSnapshot) (*struct{ Body api.Snapshot }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	r, err := ns.Snapshots().Get(in.Snapshot)
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Snapshot }{shownSnapshot(r)}, nil
}

func (h *handler) deleteSnapshot(_ context.Context, in *AtSnapshot) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, ns.Snapshots().Delete(in.Snapshot)
}

func (h *handler) restoreSnapshot(ctx context.Context, in *struct {
	AtSnapshot
	Unlimited
}) (*struct{ Body api.Snapshot }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	in.lift(longCopy)
	r, err := ns.Snapshots().Restore(ctx, in.Snapshot)
	if ctx.Err() != nil {
		return nil, errGone()
	}
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Snapshot }{shownSnapshot(r)}, nil
}

// State brings namespaces back to what they were.
type State interface {
	// ResetNamespace makes a namespace what it was at the start: that of its configuration, or else what it was
	// created with.
	ResetNamespace(ns *emulator.Namespace) error
}

// state registers the operations on the state of a namespace as a whole.
func (h *handler) state() {
	register(h, "resetNamespace", "POST namespaces/{namespace}/reset", tagged("state"), h.resetNamespace, 204, 404)
}

func (h *handler) resetNamespace(_ context.Context, in *InNamespace) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.ResetNamespace(ns)
}
