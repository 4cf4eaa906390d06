package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
)

// diagnosis says what stands in the way of receiving from an entity.
type diagnosis struct {
	Entity    string    `json:"entity" doc:"The path, with its sub-queue"`
	Available int64     `json:"available" doc:"Messages that a receiver could have now"`
	Receivers int       `json:"receivers" doc:"Those that are attached, of the client if one was named"`
	Blocked   bool      `json:"blocked" doc:"Nothing can be received as long as the findings that block hold"`
	Findings  []finding `json:"findings" nullable:"false" doc:"Those that block first; never none"`
}

// finding is one thing that stands in the way, or explains where messages are.
type finding struct {
	Code   string `json:"code" enum:"topic,no-subscriptions,disabled,send-disabled,forwards,forward-waits,parked,no-rules,rules-match-nothing,rules-leave-out,empty,locked,sessions-held,session-required,other-session,scheduled,deferred,being-written,no-receiver,no-credit,wrong-sub-queue,dead-lettered,expired,refused,receiving"`
	Blocks bool   `json:"blocks" doc:"Nothing is received while it is so"`
	Text   string `json:"text" doc:"What is so, in sentences"`
	Cure   string `json:"cure,omitempty" doc:"What to do"`
}

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
}) (*struct{ Body diagnosis }, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	return &struct{ Body diagnosis }{h.diagnose(ns, e, sub, in.Client)}, nil
}

// diagnose says what stands in the way of receiving.
func (h *handler) diagnose(ns *emulator.Namespace, e *emulator.Entity, sub emulator.SubQueue, client string) diagnosis {
	d := h.server.Why(ns, e, sub, client)
	out := diagnosis{Entity: d.Path, Available: d.Available, Receivers: d.Receivers, Blocked: d.Blocked()}
	for _, f := range d.Findings {
		out.Findings = append(out.Findings, finding{Code: string(f.Code), Blocks: f.Blocks, Text: f.Text, Cure: f.Cure})
	}
	return out
}
