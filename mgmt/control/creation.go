package control

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/internal/strictjson"
	"minibus/mgmt/control/api"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20

// creation is the body of a request to create a namespace.
type creation struct {
	Name    string            `json:"name"`
	Limits  *emulator.Profile `json:"limits"`
	Port    int               `json:"port"`
	Aliases []string          `json:"aliases"`
	Rules   []rule            `json:"authorizationRules"`

	// Queues and Topics have the form of Config.json. The server reads them.
	Queues json.RawMessage `json:"Queues"`
	Topics json.RawMessage `json:"Topics"`
}

// rule is a policy of a new namespace.
type rule struct {
	KeyName      string   `json:"keyName"`
	Rights       []string `json:"rights"`
	PrimaryKey   string   `json:"primaryKey"` // empty: a random one
	SecondaryKey string   `json:"secondaryKey"`
}

// createInput are the arguments of an operation whose body has parts in the form of Config.json. Package config reads
// them, so Huma does not read the body.
type createInput struct {
	Host
	Name    string `query:"name" doc:"As name in the body, which a whole Config.json does not have"`
	Limits  string `query:"limits" enum:"relaxed,standard,premium,emulator" doc:"As limits in the body"`
	RawBody []byte
}

// Host is the name by which the client reached the server, which an operation needs for connection strings.
type Host struct{ name string }

// Resolve implements [huma.Resolver].
func (h *Host) Resolve(ctx huma.Context) []error {
	h.name = ctx.Host()
	return nil
}

// createOutput is the answer.
type createOutput struct {
	Location string `header:"Location" doc:"Its path"`
	Body     api.Namespace
}

func (h *handler) create(ctx context.Context, in *createInput) (*createOutput, error) {
	name, o, entities, err := in.read(h)
	if err != nil {
		return nil, err
	}
	ns, err := h.server.CreateNamespace(name, o, entities...)
	if err != nil {
		return nil, err
	}
	out := &createOutput{Location: Prefix + "namespaces/" + url.PathEscape(ns.Name()), Body: h.shown(ns, in.name)}
	if gateOf(ctx)(ns) != nil { // who makes it may have no role there, and then gets no key
		bare := sas.Local(h.server.Endpoint(ns, in.name))
		bare.KeyName, bare.Key = "", ""
		out.Body.ConnectionString = bare.String()
		out.Body.ConnectionStrings = []api.ConnectionString{}
	}
	return out, nil
}

// read reads what the new namespace is to be.
func (in *createInput) read(h *handler) (
	name string, o emulator.NamespaceOptions, entities []emulator.EntityConfig, err error,
) {
	var limits *emulator.Profile
	if in.Limits != "" {
		limits = new(emulator.Profile)
		if err := limits.UnmarshalText([]byte(in.Limits)); err != nil {
			return "", o, nil, badRequest("query.limits: %v", err)
		}
	}
	f, wrong := h.server.ReadFile("body", in.RawBody, in.Name, limits)
	if len(wrong) > 0 {
		return "", o, nil, notCreated(wrong)
	}
	if f != nil { // its name and limits are in the query
		f.Options.Limits = limits
		return in.Name, f.Options, f.Entities, nil
	}
	var body creation
	if err := body.read(in.RawBody); err != nil {
		return "", o, nil, err
	}
	if in.Name != "" && body.Name != "" || limits != nil && body.Limits != nil {
		return "", o, nil, badRequest("Give name and limits in the body or in the query, not in both.")
	}
	if body.Name == "" {
		body.Name = in.Name
	}
	if body.Limits == nil {
		body.Limits = limits
	}
	if o, err = body.options(); err == nil {
		entities, err = h.readEntities(in.RawBody, body)
	}
	return body.Name, o, entities, err
}

// notCreated is the answer to a text with mistakes.
func notCreated(wrong []string) error {
	p := badRequest("No namespace was created. %s", wrong[0])
	if len(wrong) > 1 {
		p.Detail += severalErrors
	}
	p.Errors = wrong
	return p
}

// readEntities reads the queues and topics of a body.
func (h *handler) readEntities(text []byte, body creation) ([]emulator.EntityConfig, error) {
	if body.Queues == nil && body.Topics == nil {
		return nil, nil
	}
	entities, wrong := h.server.ReadEntities("body", text, body.Limits)
	if len(wrong) == 0 {
		return entities, nil
	}
	return nil, notCreated(wrong)
}

// read reads the text of a body, which may be empty.
func (body *creation) read(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if err := strictjson.DecodeText(text, body); err != nil {
		return badRequest("The body of the request is not what %s says, %v.", DocumentPath, err)
	}
	return nil
}

// options returns the settings of the new namespace.
func (body *creation) options() (emulator.NamespaceOptions, error) {
	o := emulator.NamespaceOptions{Limits: body.Limits, Port: body.Port, Aliases: body.Aliases}
	for _, r := range body.Rules {
		policy, err := r.policy()
		if err != nil {
			return o, err
		}
		o.Policies = append(o.Policies, policy)
	}
	return o, nil
}

// policy returns the policy of a new namespace, with keys of its own if it names none.
func (r rule) policy() (p emulator.AuthorizationRule, err error) {
	for i, right := range r.Rights {
		known := slices.IndexFunc(rights, func(k string) bool { return strings.EqualFold(k, right) })
		if known < 0 {
			return p, badRequest("There is no right %q. There are %s.", right, strings.Join(rights, ", "))
		}
		r.Rights[i] = rights[known]
	}
	has := func(right string) bool { return slices.Contains(r.Rights, right) }
	if len(r.Rights) == 0 || has("Manage") && !(has("Send") && has("Listen")) {
		return p, badRequest("The authorization rule %q needs rights; with Manage it needs Send and Listen too.",
			r.KeyName)
	}
	p = emulator.AuthorizationRule{
		KeyName:      r.KeyName,
		Rights:       r.Rights,
		PrimaryKey:   r.PrimaryKey,
		SecondaryKey: r.SecondaryKey,
	}
	for _, key := range []*string{&p.PrimaryKey, &p.SecondaryKey} {
		if *key == "" {
			random := make([]byte, 32)
			rand.Read(random)
			*key = base64.StdEncoding.EncodeToString(random)
		}
	}
	return p, nil
}
