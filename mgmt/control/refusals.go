package control

import (
	"context"

	"minibus/mgmt/control/api"
)

// refusals registers the operation on what was refused.
func (h *handler) refusals() {
	register(h, "listRefusals", "GET namespaces/{namespace}/refusals", tagged("connections"), h.listRefusals, 200, 404)
}

func (h *handler) listRefusals(_ context.Context, in *InNamespace) (*struct{ Body api.Page[api.Refusal] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	out := &struct{ Body api.Page[api.Refusal] }{api.Page[api.Refusal]{Items: []api.Refusal{}}}
	for _, r := range h.server.Refusals(ns) {
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
		out.Body.Items = append(out.Body.Items, shown)
	}
	return out, nil
}
