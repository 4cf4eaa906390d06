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
	"minibus/internal/strictjson"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20

// creation is the body of a request to create a namespace.
type creation struct {
	Name    string           `json:"name"`
	Limits  *emulator.Limits `json:"limits"`
	Port    int              `json:"port"`
	Aliases []string         `json:"aliases"`
	Rules   []rule           `json:"authorizationRules"`

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

// createInput are the arguments of an operation whose body has parts in the form of Config.json. Package config reads them, so Huma
// does not read the body.
type createInput struct {
	Host
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
	Body     namespace
}

func (a *api) create(_ context.Context, in *createInput) (*createOutput, error) {
	var body creation
	if err := body.read(in.RawBody); err != nil {
		return nil, err
	}
	o, err := body.options()
	if err != nil {
		return nil, err
	}
	entities, err := a.readEntities(in.RawBody, body)
	if err != nil {
		return nil, err
	}
	ns, err := a.server.CreateNamespace(body.Name, o, entities...)
	if err != nil {
		return nil, err
	}
	return &createOutput{Location: Prefix + "namespaces/" + url.PathEscape(ns.Name()), Body: a.shown(ns, in.name)}, nil
}

// readEntities reads the queues and topics of a body.
func (a *api) readEntities(text []byte, body creation) ([]emulator.EntityConfig, error) {
	if body.Queues == nil && body.Topics == nil {
		return nil, nil
	}
	entities, wrong := a.server.ReadEntities("body", text, body.Limits)
	if len(wrong) == 0 {
		return entities, nil
	}
	p := badRequest("No namespace was created. %s", wrong[0])
	if len(wrong) > 1 {
		p.Detail += severalErrors
	}
	p.Errors = wrong
	return nil, p
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
func (r rule) policy() (emulator.AuthorizationRule, error) {
	for i, right := range r.Rights {
		known := slices.IndexFunc(rights, func(k string) bool { return strings.EqualFold(k, right) })
		if known < 0 {
			return emulator.AuthorizationRule{}, badRequest("There is no right %q. There are %s.", right, strings.Join(rights, ", "))
		}
		r.Rights[i] = rights[known]
	}
	has := func(right string) bool { return slices.Contains(r.Rights, right) }
	if len(r.Rights) == 0 || has("Manage") && !(has("Send") && has("Listen")) {
		return emulator.AuthorizationRule{}, badRequest("The authorization rule %q needs rights; with Manage it needs Send and Listen too.", r.KeyName)
	}
	p := emulator.AuthorizationRule{KeyName: r.KeyName, Rights: r.Rights, PrimaryKey: r.PrimaryKey, SecondaryKey: r.SecondaryKey}
	for _, key := range []*string{&p.PrimaryKey, &p.SecondaryKey} {
		if *key == "" {
			random := make([]byte, 32)
			rand.Read(random)
			*key = base64.StdEncoding.EncodeToString(random)
		}
	}
	return p, nil
}
