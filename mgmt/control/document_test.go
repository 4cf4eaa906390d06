package control_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt"
	"minibus/mgmt/control"
	"minibus/mgmt/control/api"
)

// controlled is a bus as the control API sees a server.
type controlled struct{ *bus }

func (c controlled) CreateNamespace(name string, o emulator.NamespaceOptions, entities ...emulator.EntityConfig) (*emulator.Namespace, error) {
	if name == "" {
		name = "made-up"
	}
	o.Entities = entities
	return c.broker.Create(name, o)
}

// live describes a namespace to the reader of texts.
func (c controlled) live(ns *emulator.Namespace) config.Live {
	return config.Live{Name: ns.Name(), IsDefault: ns == c.ns, Profile: ns.Profile(), Elsewhere: func(string) string { return "" }, Target: func(path string) string {
		if e, err := ns.Entity(path); err == nil && e.Kind() != emulator.KindSubscription {
			return e.Path()
		}
		return ""
	}}
}

func wrongIn(report *config.Report) (wrong []string) {
	for _, f := range report.Findings {
		if f.Severity == config.Error {
			wrong = append(wrong, f.String())
		}
	}
	return wrong
}

func (c controlled) ReadEntity(ns *emulator.Namespace, from string, text []byte, kind emulator.EntityKind, path string) (emulator.Settings, []string) {
	s, report := c.live(ns).ParseEntity(from, text, kind, path)
	return s, wrongIn(report)
}

func (c controlled) ReadChange(ns *emulator.Namespace, from string, text []byte, path string, old emulator.Settings) (emulator.Settings, []string) {
	s, report := c.live(ns).PatchEntity(from, text, path, old)
	return s, wrongIn(report)
}

func (c controlled) ReadRule(ns *emulator.Namespace, from string, text []byte, name string, ofClients bool) (emulator.RuleOptions, []string) {
	r, report := c.live(ns).ParseRule(from, text, name, ofClients)
	return r, wrongIn(report)
}

func (c controlled) ReadConfiguration(ns *emulator.Namespace, from string, text []byte) (list []emulator.EntityConfig, notes, wrong []string) {
	t, report := c.live(ns).ParseConfiguration(from, text)
	if t == nil {
		return nil, nil, wrongIn(report)
	}
	return t.Entities, config.OnlyAtTheStart(t), nil
}

func (c controlled) WriteConfiguration(ns *emulator.Namespace, keys bool) ([]byte, error) {
	return config.Write([]*config.Topology{{Namespace: ns.Name(), Entities: ns.Configuration().Current()}}, ns.Profile(), keys)
}

func (c controlled) ExportConfiguration(ns *emulator.Namespace, format string, whole bool) ([]byte, error) {
	if whole {
		format = "whole " + format
	}
	return []byte(format + " of " + ns.Name()), nil
}

func (c controlled) Resource(ns *emulator.Namespace) (*api.Resource, error) {
	if ns != c.ns {
		return nil, &emulator.Error{Code: emulator.CodeNotFound, Text: "There is no Resource Manager."}
	}
	const subscription, guid = "00000000-0000-0000-0000-000000000000", "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39"
	id := "/subscriptions/" + subscription + "/resourceGroups/minibus/providers/Microsoft.ServiceBus/namespaces/" + ns.Name()
	return &api.Resource{
		ID: id, Subscription: subscription, ResourceGroup: "minibus", Location: "local", SKU: "Premium", Capacity: 1,
		Tags: map[string]string{"env": "dev"}, Policies: []api.ResourcePolicy{{Name: "root", Rights: []string{"Manage"}}},
		Identities: []api.ResourceIdentity{{PrincipalID: guid, ClientID: guid}},
		RoleAssignments: []api.RoleAssignment{{ID: id + "/x", Role: "Sender", RoleID: guid, Rights: []string{"Send"}, PrincipalID: guid,
			PrincipalType: "User", Scope: id}},
		WithoutEffect: []api.StoredResource{{ID: id + "/y", Type: "Microsoft.Authorization/locks"}},
	}, nil
}

func (c controlled) AzureRefusals(*emulator.Namespace) []control.AzureRefusal {
	return []control.AzureRefusal{{Entity: "parcels", Setting: "LockDuration", Text: "too long", Tiers: []string{"standard", "premium"}},
		{Entity: "parcels", Setting: "MaxMessageSizeInKilobytes", Text: "too large", Tiers: []string{"standard"}}}
}

func (c controlled) WriteSettings(ns *emulator.Namespace, s emulator.Settings, keys bool) []control.Setting {
	return settingsOf(config.SettingsProperties(s, ns.Profile(), keys))
}

func (c controlled) WriteRule(r emulator.RuleOptions) []control.Setting {
	return settingsOf(config.RuleProperties(r))
}

func settingsOf(p config.Properties) (list []control.Setting) {
	for _, x := range p {
		list = append(list, control.Setting{Name: x.Name, Value: x.Value})
	}
	return list
}

func (c controlled) ReadEntities(from string, text []byte, _ *emulator.Profile) (entities []emulator.EntityConfig, wrong []string) {
	entities, report := config.ParseEntities(from, text, config.ProfileRelaxed, func(string) string { return "" })
	return entities, wrongIn(report)
}

func (c controlled) ReadFile(from string, text []byte, name string, _ *emulator.Profile) (*control.NamespaceFile, []string) {
	if isFile, err := config.IsFile(from, text); !isFile || err != nil {
		if err != nil {
			return nil, []string{err.Error()}
		}
		return nil, nil
	}
	t, report := config.Live{Name: name, Profile: c.ns.Profile(), Elsewhere: func(string) string { return "" }}.ParseConfiguration(from, text)
	if t == nil {
		return nil, wrongIn(report)
	}
	o := emulator.NamespaceOptions{Aliases: t.Aliases, Port: t.Port, Policies: t.AuthorizationRules}
	return &control.NamespaceFile{Options: o, Entities: t.Entities}, wrongIn(report)
}

func (c controlled) ResetNamespace(ns *emulator.Namespace) error {
	return ns.Reset(ns.Options().Entities)
}

func (c controlled) ReadDuration(text string) (time.Duration, error) {
	return config.ParseDuration(text)
}

func (c controlled) DeleteNamespace(name string) error { return c.broker.Delete(name) }

func (c controlled) Endpoint(ns *emulator.Namespace, host string) string {
	return fmt.Sprintf("%s/%d", host, ns.Options().Port)
}

func (c controlled) Policies(ns *emulator.Namespace) []sas.Policy {
	if ns == c.ns {
		return []sas.Policy{{Name: "root", Primary: "root-key", Claims: sas.Manage | sas.Send | sas.Listen}, {Name: "send", Primary: "send-key", Claims: sas.Send}}
	}
	var list []sas.Policy
	for _, r := range ns.Options().Policies {
		list = append(list, sas.Policy{Name: r.KeyName, Primary: r.PrimaryKey, Secondary: r.SecondaryKey, Claims: sas.ParseClaims(r.Rights)})
	}
	return list
}

// openAPI is the API's document, with what a test has seen of it.
type openAPI struct {
	t        *testing.T
	bus      *bus
	ready    bool
	paths    map[string]map[string]operation
	compiler *jsonschema.Compiler
	seen     map[string]bool // "method path status"
}

// operation has the fields of an operation that the test reads.
type operation struct {
	Tags        []string
	Responses   map[string]response
	RequestBody struct {
		Content map[string]any
	}
}

type response struct {
	Description string
	Headers     map[string]any
	Content     map[string]any
}

// controlAPI is the control API in front of a bus with the namespaces sbemulatorns and orders.
func controlAPI(t *testing.T) *openAPI {
	t.Helper()
	b := severalBus(t)
	a := &openAPI{t: t, bus: b, ready: true, seen: make(map[string]bool)}
	b.handler = mgmt.New(mgmt.Options{Broker: b.Broker, Control: controlled{b}, Ready: func() bool { return a.ready }, Access: func(ns *emulator.Namespace) *sas.Ring {
		return sas.NewRing(controlled{b}.Policies(ns), nil)
	}})
	w := b.do("GET", control.DocumentPath, "")
	wants(t, w, 200)
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil || document.OpenAPI != "3.1.0" {
		t.Fatalf("the document says it is %q: %v", document.OpenAPI, err)
	}
	a.paths = make(map[string]map[string]operation)
	for path, item := range document.Paths {
		a.paths[path] = make(map[string]operation)
		for method, text := range item {
			var o operation
			if method == "parameters" {
				continue
			}
			if err := json.Unmarshal(text, &o); err != nil {
				t.Fatal(err)
			}
			a.paths[path][strings.ToUpper(method)] = o
		}
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	a.compiler = jsonschema.NewCompiler()
	a.compiler.AssertFormat()
	if err := a.compiler.AddResource("http://document/", parsed); err != nil {
		t.Fatal(err)
	}
	return a
}

// template returns the document's path for a path, in which segments may stand for parameters.
func (a *openAPI) template(path string) string {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	for template := range a.paths {
		if slices.EqualFunc(strings.Split(template, "/"), segments, func(of, segment string) bool {
			return of == segment || strings.HasPrefix(of, "{") && segment != ""
		}) {
			return template
		}
	}
	return path
}

// valid fails unless a body fits the schema at a place of the document.
func (a *openAPI) valid(what, pointer string, body []byte) {
	a.t.Helper()
	schema, err := a.compiler.Compile("http://document/#" + pointer)
	if err != nil {
		a.t.Fatalf("%s: %v", what, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		a.t.Errorf("%s: %s is not what the document says: %v", what, body, err)
	}
}

// root returns a token of the default namespace's administrator.
func (a *openAPI) root() string {
	return sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
}

// as sends a request with the key of a policy of the default namespace, and compares it and the answer with the
// document.
func (a *openAPI) as(policy, method, path, body string) *httptest.ResponseRecorder {
	a.t.Helper()
	token := sas.Sign("http://localhost:5300/", policy, policy+"-key", time.Now().Add(time.Hour))
	w := a.bus.at("localhost:5300", 5300, method, path, body, authorization, token)
	what := fmt.Sprintf("%s %s: %d", method, path, w.Code)
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace
	at := a.template(path)
	o, ok := a.paths[at][method]
	operation := "/paths/" + escape(at) + "/" + strings.ToLower(method)
	r, documented := o.Responses[fmt.Sprint(w.Code)]
	if !ok || !documented {
		a.t.Errorf("%s is not in the document", what)
		return w
	}
	a.seen[fmt.Sprintf("%s %s %d", method, at, w.Code)] = true
	place := operation + "/responses/" + fmt.Sprint(w.Code)
	if body != "" && w.Code < 300 {
		a.valid(what, operation+"/requestBody/content/application~1json/schema", []byte(body))
	}
	for name := range r.Headers {
		if w.Header().Get(name) == "" {
			a.t.Errorf("%s has no header %s", what, name)
		}
	}
	if len(r.Content) == 0 {
		if w.Body.Len() > 0 {
			a.t.Errorf("%s has the body %s", what, w.Body)
		}
		return w
	}
	contentType := w.Header().Get("Content-Type")
	if _, ok := r.Content[contentType]; !ok {
		a.t.Errorf("%s has the type %s, want one of %v", what, contentType, slices.Collect(maps.Keys(r.Content)))
		return w
	}
	if strings.HasSuffix(contentType, "json") {
		a.valid(what, place+"/content/"+escape(contentType)+"/schema", w.Body.Bytes())
	}
	return w
}

// covers fails unless the test has seen every status of every operation with a tag. Those that all operations share
// have a test of their own.
func (a *openAPI) covers(tag string) {
	a.t.Helper()
	operations := 0
	for path, methods := range a.paths {
		for method, o := range methods {
			if !slices.Contains(o.Tags, tag) {
				continue
			}
			operations++
			for status, r := range o.Responses {
				shared := status == "401" || status == "503" || status == "400" && r.Description == "A query that the operation does not have"
				if what := method + " " + path + " " + status; !shared && !a.seen[what] {
					a.t.Errorf("the document has %s, which never came", what)
				}
			}
		}
	}
	if operations == 0 {
		a.t.Errorf("no operation has the tag %s", tag)
	}
}
