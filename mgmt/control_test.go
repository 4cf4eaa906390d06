package mgmt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/mgmt/control"
)

// controlled is a bus as the control API sees a server.
type controlled struct{ *bus }

func (c controlled) CreateNamespace(name string, o emulator.NamespaceOptions, entities ...emulator.EntityConfig) (*emulator.Namespace, error) {
	if name == "" {
		name = "made-up"
	}
	ns, err := c.broker.Create(name, o)
	if err == nil {
		err = ns.EnsureEntities(entities)
	}
	return ns, err
}

func (c controlled) ReadEntities(from string, text []byte, _ *emulator.Limits) (entities []emulator.EntityConfig, wrong []string) {
	entities, report := config.ParseEntities(from, text, config.LimitsRelaxed, func(string) string { return "" })
	for _, f := range report.Findings {
		if f.Severity == config.Error {
			wrong = append(wrong, f.String())
		}
	}
	return entities, wrong
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
	Responses   map[string]response
	RequestBody struct {
		Content map[string]any
	}
}

type response struct {
	Ref     string `json:"$ref"`
	Headers map[string]any
	Content map[string]any
}

// controlAPI is the control API in front of a bus with the namespaces sbemulatorns and orders.
func controlAPI(t *testing.T) *openAPI {
	t.Helper()
	b := severalBus(t)
	a := &openAPI{t: t, bus: b, ready: true, seen: make(map[string]bool)}
	b.handler = New(Options{Broker: b.Broker, Control: controlled{b}, Ready: func() bool { return a.ready }, Access: func(ns *emulator.Namespace) *sas.Ring {
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

// template returns the document's path for a path.
func template(path string) string {
	if rest, ok := strings.CutPrefix(path, control.Prefix+"namespaces/"); ok && rest != "" {
		return control.Prefix + "namespaces/{name}"
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

// as sends a request with the key of a policy of the default namespace, and compares it and the answer with the document.
func (a *openAPI) as(policy, method, path, body string) *httptest.ResponseRecorder {
	a.t.Helper()
	token := sas.Sign("http://localhost:5300/", policy, policy+"-key", time.Now().Add(time.Hour))
	w := a.bus.at("localhost:5300", 5300, method, path, body, authorization, token)
	what := fmt.Sprintf("%s %s: %d", method, path, w.Code)
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace
	o, ok := a.paths[template(path)][method]
	at := "/paths/" + escape(template(path)) + "/" + strings.ToLower(method)
	r, documented := o.Responses[fmt.Sprint(w.Code)]
	if !ok || !documented {
		a.t.Errorf("%s is not in the document", what)
		return w
	}
	a.seen[fmt.Sprintf("%s %s %d", method, template(path), w.Code)] = true
	place := at + "/responses/" + fmt.Sprint(w.Code)
	if r.Ref != "" {
		place = strings.TrimPrefix(r.Ref, "#")
		r.Content = map[string]any{"application/problem+json": nil}
	}
	if body != "" && w.Code < 300 {
		a.valid(what, at+"/requestBody/content/application~1json/schema", []byte(body))
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
	a.valid(what, place+"/content/"+escape(contentType)+"/schema", w.Body.Bytes())
	return w
}

// TestControlAPIIsWhatItsDocumentSays, and the document says nothing that the API does not do.
func TestControlAPIIsWhatItsDocumentSays(t *testing.T) {
	a := controlAPI(t)
	const all, one = control.Prefix + "namespaces", control.Prefix + "namespaces/"
	wants(t, a.as("root", "GET", all, ""), 200, `"name":"orders"`, `"name":"sbemulatorns","default":true`)
	w := a.as("root", "POST", all, `{"name": "stock-1", "limits": "standard", "port": 5702, "aliases": ["stock.test"],
		"authorizationRules": [{"keyName": "all", "rights": ["Manage", "Send", "Listen"], "primaryKey": "k"}, {"keyName": "send", "rights": ["Send"]}]}`)
	wants(t, w, 201, `"port":5702,"aliases":["stock.test"]`, `"limits":"standard"`,
		`"connectionString":"Endpoint=sb://localhost:5300/5702;SharedAccessKeyName=all;SharedAccessKey=k;UseDevelopmentEmulator=true;"`)
	wants(t, a.as("root", "GET", w.Header().Get("Location"), ""), 200, `"name":"stock-1","default":false`)
	wants(t, a.as("root", "POST", all, withEntities), 201, `"name":"with-entities"`)
	wants(t, a.bus.at("with-entities.localhost", 5300, "GET", "/events/Subscriptions/large", "", authorization, a.tokenTo("with-entities")), 200, "PT30S")
	wants(t, a.as("root", "POST", all, ""), 201, `"name":"made-up"`, "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=")
	wants(t, a.as("root", "GET", one+"STOCK-1", ""), 200, `"name":"stock-1"`)
	wants(t, a.as("root", "GET", one+"nothing", ""), 404, `"title":"Not Found","status":404,"detail":"The namespace 'nothing' could not be found.`)
	for body, status := range map[string]int{
		`{"name": "x"}`: 400, `{"nam": "abcdefg"}`: 400, `[]`: 400, `{} {}`: 400, `{"limits": "huge"}`: 400, `{"port": -1}`: 400, `{"port": "1"}`: 400,
		`{"authorizationRules": [{"keyName": "a", "rights": ["Own"]}]}`: 400, `{"authorizationRules": [{"keyName": "a", "rights": ["Manage"]}]}`: 400,
		`{"authorizationRules": [{"keyName": "", "rights": ["Send"]}]}`: 400, strings.Repeat(" ", 1<<20) + "{}": 413, "{}" + strings.Repeat(" ", 1<<20): 413,
		`{"aliases": ["x\"y\nz"]}`: 400, `{"aliases": ["` + strings.Repeat("a", 300_000) + `"]}`: 400, `{"aliases": ["localhost"]}`: 400, `{"aliases": ["orders.localhost"]}`: 400,
		`{"aliases": [` + strings.Repeat(`"a",`, 100) + `"a"]}`: 400, `{"authorizationRules": [{"keyName": "a;b=c", "rights": ["Send"]}]}`: 400,
		`{"authorizationRules": [{"keyName": "a", "rights": ["Send"], "primaryKey": "a b"}]}`:  400,
		`{"authorizationRules": [{"keyName": "a", "rights": ["Manage", "Manage", "Manage"]}]}`: 400,
		`{"Queues": {"Name": "q"}}`: 400, `{"Queues": [{"Name": "q"}], "Topics": [{"Name": "q"}]}`: 400, `{"Queues": "q"}`: 400, `{"Topics": [{}, {}]}`: 400,
		`{"name": "ORDERS"}`: 409, `{"name": "ORDERS", "Queues": [{"Name": "q"}]}`: 409, `{"name": "another", "port": 5702}`: 409, `{"name": "another", "aliases": ["Stock.test."]}`: 409,
	} {
		wants(t, a.as("root", "POST", all, body), status, `"detail":"`)
	}
	wants(t, a.as("root", "DELETE", one+"stock-1", ""), 204)
	wants(t, a.as("root", "DELETE", one+"stock-1", ""), 404)
	wants(t, a.as("root", "DELETE", one+"sbemulatorns", ""), 409)
	wants(t, a.as("root", "GET", control.DocumentPath, ""), 200)
	if _, err := a.bus.broker.Namespace("stock-1"); err == nil {
		t.Error("the namespace is still there")
	}
	a.refuses("send", 401)
	a.ready = false
	a.refuses("root", 503)
	for path, methods := range a.paths {
		for method, o := range methods {
			for status := range o.Responses {
				if what := method + " " + path + " " + status; !a.seen[what] {
					t.Errorf("the document has %s, which never came", what)
				}
			}
		}
	}
}

// withEntities asks for entities with every kind of setting.
const withEntities = `{"name": "with-entities", "Queues": [
	{"Name": "orders"},
	{"Name": "parcels", "Properties": {"LockDuration": "PT30S", "MaxDeliveryCount": 5, "DefaultMessageTimeToLive": "PT1H", "DeadLetteringOnMessageExpiration": true,
		"RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "PT1M", "RequiresSession": true, "ForwardDeadLetteredMessagesTo": "orders",
		"AutoDeleteOnIdle": "P1D", "EnablePartitioning": true, "MaxSizeInMegabytes": 1024, "MaxMessageSizeInKilobytes": 256, "EnableBatchedOperations": true,
		"Status": "Active", "UserMetadata": "x", "AuthorizationRules": [{"KeyName": "till", "PrimaryKey": "a", "SecondaryKey": "b", "Rights": ["Send"]}]}},
	{"Name": "old", "Properties": {"ForwardTo": "events"}}], "Topics": [
	{"Name": "events", "Properties": {"DefaultMessageTimeToLive": "PT1H", "SupportOrdering": true}, "Subscriptions": [
		{"Name": "large", "Properties": {"LockDuration": "PT30S", "DeadLetteringOnFilterEvaluationExceptions": true, "ForwardTo": "orders"}, "Rules": [
			{"Name": "amount", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "amount > @least", "Parameters": {"@least": 1000}},
				"Action": {"SqlExpression": "SET large = TRUE"}}},
			{"Name": "red", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "red", "Properties": {"shape": "round"}}}}]}]}]}`

// tokenTo returns a token of a namespace's administrator.
func (a *openAPI) tokenTo(namespace string) string {
	a.t.Helper()
	ns, err := a.bus.broker.Namespace(namespace)
	if err != nil {
		a.t.Fatal(err)
	}
	root := sas.Administrator(controlled{a.bus}.Policies(ns))
	return sas.Sign("http://"+namespace+".localhost/", root.Name, root.Primary, time.Now().Add(time.Hour))
}

// TestControlAPISaysWhatIsWrongInABody with line and column, and creates nothing.
func TestControlAPISaysWhatIsWrongInABody(t *testing.T) {
	a := controlAPI(t)
	const all = control.Prefix + "namespaces"
	for body, want := range map[string]string{
		"{\n" + `"Queues": [{"Name": "q", "Properties": {"MaxDeliveryCount": "3"}}]}`: `"detail":"No namespace was created. body:2:61: error: ` +
			`$.Queues[0].Properties.MaxDeliveryCount: found \"3\"; allowed: a whole number from 1 to 2147483647; write it without quotes","errors":["body:2:61: error: `,
		`{"Queues": [{}, {}]}`:       ` (The first of several errors.)","errors":["body:1:13: error: $.Queues[0]: found no Name; `,
		"{\n" + `"name": "abcdef",}`: "near line 2, column 18: invalid character '}'",
		`{"é": 1, "port": "x"}`:      `"The body of the request is not what /$minibus/v1/openapi.json says, near line 1, column `,
		`{"authorizationRules": [{"keyName": "a", "rights": ["send"]}, {"keyName": "b", "rights": ["Own"]}]}`: `There is no right \"Own\". There are Manage, Send, Listen.`,
	} {
		w := a.as("root", "POST", all, body)
		wants(t, w, 400, want)
	}
	if n := len(a.bus.broker.Namespaces()); n != 2 {
		t.Errorf("%d namespaces", n)
	}
	wants(t, a.as("root", "POST", all, `{"name": "worker-1", "authorizationRules": [{"keyName": "a", "rights": ["Send"]}]}`), 201,
		`"connectionString":"Endpoint=sb://localhost:5300/0;SharedAccessKeyName=a;SharedAccessKey=`)
	wants(t, a.bus.do("GET", all+"/sbemulatorns", "", authorization, sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))), 200,
		`"connectionString":"Endpoint=sb://localhost:5300/0;SharedAccessKeyName=root;`)
}

// refuses fails unless every operation but the one for the document is refused with a status, and changes nothing.
func (a *openAPI) refuses(policy string, status int) {
	a.t.Helper()
	before := len(a.bus.broker.Namespaces())
	const all = control.Prefix + "namespaces"
	for _, x := range []struct{ method, path string }{{"GET", all}, {"POST", all}, {"GET", all + "/orders"}, {"DELETE", all + "/orders"}} {
		wants(a.t, a.as(policy, x.method, x.path, ""), status)
	}
	if n := len(a.bus.broker.Namespaces()); n != before {
		a.t.Errorf("%d namespaces, want %d", n, before)
	}
}

// TestControlAPIKeepsOthersOut: keys of other namespaces, requests without any, web pages of other origins.
func TestControlAPIKeepsOthersOut(t *testing.T) {
	a := controlAPI(t)
	const all = control.Prefix + "namespaces"
	orders, err := a.bus.broker.Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.bus.broker.Update("orders", emulator.NamespaceOptions{Port: 5701, Policies: []emulator.AuthorizationRule{
		{KeyName: "root", PrimaryKey: "orders-key", Rights: []string{"Manage", "Send", "Listen"}}}}); err != nil {
		t.Fatal(err)
	}
	foreign := sas.Sign("http://localhost:5701/", "root", orders.Options().Policies[0].PrimaryKey, time.Now().Add(time.Hour))
	for _, host := range []string{"localhost:5701", "orders.localhost:5300"} {
		wants(t, a.bus.at(host, 5701, "GET", all, "", authorization, foreign), 401)
		wants(t, a.bus.at(host, 5701, "POST", all, "", authorization, foreign), 401)
	}
	wants(t, a.bus.do("POST", all, ""), 401, `"detail":"MissingToken: `)
	wants(t, a.bus.do("GET", control.DocumentPath, ""), 200)
	root := sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
	for _, header := range [][2]string{{"Origin", "http://evil.test"}, {"Sec-Fetch-Site", "cross-site"}} {
		for _, path := range []string{all, control.DocumentPath} {
			wants(t, a.bus.do("GET", path, "", header[0], header[1], authorization, root), 403)
		}
		wants(t, a.bus.do("POST", all, "{}", header[0], header[1], authorization, root), 403)
	}
	if n := len(a.bus.broker.Namespaces()); n != 2 {
		t.Errorf("%d namespaces", n)
	}
}

func TestControlAPIHasNoOtherPaths(t *testing.T) {
	a := controlAPI(t)
	root := sas.Sign("http://localhost:5300/", "root", "root-key", time.Now().Add(time.Hour))
	for _, path := range []string{"", "namespaces/", "queues", "namespaces/orders/queues"} {
		wants(t, a.bus.do("GET", control.Prefix+path, "", authorization, root), 404, `"status":404`)
	}
	w := a.bus.do("PUT", control.Prefix+"namespaces", "", authorization, root)
	wants(t, w, 405, `"detail":"The path takes GET, POST."`)
	if w.Header().Get("Allow") != "GET, POST" {
		t.Errorf("headers %v", w.Header())
	}
	wants(t, a.bus.do("GET", "/%24minibus/v1/namespaces/ord%65rs", "", authorization, root), 200, `"name":"orders"`)
	wants(t, a.bus.do(http.MethodHead, control.Prefix+"namespaces/orders", "", authorization, root), 200)
}
