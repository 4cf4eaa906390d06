package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// why registers the question why nothing is received.
func (h *handler) why() {
	register(h, huma.Operation{
		OperationID: "explainEntity", Method: http.MethodGet, Path: "namespaces/{namespace}/entities/{entity}/why", Tags: []string{"why"},
		Summary: "Why nothing is received from an entity",
		Description: "Looks at the entity, its messages and locks, its receivers and links, the rules that select for it, and what was refused lately. It changes nothing and " +
			"holds nobody up. Of a deep queue it looks at the first few thousand messages.",
	}, h.explainEntity, http.StatusNotFound)
}

func (h *handler) explainEntity(_ context.Context, in *struct {
	AtEntity
	Client string `query:"client" doc:"Only this client's receivers: the id of a connection, with /LINK for one link; the name of a link, a container, or an address"`
}) (*struct{ Body api.Diagnosis }, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Diagnosis }{h.diagnose(ns, e, sub, in.Client)}, nil
}

// diagnose says what stands in the way of receiving.
func (h *handler) diagnose(ns *emulator.Namespace, e *emulator.Entity, sub emulator.SubQueue, client string) api.Diagnosis {
	d := h.server.Why(ns, e, sub, client)
	out := api.Diagnosis{Entity: d.Path, Available: d.Available, Receivers: d.Receivers, Blocked: d.Blocked()}
	for _, f := range d.Findings {
		out.Findings = append(out.Findings, api.Finding{Code: string(f.Code), Blocks: f.Blocks, Text: f.Text, Cure: f.Cure})
	}
	return out
}
