package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control/api"
)

// rights are all that there are.
var rights = []string{"Manage", "Send", "Listen"}

// namespaces registers the operations on namespaces.
func (h *handler) namespaces() {
	tags := []string{"namespaces"}
	register(h, huma.Operation{
		OperationID: "listNamespaces", Method: http.MethodGet, Path: "namespaces", Tags: tags, Summary: "All namespaces, by name",
	}, h.listNamespaces)
	creation := &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{
		AnyOf: []*huma.Schema{{Ref: schemas + "NamespaceCreation"}, {Ref: schemas + "Configuration"}}}}}}
	register(h, huma.Operation{
		OperationID: "createNamespace", Method: http.MethodPost, Path: "namespaces", Tags: tags, Summary: "Creates a namespace", DefaultStatus: http.StatusCreated,
		Description: "The answer comes when the namespace is durable with all of its entities. If anything is wrong, no namespace is created. " +
			"Without a name Minibus makes one up. Without a port the namespace gets one of --namespace-ports, if that is set. The case of letters in the keys of the body does not count. " +
			"The body may be a whole Config.json: of a file with several namespaces the one of the query's name counts, and AuthorizationRules, Aliases and Port are those of the file.",
		MaxBodyBytes:     maxConfig,
		SkipValidateBody: true, // package config and the rest of the operation do it better
		RequestBody:      creation,
	}, h.create, http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge)
	creation.Required = false // registering has set it
	register(h, huma.Operation{
		OperationID: "getNamespace", Method: http.MethodGet, Path: "namespaces/{namespace}", Tags: tags, Summary: "One namespace",
	}, h.getNamespace, http.StatusNotFound)
	register(h, huma.Operation{
		OperationID: "deleteNamespace", Method: http.MethodDelete, Path: "namespaces/{namespace}", Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary: "Deletes a namespace with everything in it, and ends its clients' connections",
	}, h.deleteNamespace, http.StatusNotFound, http.StatusConflict)
}

// namespaceList is an answer with all namespaces.
type namespaceList struct {
	Body struct {
		Namespaces []api.Namespace `json:"namespaces" nullable:"false"`
	}
}

func (h *handler) listNamespaces(_ context.Context, in *Host) (*namespaceList, error) {
	var out namespaceList
	out.Body.Namespaces = []api.Namespace{}
	for _, ns := range h.server.Broker().Namespaces() {
		out.Body.Namespaces = append(out.Body.Namespaces, h.shown(ns, in.name))
	}
	return &out, nil
}

func (h *handler) getNamespace(_ context.Context, in *InNamespace) (*struct{ Body api.Namespace }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Namespace }{h.shown(ns, in.host)}, nil
}

func (h *handler) deleteNamespace(_ context.Context, in *InNamespace) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.DeleteNamespace(ns.Name())
}

// shown returns a namespace as answers show it to a client that reached the server by the name of a host.
func (h *handler) shown(ns *emulator.Namespace, host string) api.Namespace {
	o := ns.Options()
	limits, _ := ns.Limits().MarshalText() // a namespace has one that exists
	n := api.Namespace{Name: ns.Name(), Default: ns == h.server.Broker().Default(), Created: instant(ns.Created()), Limits: string(limits),
		Port: o.Port, Aliases: o.Aliases, ConnectionStrings: []api.ConnectionString{}}
	endpoint := sas.Local(h.server.Endpoint(ns, host))
	with := func(p sas.Policy) string {
		endpoint.KeyName, endpoint.Key = p.Name, p.Primary
		return endpoint.String()
	}
	policies := h.server.Policies(ns)
	n.ConnectionString = with(sas.Administrator(policies))
	for _, p := range policies {
		s := api.ConnectionString{KeyName: p.Name, Rights: []string{}, Value: with(p)}
		for i, claim := range []sas.Claims{sas.Manage, sas.Send, sas.Listen} {
			if p.Claims.Allows(claim) {
				s.Rights = append(s.Rights, rights[i])
			}
		}
		n.ConnectionStrings = append(n.ConnectionStrings, s)
	}
	return n
}
