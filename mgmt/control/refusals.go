package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"minibus/mgmt/control/api"
)

// refusals registers the operation on what was refused.
func (h *handler) refusals() {
	register(h, huma.Operation{
		OperationID: "listRefusals", Method: http.MethodGet, Path: "namespaces/{namespace}/refusals", Tags: []string{"connections"},
		Summary:     "The links and tokens that were refused lately, the latest first",
		Description: "Minibus remembers the last 256 of the process, in memory.",
	}, h.listRefusals, http.StatusNotFound)
}

func (h *handler) listRefusals(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Refusal] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	out := &struct{ Body api.Page[api.Refusal] }{api.Page[api.Refusal]{Items: []api.Refusal{}}}
	for _, r := range h.server.Refusals(ns) {
		shown := api.Refusal{Time: r.At.UTC(), Operation: r.Operation, Entity: r.Entity, SubQueue: r.Sub.Name(), Condition: r.Condition, Text: r.Text}
		if r.Client != nil {
			shown.Client = api.Client{Connection: r.Client.Connection, Link: r.Client.Link, Container: r.Client.Container, Product: r.Client.Product, Remote: r.Client.Remote}
		}
		out.Body.Items = append(out.Body.Items, shown)
	}
	return out, nil
}
