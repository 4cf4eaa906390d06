package control

import (
	"context"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/mgmt/control/api"
)

// ConfigTexts reads and writes what has the form of Config.json. The functions that read return all that is wrong, a
// line for each finding, which begins with from and the place in the text.
type ConfigTexts interface {
	// ReadEntity reads a queue, a topic or a subscription of a namespace.
	ReadEntity(
		ns *emulator.Namespace, from string, text []byte, kind emulator.EntityKind, path string,
	) (s emulator.Settings, wrong []string)
	// ReadChange reads some settings of an entity, and returns it with them and with the other old ones.
	ReadChange(
		ns *emulator.Namespace, from string, text []byte, path string, old emulator.Settings,
	) (s emulator.Settings, wrong []string)
	// ReadRule reads a rule, of a subscription of JMS clients if ofClients.
	ReadRule(
		ns *emulator.Namespace, from string, text []byte, name string, ofClients bool,
	) (r emulator.RuleOptions, wrong []string)
	// WriteSettings returns all settings of an entity with the defaults that count, and its policies only with keys.
	WriteSettings(ns *emulator.Namespace, s emulator.Settings, keys bool) []Setting
	WriteRule(r emulator.RuleOptions) []Setting
}

// textBody is the body of an operation that has the form of Config.json.
func textBody(schema string) *huma.RequestBody {
	content := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: schemas + schema}}}
	return &huma.RequestBody{Required: true, Content: content}
}

// createsToo adds to the document that a PUT may answer 201.
func (h *handler) createsToo(path string) {
	responses := h.OpenAPI().Paths[Prefix+path].Put.Responses
	r := *responses["200"]
	r.Description = http.StatusText(http.StatusCreated)
	responses["201"] = &r
}

// entityChanges registers the operations that create, change and delete entities.
func (h *handler) entityChanges() {
	register(h, "putEntity", "PUT "+oneEntity, huma.Operation{
		Tags:             []string{"entities"},
		SkipValidateBody: true,
		RequestBody:      textBody("EntityBody"),
	}, h.putEntity, 200, 400, 404, 409, 413)
	h.createsToo(oneEntity)
	register(h, "changeEntity", "PATCH "+oneEntity, huma.Operation{
		Tags:             []string{"entities"},
		SkipValidateBody: true,
		RequestBody:      textBody("EntityChange"),
	}, h.changeEntity, 200, 400, 404, 413)
	register(h, "deleteEntity", "DELETE "+oneEntity, tagged("entities"), h.deleteEntity, 204, 400, 404)
}

// EntityText is the body of a request, which package config reads.
type EntityText struct{ RawBody []byte }

// entityAnswer is an answer with an entity.
type entityAnswer struct {
	Status   int
	Location string `header:"Location"`
	Body     wholeEntity
}

func (h *handler) putEntity(_ context.Context, in *struct {
	AtEntity
	EntityText
	Kind    string `query:"kind" enum:"queue,topic,subscription" doc:"None: as it is, or as the path says"`
	OnlyNew bool   `query:"onlyNew" doc:"Whether an entity that exists is a conflict"`
}) (*entityAnswer, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	path, kind, err := in.target(ns, in.Kind)
	if err != nil {
		return nil, err
	}
	if _, there := ns.Kind(path); there && in.OnlyNew {
		return nil, newError(http.StatusConflict, nil, "The messaging entity '%s' already exists.", path)
	}
	e, wrong := h.server.ReadEntity(ns, "body", in.RawBody, kind, path)
	if len(wrong) > 0 {
		return nil, wrongText(unchanged, wrong)
	}
	return h.make(ns, path, e)
}

// target returns the path of a request and the kind of entity that is to be there.
func (in *AtEntity) target(ns *emulator.Namespace, asked string) (path string, kind emulator.EntityKind, err error) {
	path, sub := entitypath.CutSubQueue(in.Entity)
	if sub != emulator.Main {
		return "", 0, badRequest("%s is a part of %s: change that.", clip(in.Entity), clip(path))
	}
	topic, _, isSubscription := entitypath.SplitSubscription(path)
	switch existing, there := ns.Kind(path); {
	case there && asked == "":
		return path, existing, nil
	case isSubscription != (asked == "subscription") && asked != "":
		return "", 0, badRequest("The path of a subscription is TOPIC/Subscriptions/NAME, and no other entity has "+
			"such a path; found kind=%s and %s.", asked, clip(path))
	case isSubscription:
		if kind, _ := ns.Kind(topic); kind != emulator.KindTopic {
			return "", 0, emulator.NotFound(clip(topic))
		}
		return path, emulator.KindSubscription, nil
	case asked == "topic":
		return path, emulator.KindTopic, nil
	}
	return path, emulator.KindQueue, nil
}

// make makes an entity what a configuration says, and answers with it.
func (h *handler) make(ns *emulator.Namespace, path string, s emulator.Settings) (*entityAnswer, error) {
	isNew, err := ns.Configuration().Put(path, s)
	if err != nil {
		return nil, err
	}
	made, err := ns.Entity(path)
	if err != nil {
		return nil, err // deleted meanwhile
	}
	out := &entityAnswer{Status: http.StatusOK, Body: h.wholeEntity(ns, made, false)}
	out.Location = Prefix + "namespaces/" + url.PathEscape(ns.Name()) + "/entities/" + url.PathEscape(made.Path())
	if isNew {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (h *handler) changeEntity(_ context.Context, in *struct {
	AtEntity
	EntityText
}) (*struct{ Body wholeEntity }, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	old, err := ns.Entity(in.Entity)
	if err != nil {
		return nil, guessed(ns, in.Entity, err)
	}
	e, wrong := h.server.ReadChange(ns, "body", in.RawBody, old.Path(), old.Settings())
	if len(wrong) > 0 {
		return nil, wrongText(unchanged, wrong)
	}
	out, err := h.make(ns, old.Path(), e)
	if err != nil {
		return nil, err
	}
	return &struct{ Body wholeEntity }{out.Body}, nil
}

func (h *handler) deleteEntity(_ context.Context, in *AtEntity) (*struct{}, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	path, sub := entitypath.CutSubQueue(in.Entity)
	if sub != emulator.Main {
		return nil, badRequest("%s is a part of %s and can't be deleted by itself. To remove its messages start a job "+
			"of the kind purge.", clip(in.Entity), clip(path))
	}
	return nil, ns.Entities().Delete(path)
}

// wrongText is the answer to a text in the form of Config.json that is wrong.
func wrongText(what string, wrong []string) *api.Error {
	p := badRequest("%s%s", what, wrong[0])
	if len(wrong) > 1 {
		p.Detail += severalErrors
	}
	p.Errors = wrong
	return p
}
