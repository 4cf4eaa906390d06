package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"minibus/internal/secrets"
)

// api is a document with what the control API's has, and what it may get.
const api = `{"paths": {
	"/$minibus/v1/namespaces/{namespace}/things/{thing}": {
		"get": {"operationId": "getThing", "summary": "One thing", "parameters": [
			{"name": "namespace", "in": "path", "required": true, "schema": {"type": "string"}},
			{"name": "thing", "in": "path", "required": true, "description": "The path, with each slash as %2F: a%2Fb", "schema": {"type": "string"}},
			{"name": "kind", "in": "query", "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Kind"}}},
			{"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}], "responses": {"200": {"content": {"application/json": {}}}}},
		"put": {"operationId": "putThing", "summary": "Makes a thing", "parameters": [
			{"name": "namespace", "in": "path", "required": true}, {"name": "thing", "in": "path", "required": true}],
			"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}},
		"post": {"operationId": "clash", "summary": "Has a name twice", "x-read-only": true, "parameters": [
			{"name": "namespace", "in": "path", "required": true}, {"name": "thing", "in": "path", "required": true}],
			"requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "properties": {"thing": {"type": "string"}}}}}}}},
	"/$minibus/v1/namespaces/{namespace}/stream": {"get": {"operationId": "streamThings", "responses": {"200": {"content": {"text/event-stream": {}}}}}},
	"/$minibus/v1/namespaces/{namespace}/file": {"put": {"operationId": "putFile", "requestBody": {"content": {"application/octet-stream": {}}}}},
	"/$minibus/v1/namespaces/{namespace}": {"get": {"operationId": "getNamespace", "parameters": [{"name": "namespace", "in": "path", "required": true}],
		"responses": {"200": {"content": {"application/json": {}}}}}, "delete": {"operationId": "deleteNamespace", "parameters": [{"name": "namespace", "in": "path", "required": true}]}},
	"/$minibus/v1/openapi.json": {"get": {"operationId": "getDocument"}}},
	"components": {"schemas": {"Kind": {"type": "string", "enum": ["a", "b"]},
		"Thing": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}, "inner": {"$ref": "#/components/schemas/Thing"}}}}}}`

// tools returns the operations of the document by name.
func tools(t *testing.T) map[string]*operation {
	t.Helper()
	list, err := operations([]byte(api))
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]*operation)
	for i := range list {
		byName[list[i].name] = &list[i]
	}
	return byName
}

func TestOperationsBecomeTools(t *testing.T) {
	all := tools(t)
	if len(all) != 5 || !all["get_thing"].reads || all["put_thing"].reads || !all["clash"].reads || all["delete_namespace"].reads {
		t.Fatalf("the tools are %v", all)
	}
	for name, want := range map[string]string{
		"get_thing":        `{"additionalProperties":false,"properties":{"kind":{"items":{"enum":["a","b"],"type":"string"},"type":"array"},"namespace":{"description":"` + aboutNamespace + `","type":"string"},"thing":{"description":"The path: a/b","type":"string"}},"required":["thing"],"type":"object"}`,
		"put_thing":        `"inner":{"description":"As Thing in the document of the control API","type":"object"}`,
		"clash":            `"body":{"properties":{"thing":{"type":"string"}},"type":"object"}`,
		"delete_namespace": `"required":["namespace"]`,
	} {
		text, err := json.Marshal(all[name].schema())
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has the schema %s, want %s", name, text, want)
		}
	}
}

func TestCallsBecomeRequests(t *testing.T) {
	all := tools(t)
	for _, c := range []struct{ tool, arguments, path, body, wrong string }{
		{"get_thing", `{"thing": "a/b"}`, "namespaces/$this/things/a%2Fb", "null", ""},
		{"get_thing", `{"thing": "a%2Fb", "namespace": "n", "kind": ["a", "b"]}`, "namespaces/n/things/a%2Fb?kind=a%2Cb", "null", ""},
		{"get_thing", `{"thing": "../../x?y#z"}`, "namespaces/$this/things/..%2F..%2Fx%3Fy%23z", "null", ""},
		{"get_thing", `{}`, "", "", `get_thing needs the argument "thing"`},
		{"get_thing", `{"thing": ""}`, "", "", `get_thing needs the argument "thing"`},
		{"get_thing", `[]`, "", "", "no JSON object"},
		{"get_thing", `{"thing": "a", "size": 1}`, "", "", `has no argument "size"; it has: kind, namespace, thing`},
		{"put_thing", `{"thing": "a", "size": 12345678901234567890}`, "namespaces/$this/things/a", `{"size":12345678901234567890}`, ""},
		{"put_thing", `{"thing": "a"}`, "namespaces/$this/things/a", `{}`, ""},
		{"clash", `{"thing": "a", "body": {"thing": "b"}}`, "namespaces/$this/things/a", `{"thing":"b"}`, ""},
		{"clash", `{"thing": "a", "other": 1}`, "", "", `has no argument "other"`},
		{"get_namespace", `{}`, "namespaces/$this", "null", ""},
		{"delete_namespace", `{}`, "", "", "needs"},
	} {
		path, body, err := all[c.tool].request(json.RawMessage(c.arguments), "/$minibus/v1/")
		text, _ := json.Marshal(body)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s %s: %s, error %v, want %q", c.tool, c.arguments, path, err, c.wrong)
			}
			continue
		}
		if err != nil || path != c.path || string(text) != c.body {
			t.Errorf("%s %s: %s %s %v, want %s %s", c.tool, c.arguments, path, text, err, c.path, c.body)
		}
	}
}

func TestAnswersAreBoundedAndHideKeys(t *testing.T) {
	o := &Options{Hider: secrets.New("known")}
	long := strings.Repeat("ä", mostText)
	for text, want := range map[string]string{
		"":         "done",
		`{"a": 1}`: `{"a": 1}`,
		`{"n":12345678901234567890,"body":"` + long + `"}`: "... (cut: 8192 bytes in all)\",\"n\":12345678901234567890}",
		"[\"" + strings.Repeat(`x","`, mostAnswer) + `"]`:  "Ask for less",
		"\xff\xfe": "base64 //4=",
		`Endpoint=sb://h;SharedAccessKey=abc;UseDevelopmentEmulator=true;`: "SharedAccessKey=***;UseDev",
		`{"c": "Endpoint=sb://h;SharedAccessKey=a\"b\\c&d'e f;x"}`:         `{"c": "Endpoint=sb://h;SharedAccessKey=***;x"}`,
		`{"text": "` + strings.Repeat("x", mostText-3) + `known"}`:         "x***",
		`not JSON, with the key known`:                                     "the key ***",
		`{"PrimaryKey": "abc", "secondaryKey":"def"}`:                      `{"PrimaryKey": "***", "secondaryKey":"***"}`,
	} {
		got := o.shown([]byte(text))
		if !strings.Contains(got, want) || len(got) > mostAnswer+200 {
			t.Errorf("%.50q is shown as %.200q, want %q", text, got, want)
		}
	}
}
