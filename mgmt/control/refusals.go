package control

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// refusal is a link or a token that was refused.
type refusal struct {
	Time      time.Time `json:"time"`
	Operation string    `json:"operation" enum:"attach,put-token"`
	Entity    string    `json:"entity,omitempty" doc:"What the client asked for; none: the whole namespace"`
	SubQueue  string    `json:"subQueue,omitempty" enum:"$DeadLetterQueue,$Transfer/$DeadLetterQueue" doc:"None: the main queue"`
	Condition string    `json:"condition" doc:"The AMQP condition of the error"`
	Text      string    `json:"text" doc:"What the client was told"`
	Client    client    `json:"client"`
}

// refusals registers the operation on what was refused.
func (h *handler) refusals() {
	register(h, huma.Operation{
		OperationID: "listRefusals", Method: http.MethodGet, Path: "namespaces/{namespace}/refusals", Tags: []string{"connections"},
		Summary:     "The links and tokens that were refused lately, the latest first",
		Description: "Minibus remembers the last 256 of the process, in memory.",
	}, h.listRefusals, http.StatusNotFound)
}

func (h *handler) listRefusals(_ context.Context, in *InNamespace) (*struct{ Body page[refusal] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	out := &struct{ Body page[refusal] }{page[refusal]{Items: []refusal{}}}
	for _, r := range h.server.Refusals(ns) {
		shown := refusal{Time: r.At.UTC(), Operation: r.Operation, Entity: r.Entity, SubQueue: r.Sub.Name(), Condition: r.Condition, Text: r.Text}
		if r.Client != nil {
			shown.Client = client{Connection: r.Client.Connection, Link: r.Client.Link, Container: r.Client.Container, Product: r.Client.Product, Remote: r.Client.Remote}
		}
		out.Body.Items = append(out.Body.Items, shown)
	}
	return out, nil
}
