package control

import (
	"context"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// why registers the question why nothing is received.
func (h *handler) why() {
	register(h, "explainEntity", "GET "+oneEntity+"/why", tagged("why"), h.explainEntity, 200, 404)
}

func (h *handler) explainEntity(_ context.Context, in *struct {
	AtEntity
	Client string `query:"client" doc:"Only its receivers: a connection, CONNECTION/LINK, link, container or address"`
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
func (h *handler) diagnose(
	ns *emulator.Namespace, e *emulator.Entity, sub emulator.SubQueue, client string,
) api.Diagnosis {
	d := h.server.Why(ns, e, sub, client)
	out := api.Diagnosis{Entity: d.Path, Available: d.Available, Receivers: d.Receivers, Blocked: d.Blocked()}
	for _, f := range d.Findings {
		shown := api.Finding{Code: string(f.Code), Blocks: f.Blocks, Text: f.Text, Fix: f.Fix}
		out.Findings = append(out.Findings, shown)
	}
	return out
}
