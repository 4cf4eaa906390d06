package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/strictjson"
	"minibus/mgmt/control/api"
)

// triedRule is the name of a rule that is tried and not stored.
const triedRule = "rule"

// matchOrder is a message to ask the rules about.
type matchOrder struct {
	message *messagejson.Message
	rule    json.RawMessage // in the form of Config.json, without a name; nil: none
}

// Schema implements [huma.SchemaProvider].
func (matchOrder) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type:                 huma.TypeObject,
		AdditionalProperties: false,
		Required:             []string{"message"},
		Properties: map[string]*huma.Schema{
			"message": huma.SchemaFromType(r, reflect.TypeFor[messagejson.Message]()),
			"rule":    {Ref: schemas + "RuleBody"},
		},
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *matchOrder) UnmarshalJSON(text []byte) error {
	var body struct {
		Message json.RawMessage `json:"message"`
		Rule    json.RawMessage `json:"rule"`
	}
	if err := strictjson.Decode(text, &body); err != nil {
		return err
	}
	if body.Message == nil {
		return errors.New("expected required property message to be present")
	}
	o.rule = body.Rule
	var err error
	o.message, err = messagejson.Read(body.Message)
	return err
}

// match registers the rules' test bench.
func (h *handler) match() {
	register(h, "matchMessage", "POST "+oneEntity+"/match", huma.Operation{
		Tags:             []string{"match"},
		Extensions:       readOnly,
		SkipValidateBody: true,
	}, h.matchMessage, 200, 400, 404, 409, 413)
}

func (h *handler) matchMessage(_ context.Context, in *struct {
	AtEntity
	Body matchOrder
}) (*struct{ Body api.Matching }, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	if sub != emulator.Main {
		return nil, badRequest("Rules belong to a topic or a subscription, not to a sub-queue.")
	}
	raw, err := in.Body.message.Encode(time.UnixMilli(ns.Now()))
	if err != nil {
		return nil, badRequest("body.message: %v.", err)
	}
	ask := emulator.MatchQuestion{}
	if ask.Message, err = message.Scan(raw); err != nil {
		return nil, badRequest("body.message: %v.", err)
	}
	if in.Body.rule != nil {
		r, wrong := h.server.ReadRule(ns, "body.rule", in.Body.rule, triedRule)
		if len(wrong) > 0 {
			return nil, newError(http.StatusBadRequest, wrong, "%s", wrong[0])
		}
		ask.Rule = &r
	}
	m, err := e.Match(ask)
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Matching }{shownMatching(m)}, nil
}
