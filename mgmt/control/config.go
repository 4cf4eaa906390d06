package control

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// maxConfig bounds the body of a request with a configuration, in bytes; ten thousand entities with every property
// take about 10 MiB.
const maxConfig = 16 << 20

// configs registers the operations on the configuration of a namespace.
func (h *handler) configs() {
	const path = "namespaces/{namespace}/config"
	configuration := &huma.Schema{Ref: schemas + "Configuration"}
	register(h, "getConfig", "GET "+path, huma.Operation{
		Tags:      []string{"config"},
		Responses: answered("OK", "application/json", configuration),
	}, h.getConfig, 200, 400, 404)
	register(h, "diffConfig", "POST "+path+"/diff", huma.Operation{
		Tags:             []string{"config"},
		Extensions:       readOnly,
		SkipValidateBody: true,
		MaxBodyBytes:     maxConfig,
		RequestBody:      textBody("Configuration"),
	}, h.diffConfig, 200, 400, 404, 413)
	register(h, "applyConfig", "POST "+path, huma.Operation{
		Tags:             []string{"config"},
		SkipValidateBody: true,
		MaxBodyBytes:     maxConfig,
		RequestBody:      textBody("Configuration"),
	}, h.applyConfig, 200, 400, 404, 409, 413)
}

// Configurations reads and writes whole configurations.
type Configurations interface {
	// ReadConfiguration returns the entities that a text has for a namespace, and notes on what it has and an
	// application leaves out.
	ReadConfiguration(
		ns *emulator.Namespace, from string, text []byte,
	) (entities []emulator.EntityConfig, notes, wrong []string)
	WriteConfiguration(ns *emulator.Namespace, keys bool) ([]byte, error)
}

// configText is an answer with a Config.json.
type configText struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (h *handler) getConfig(_ context.Context, in *struct {
	InNamespace
	Keys bool `query:"keys" doc:"Whether to write policies of entities and of the namespace, with their keys"`
}) (*configText, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	text, err := h.server.WriteConfiguration(ns, in.Keys)
	if err != nil {
		return nil, err
	}
	return &configText{"application/json", text}, nil
}

// Configured are the arguments of operations with a configuration.
type Configured struct {
	InNamespace
	EntityText
	Prune bool `query:"prune" doc:"Whether entities that it does not have are deleted, with their messages"`
}

// read finds the namespace and reads the configuration.
func (in *Configured) read(h *handler) (
	ns *emulator.Namespace, list []emulator.EntityConfig, notes []string, err error,
) {
	if ns, err = in.find(h); err != nil {
		return nil, nil, nil, err
	}
	list, notes, wrong := h.server.ReadConfiguration(ns, "body", in.RawBody)
	if len(wrong) > 0 {
		return nil, nil, nil, wrongText("", wrong)
	}
	return ns, list, notes, nil
}

func (h *handler) diffConfig(_ context.Context, in *Configured) (*struct{ Body api.ConfigDiff }, error) {
	ns, list, notes, err := in.read(h)
	if err != nil {
		return nil, err
	}
	plan, refused := ns.Configuration().Preview(list, in.Prune)
	d := h.shownDiff(ns, plan, notes)
	if refused != nil {
		d.Refused = refused.Error()
	}
	return &struct{ Body api.ConfigDiff }{d}, nil
}

func (h *handler) applyConfig(_ context.Context, in *Configured) (*struct{ Body api.ConfigDiff }, error) {
	ns, list, notes, err := in.read(h)
	if err != nil {
		return nil, nothingChanged(err)
	}
	plan, err := ns.Configuration().Apply(list, in.Prune)
	if err != nil {
		return nil, refusedPlan(plan, err)
	}
	d := h.shownDiff(ns, plan, notes)
	d.Applied = !d.Same
	return &struct{ Body api.ConfigDiff }{d}, nil
}

// unchanged begins the detail of a problem with what would have changed something.
const unchanged = "Nothing was changed. "

// nothingChanged adds to an error of the body that nothing was changed.
func nothingChanged(err error) error {
	if p := (*api.Error)(nil); errors.As(err, &p) && p.Status == http.StatusBadRequest {
		p.Detail = unchanged + p.Detail
	}
	return err
}

// refusedPlan is the answer to a plan that can't be carried out, with all reasons.
func refusedPlan(plan []emulator.Planned, err error) error {
	if domain := (*emulator.Error)(nil); !errors.As(err, &domain) {
		return err
	}
	p := newError(problemOf(err).Status, nil, "%s%s", unchanged, err)
	for i := range plan {
		if why := plan[i].Why; why != nil && len(p.Errors) < maxReasons {
			p.Errors = append(p.Errors, why.Error())
		}
	}
	if len(p.Errors) > 1 {
		p.Detail += severalErrors
	}
	return p
}

// maxReasons bounds the list of errors of an answer.
const maxReasons = 25
