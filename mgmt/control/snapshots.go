package control

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

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
	Snapshot string `path:"snapshot" maxLength:"50" doc:"In letters of any case" example:"seeded"`
}

// longCopy is longer than any copy takes.
const longCopy = time.Hour

// snapshots registers the operations on snapshots.
func (h *handler) snapshots() {
	const all, one = "namespaces/{namespace}/snapshots", "namespaces/{namespace}/snapshots/{snapshot}"
	tags := []string{"snapshots"}
	register(h, huma.Operation{OperationID: "listSnapshots", Method: http.MethodGet, Path: all, Tags: tags,
		Summary: "The snapshots of a namespace, by name"}, h.listSnapshots, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "saveSnapshot", Method: http.MethodPost, Path: all, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Saves what is in a namespace, under a name",
		Description: "The snapshot has every entity with its settings and its next sequence numbers, every message in its state, the states of sessions, and the message ids that duplicate " +
			"detection remembers. All that was acknowledged before the request is in it. Clients go on meanwhile. Locks are not saved. The answer comes when the snapshot " +
			"is durable; a process that ends before leaves none, and so does a client that goes away before. A namespace has at most 100. 409 also says that the disk is full.",
	}, h.saveSnapshot, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge)
	register(h, huma.Operation{OperationID: "getSnapshot", Method: http.MethodGet, Path: one, Tags: tags, Summary: "One snapshot"}, h.getSnapshot,
		http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "deleteSnapshot", Method: http.MethodDelete, Path: one, Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary: "Deletes a snapshot"}, h.deleteSnapshot, http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "restoreSnapshot", Method: http.MethodPost, Path: one + "/restore", Tags: tags,
		Summary: "Makes a namespace what it was when the snapshot was saved",
		Description: "Afterwards it has those entities and no others, with the same messages, numbers, states of sessions and remembered message ids. Messages that were locked are " +
			"available. Its clock shows what it showed then, and goes on from there unless it was frozen. Its keys, port and aliases stay, and so does the snapshot. Connections stay open: links are " +
			"detached, and clients attach them again by themselves. Open transactions are rolled back, and jobs end. A process that ends, or a client that goes away, meanwhile leaves the old state or the restored one.",
	}, h.restoreSnapshot, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
}

func (h *handler) listSnapshots(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Snapshot] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	var out struct{ Body api.Page[api.Snapshot] }
	out.Body.Items = []api.Snapshot{}
	for _, r := range ns.Snapshots().List() {
		out.Body.Items = append(out.Body.Items, shownSnapshot(r))
	}
	return &out, nil
}

func (h *handler) saveSnapshot(ctx context.Context, in *struct {
	InNamespace
	Unlimited
	Body struct {
		Name    string `json:"name" doc:"1 to 50 letters, digits, hyphens, dots and underscores; begins with a letter or a digit. Names are compared without case" example:"seeded"`
		Replace bool   `json:"replace,omitempty" doc:"Takes the place of a snapshot of that name, which stays if saving fails"`
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
