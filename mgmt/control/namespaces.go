package control

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control/api"
)

// rights are all that there are.
var rights = []string{"Manage", "Send", "Listen"}

// Operations that stand out: see guard.
const listNamespaces, deleteNamespace = "listNamespaces", "deleteNamespace"

// namespaces registers the operations on namespaces.
func (h *handler) namespaces() {
	register(h, listNamespaces, "GET namespaces", tagged("namespaces"), h.listNamespaces, 200)
	creation := &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{
		AnyOf: []*huma.Schema{{Ref: schemas + "NamespaceCreation"}, {Ref: schemas + "Configuration"}}}}}}
	register(h, "createNamespace", "POST namespaces", huma.Operation{
		Tags:             []string{"namespaces"},
		MaxBodyBytes:     maxConfig,
		SkipValidateBody: true,
		RequestBody:      creation,
	}, h.create, 201, 400, 409, 413)
	creation.Required = false // registering has set it
	register(h, "getNamespace", "GET namespaces/{namespace}", tagged("namespaces"), h.getNamespace, 200, 404)
	register(h, deleteNamespace, "DELETE namespaces/{namespace}", tagged("namespaces"),
		h.deleteNamespace, 204, 404, 409)
}

// namespaceList is an answer with all namespaces.
type namespaceList struct {
	Body struct {
		Namespaces []api.Namespace `json:"namespaces" nullable:"false"`
	}
}

func (h *handler) listNamespaces(ctx context.Context, in *Host) (*namespaceList, error) {
	var out namespaceList
	out.Body.Namespaces = []api.Namespace{}
	open := gateOf(ctx)
	for _, ns := range h.server.Broker().Namespaces() {
		if open(ns) == nil {
			out.Body.Namespaces = append(out.Body.Namespaces, h.shown(ns, in.name))
		}
	}
	if len(out.Body.Namespaces) == 0 {
		if refusal := open(nil); refusal != nil {
			return nil, refusal
		}
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
	limits, _ := ns.Profile().MarshalText() // a namespace has one that exists
	n := api.Namespace{
		Name:              ns.Name(),
		Default:           ns == h.server.Broker().Default(),
		Created:           instant(ns.Created()),
		Limits:            string(limits),
		Port:              o.Port,
		Aliases:           o.Aliases,
		ConnectionStrings: []api.ConnectionString{},
	}
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
