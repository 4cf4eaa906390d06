package control

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/mgmt/control/api"
)

// Inspector is what the process knows of its clients.
type Inspector interface {
	// OpenConnections returns the ids of the open connections of a namespace, and of the HTTP requests that wait for
	// a message, in no order.
	OpenConnections(ns *emulator.Namespace) []string
	// Connections describes those that chosen approves, in no order. One that has ended meanwhile is left out.
	Connections(ns *emulator.Namespace, chosen func(id string) bool) []api.Connection
	CloseConnection(ns *emulator.Namespace, id string) error
	DetachLink(ns *emulator.Namespace, id string, link int64) error
	// Refusals returns the links and tokens of a namespace that were refused last, the latest first.
	Refusals(ns *emulator.Namespace) []emulator.Refusal
	// Why says what stands in the way of receiving from an entity; client is as of [emulator.Client.Is].
	Why(ns *emulator.Namespace, e *emulator.Entity, sub emulator.SubQueue, client string) emulator.Diagnosis
}

// connections registers the operations on connections and links.
func (h *handler) connections() {
	const all, one = "namespaces/{namespace}/connections", "namespaces/{namespace}/connections/{connection}"
	register(h, "listConnections", "GET "+all, tagged("connections"), h.listConnections, 200, 400, 404)
	register(h, "getConnection", "GET "+one, tagged("connections"), h.getConnection, 200, 404)
	register(h, "closeConnection", "DELETE "+one, tagged("connections"), h.closeConnection, 204, 404, 409)
	register(h, "detachLink", "DELETE "+one+"/links/{link}", tagged("connections"), h.detachLink, 204, 400, 404, 409)
}

// AtConnection is an argument of operations on one connection.
type AtConnection struct {
	InNamespace
	Connection string `path:"connection" doc:"The id"`
}

func (h *handler) listConnections(_ context.Context, in *struct {
	InNamespace
	Paged
	Entity string `query:"entity" doc:"Only those with a link to this entity or sub-queue, and busy ones"`
}) (*struct{ Body api.Page[api.Connection] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(h.server.OpenConnections(ns), func(id string) bool {
		return in.Cursor != "" && CompareIDs(id, in.Cursor) <= 0
	})
	slices.SortFunc(ids, CompareIDs)
	var out struct{ Body api.Page[api.Connection] }
	if in.Entity == "" && len(ids) > in.Limit { // then only those of the page are asked
		ids = ids[:in.Limit]
		out.Body.Next = ids[in.Limit-1]
	}
	list := h.server.Connections(ns, func(id string) bool {
		_, chosen := slices.BinarySearchFunc(ids, id, CompareIDs)
		return chosen
	})
	list = slices.DeleteFunc(list, func(c api.Connection) bool {
		return in.Entity != "" && !c.Busy && !reaches(&c, in.Entity)
	})
	slices.SortFunc(list, func(x, y api.Connection) int { return CompareIDs(x.ID, y.ID) })
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.Body.Next = list[in.Limit-1].ID
	}
	out.Body.Items = append([]api.Connection{}, list...)
	return &out, nil
}

// CompareIDs orders ids by the age of their connections.
func CompareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// reaches reports whether a link leads to an entity, or, if the path names one, to its sub-queue.
func reaches(c *api.Connection, path string) bool {
	path, sub := entitypath.CutSubQueue(path)
	return slices.ContainsFunc(c.Links, func(l api.Link) bool {
		return strings.EqualFold(l.Entity, path) && (sub == emulator.Main || strings.EqualFold(l.SubQueue, sub.Name()))
	})
}

func (h *handler) getConnection(_ context.Context, in *AtConnection) (*struct{ Body api.Connection }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	for _, c := range h.server.Connections(ns, func(id string) bool { return id == in.Connection }) {
		return &struct{ Body api.Connection }{c}, nil
	}
	return nil, newError(http.StatusNotFound, nil, "There is no open connection '%s' in the namespace. "+
		"List the connections to see which there are.", in.Connection)
}

func (h *handler) closeConnection(_ context.Context, in *AtConnection) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.CloseConnection(ns, in.Connection)
}

func (h *handler) detachLink(_ context.Context, in *struct {
	AtConnection
	Link int64 `path:"link" minimum:"1" doc:"The id of the link"`
}) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.DetachLink(ns, in.Connection, in.Link)
}

// refusals registers the operation on what was refused.
func (h *handler) refusals() {
	register(h, "listRefusals", "GET namespaces/{namespace}/refusals", tagged("connections"), h.listRefusals, 200, 404)
}

func (h *handler) listRefusals(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Refusal] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return pageOf(h.server.Refusals(ns), "", func(r emulator.Refusal) api.Refusal {
		shown := api.Refusal{
			Time:      r.At.UTC(),
			Operation: r.Operation,
			Entity:    r.Entity,
			SubQueue:  r.Sub.Name(),
			Condition: r.Condition,
			Text:      r.Text,
		}
		if c := shownClient(r.Client); c != nil {
			shown.Client = *c
		}
		return shown
	}), nil
}
