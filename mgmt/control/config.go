package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

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
	register(h, "exportConfig", "GET "+path+"/export", huma.Operation{
		Tags:      []string{"config"},
		Responses: answered("The file", plainText, &huma.Schema{Type: huma.TypeString}),
	}, h.exportConfig, 200, 400, 404)
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
	// ExportConfiguration writes the entities for Azure, in one of the formats that exportConfig has; whole: with the
	// namespace.
	ExportConfiguration(ns *emulator.Namespace, format string, whole bool) ([]byte, error)
	// AzureRefusals returns what tiers of Azure refuse of a namespace's entities, in the order of the configuration;
	// nothing if it has so many that every answer would take long.
	AzureRefusals(ns *emulator.Namespace) []AzureRefusal
}

// AzureRefusal is a setting or a name of an entity that a tier of Azure refuses.
type AzureRefusal struct {
	Entity  string   // path; empty: the namespace
	Setting string   // of the entity, or the path of one
	Text    string   // the setting, what it is and what is allowed
	Tiers   []string // that refuse it: standard, premium
}

// EveryTier reports whether no tier takes it.
func (r AzureRefusal) EveryTier() bool { return len(r.Tiers) == 2 }

// configText is an answer with a configuration.
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

const plainText = "text/plain; charset=utf-8"

func (h *handler) exportConfig(_ context.Context, in *struct {
	InNamespace
	Format string `query:"format" required:"true" enum:"bicep,terraform,az"`
	Whole  bool   `query:"whole" doc:"Also the namespace itself, with its tags, policies and role assignments"`
}) (*configText, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	text, err := h.server.ExportConfiguration(ns, in.Format, in.Whole)
	if err != nil {
		return nil, err
	}
	return &configText{plainText, text}, nil
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

// actions are the names of what is done to entities, and where they are counted.
var actions = map[emulator.Action]struct {
	name  string
	count func(*api.DiffSummary) *int
}{
	emulator.ActionCreate: {"create", func(s *api.DiffSummary) *int { return &s.Create }},
	emulator.ActionChange: {"change", func(s *api.DiffSummary) *int { return &s.Change }},
	emulator.ActionDelete: {"delete", func(s *api.DiffSummary) *int { return &s.Delete }},
	emulator.ActionKeep:   {"keep", func(s *api.DiffSummary) *int { return &s.Keep }},
	emulator.ActionLeave:  {"leave", func(s *api.DiffSummary) *int { return &s.Leave }},
	emulator.ActionRefuse: {"refuse", func(s *api.DiffSummary) *int { return &s.Refuse }},
}

// shownDiff returns a plan as answers show it.
func (h *handler) shownDiff(ns *emulator.Namespace, plan []emulator.Planned, notes []string) api.ConfigDiff {
	d := api.ConfigDiff{Notes: append([]string{}, notes...), Entities: []api.EntityDiff{}}
	for i := range plan {
		p := &plan[i]
		action := actions[p.Action]
		*action.count(&d.Summary)++
		e := api.EntityDiff{Path: p.Path, Kind: kinds[p.Kind], Action: action.name}
		if p.Why != nil {
			e.Why = p.Why.Error()
		}
		if p.Action == emulator.ActionChange || p.Action == emulator.ActionRefuse {
			e.Settings = h.settingDiffs(ns, p)
		}
		d.Entities = append(d.Entities, e)
	}
	s := d.Summary
	d.Same = s.Create+s.Change+s.Delete+s.Refuse == 0
	return d
}

// settingDiffs returns the settings and rules in which an entity differs from what it is to be.
func (h *handler) settingDiffs(ns *emulator.Namespace, p *emulator.Planned) (list []api.SettingDiff) {
	old, next := h.server.WriteSettings(ns, p.Old, true), h.server.WriteSettings(ns, p.New, true)
	if len(old) == 0 {
		return nil // an entity of another kind is there
	}
	for _, to := range next {
		i := slices.IndexFunc(old, func(s Setting) bool { return s.Name == to.Name })
		var from any
		if i >= 0 {
			from = old[i].Value
		}
		if equalJSON(from, to.Value) {
			continue
		}
		if to.Name == "AuthorizationRules" {
			from, to.Value = withoutKeys(from), withoutKeys(to.Value)
		}
		fixed := slices.Contains(p.Fixed, to.Name)
		list = append(list, api.SettingDiff{Name: to.Name, From: from, To: to.Value, Fixed: fixed})
	}
	for _, from := range old { // an empty list of policies is no setting
		if !slices.ContainsFunc(next, func(s Setting) bool { return s.Name == from.Name }) {
			list = append(list, api.SettingDiff{Name: from.Name, From: withoutKeys(from.Value)})
		}
	}
	if p.New.Subscription != nil {
		list = append(list, h.ruleDiffs(p.Old.Subscription.Rules, p.New.Subscription.Rules)...)
	}
	return list
}

// ruleDiffs returns the rules that differ.
func (h *handler) ruleDiffs(old, next []emulator.RuleOptions) (list []api.SettingDiff) {
	find := func(rules []emulator.RuleOptions, name string) any {
		for _, r := range rules {
			if strings.EqualFold(r.Name, name) {
				return filterAndAction(h.server.WriteRule(r))
			}
		}
		return nil
	}
	add := func(name string, from, to any) {
		if !equalJSON(from, to) {
			list = append(list, api.SettingDiff{Name: fmt.Sprintf("Rules[%q]", name), From: from, To: to})
		}
	}
	for _, r := range next {
		add(r.Name, find(old, r.Name), filterAndAction(h.server.WriteRule(r)))
	}
	for _, r := range old {
		if find(next, r.Name) == nil {
			add(r.Name, filterAndAction(h.server.WriteRule(r)), nil)
		}
	}
	return list
}

func equalJSON(x, y any) bool {
	a, errA := json.Marshal(x)
	b, errB := json.Marshal(y)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// withoutKeys returns policies with their names and rights.
func withoutKeys(policies any) any {
	var list []struct {
		KeyName string
		Rights  []string
	}
	text, err := json.Marshal(policies)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}
