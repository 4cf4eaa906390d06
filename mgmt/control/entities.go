package control

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
)

// entity is a queue, topic or subscription in a list.
type entity struct {
	Path   string `json:"path"`
	Kind   string `json:"kind" enum:"queue,topic,subscription"`
	Status string `json:"status" enum:"Active,Disabled,SendDisabled,ReceiveDisabled"`
	Counts counts `json:"counts"`
}

// counts are the messages of an entity by state.
type counts struct {
	Active             int64 `json:"active" doc:"Active ones, with those that are locked or deferred"`
	Deferred           int64 `json:"deferred" doc:"Of the active ones, those that are deferred"`
	Scheduled          int64 `json:"scheduled"`
	DeadLetter         int64 `json:"deadLetter"`
	Transfer           int64 `json:"transfer" doc:"Those that wait to be forwarded"`
	TransferDeadLetter int64 `json:"transferDeadLetter" doc:"Those that could not be forwarded"`
	SizeBytes          int64 `json:"sizeBytes" doc:"What they take of the entity's quota; of a topic with those of its subscriptions"`
}

// kinds are the names of the kinds of entities.
var kinds = map[emulator.EntityKind]string{
	emulator.KindQueue: "queue", emulator.KindTopic: "topic", emulator.KindSubscription: "subscription",
}

// entities registers the operations on entities.
func (a *api) entities() {
	register(a, huma.Operation{
		OperationID: "listEntities", Method: http.MethodGet, Path: "namespaces/{namespace}/entities", Tags: []string{"entities"},
		Summary: "The queues, topics and subscriptions of a namespace, by path",
	}, a.listEntities, http.StatusBadRequest, http.StatusNotFound)
	register(a, huma.Operation{
		OperationID: "getEntity", Method: http.MethodGet, Path: "namespaces/{namespace}/entities/{entity}", Tags: []string{"entities"},
		Summary: "One queue, topic or subscription",
	}, a.getEntity, http.StatusNotFound)
}

func (a *api) listEntities(_ context.Context, in *struct {
	InNamespace
	Paged
	Kind string `query:"kind" enum:"queue,topic,subscription" doc:"Only those of a kind"`
	Text string `query:"text" doc:"Only those whose path contains the text, in letters of any case"`
}) (*struct{ Body page[entity] }, error) {
	ns, err := in.find(a)
	if err != nil {
		return nil, err
	}
	var found []*emulator.Entity
	for kind, name := range kinds {
		if in.Kind != "" && in.Kind != name {
			continue
		}
		list, _ := ns.Page(kind, 0, maxEntities)
		for _, e := range list {
			if path := strings.ToLower(e.Path()); path > in.Cursor && strings.Contains(path, strings.ToLower(in.Text)) {
				found = append(found, e)
			}
		}
	}
	slices.SortFunc(found, func(x, y *emulator.Entity) int {
		return strings.Compare(strings.ToLower(x.Path()), strings.ToLower(y.Path()))
	})
	var out struct{ Body page[entity] }
	if len(found) > in.Limit {
		found = found[:in.Limit]
		out.Body.Next = strings.ToLower(found[in.Limit-1].Path())
	}
	out.Body.Items = make([]entity, len(found))
	for i, e := range found {
		out.Body.Items[i] = shownEntity(e)
	}
	return &out, nil
}

func (a *api) getEntity(_ context.Context, in *AtEntity) (*struct{ Body entity }, error) {
	e, _, err := in.find(a)
	if err != nil {
		return nil, err
	}
	return &struct{ Body entity }{shownEntity(e)}, nil
}

// maxEntities is more than a namespace can have.
const maxEntities = 1 << 30

// shownEntity returns an entity as lists show it.
func shownEntity(e *emulator.Entity) entity {
	status := e.Options().Status
	if status == "" {
		status = emulator.StatusActive
	}
	return entity{Path: e.Path(), Kind: kinds[e.Kind()], Status: string(status), Counts: shownCounts(e.Counts())}
}

// shownCounts returns counts as answers show them.
func shownCounts(c emulator.Counts) counts {
	return counts{Active: c.Active, Deferred: c.Deferred, Scheduled: c.Scheduled, DeadLetter: c.DeadLetter, Transfer: c.Transfer,
		TransferDeadLetter: c.TransferDeadLetter, SizeBytes: c.SizeBytes}
}

// AtEntity is an argument of operations on one entity.
type AtEntity struct {
	InNamespace
	Entity string `path:"entity" doc:"The path, with each slash as %2F: orders, events%2FSubscriptions%2Flarge, orders%2F$DeadLetterQueue"`
}

// find returns the entity and the sub-queue that the path names.
func (in *AtEntity) find(a *api) (*emulator.Entity, emulator.SubQueue, error) {
	ns, err := in.InNamespace.find(a)
	if err != nil {
		return nil, 0, err
	}
	return ns.EntityAt(in.Entity)
}
