package arm

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/internal/jsontree"
)

// deploymentBody is the body that az sends: the key of the template has no quotation marks.
func deploymentBody(t *testing.T, text string, parameters object) string {
	t.Helper()
	given := object{}
	for name, v := range parameters {
		given[name] = object{"value": v}
	}
	list, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	return `{"location": "westeurope", "properties": {"parameters": ` + string(list) + `, "mode": "Incremental", template:` + text + `}}`
}

func templateFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// deploymentAt returns the path of a deployment.
func deploymentAt(scope, name string) string {
	return scope + "/providers/Microsoft.Resources/deployments/" + name
}

// deploy deploys a template, and waits for its end as clients do.
func (h *house) deploy(scope, name, body string) reply {
	h.t.Helper()
	r := h.put(deploymentAt(scope, name), body)
	if r.Code != http.StatusOK && r.Code != http.StatusCreated {
		return r
	}
	address := r.Header().Get("Azure-AsyncOperation")
	status := h.get(strings.TrimPrefix(address, "https://localhost:5300")).status(http.StatusOK)
	if status.at("status") != "Succeeded" {
		return status
	}
	return h.get(deploymentAt(scope, name)).status(http.StatusOK).has("properties.provisioningState", "Succeeded")
}

// ids returns the resources that a deployment has made.
func (r reply) ids() (ids []string) {
	r.t.Helper()
	all, _ := r.at("properties.outputResources").([]any)
	for _, x := range all {
		ids = append(ids, x.(object)["id"].(string))
	}
	return ids
}

// changes returns the kinds of changes that what-if announces, with the number of each.
func (r reply) changes() map[string]int {
	r.t.Helper()
	all, _ := r.status(http.StatusOK).at("properties.changes").([]any)
	kinds := make(map[string]int)
	for _, x := range all {
		kinds[x.(object)["changeType"].(string)]++
		if delta := x.(object)["delta"]; delta != nil {
			r.t.Logf("%s: %v", x.(object)["resourceId"], delta)
		}
	}
	return kinds
}

// shape is a template of testdata with what it is for.
type shape struct {
	file       string
	scope      string // "": the resource group of the tests
	parameters object
	resources  int
	outputs    object // some of them
	before     string // what is there already
	others     bool   // it has types that are only stored
	later      int    // resources whose names are made of what others have
}

var shapes = []shape{
	{file: "classic-queues", resources: 5, outputs: object{"namespaceId": rg + "/providers/Microsoft.ServiceBus/namespaces/shop-" + rgToken}},
	{file: "topic-rules", resources: 6, outputs: object{"first": 4.0}},
	{file: "subscription", scope: sub, parameters: object{"environmentName": "dev", "location": "westeurope"}, resources: 3,
		outputs: object{"AZURE_RESOURCE_GROUP": "rg-dev", "SERVICE_BUS_LOCATION": "West Europe"}},
	{file: "nested-outer", resources: 5, outputs: object{"bus": rg + "/providers/Microsoft.ServiceBus/namespaces/shop-bus-dev", "status": "Active", "secret": nil}},
	{file: "listkeys", parameters: object{"serviceBusNamespaceName": "contoso", "serviceBusQueueName": "orders"}, resources: 3, outputs: object{"SharedAccessPolicyPrimaryKey": nil}},
	{file: "forwarding-queues", parameters: object{"busName": "contoso"}, before: bus("contoso", ""), resources: 9,
		outputs: object{"sku": "Standard", "deliveries": []any{10.0, 3.0, 8.0}, "queueNames": []any{"mails", "orders", "payments"}}},
	{file: "roles", parameters: object{"busName": "contoso"}, resources: 6},
	{file: "aspire", scope: sub, parameters: object{"resourceGroupName": "rg-aspire", "location": "westeurope", "principalId": "11111111-2222-3333-4444-555555555555"},
		resources: 7},
	{file: "dapr-pubsub", others: true, resources: 10, outputs: object{"host": "store-sb-" + rgToken + ".servicebus.windows.net",
		"logs": "store-logs.customerid.made-up-by-minibus.invalid", "days": 30.0}},
	{file: "functions-quickstart", scope: sub, parameters: object{"environmentName": "dev", "location": "westeurope"}, resources: 6, later: 2,
		outputs: object{"AZURE_TENANT_ID": Tenant, "SUBNET": nil}},
	{file: "avm-namespace", parameters: object{"name": "contoso"}, resources: 9, outputs: object{"id": rg + "/providers/Microsoft.ServiceBus/namespaces/contoso",
		"queueIds": []any{rg + "/providers/Microsoft.ServiceBus/namespaces/contoso/queues/orders", rg + "/providers/Microsoft.ServiceBus/namespaces/contoso/queues/mails"}}},
}

// rgToken is uniqueString of the resource group of the tests.
const rgToken = "jav5qnlal4p3k"

// TestTemplatesDeployTwice: the second time nothing changes, also after a restart, and what-if says so.
func TestTemplatesDeployTwice(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.file, func(t *testing.T) {
			h := newHouse(t)
			h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
			scope := s.scope
			if scope == "" {
				scope = rg
			}
			h.others, h.storesOthers = s.others, s.others
			if s.before != "" {
				h.deploy(rg, "before", deploymentBody(t, minimal(s.before, ""), nil)).status(http.StatusOK)
			}
			body := deploymentBody(t, templateFile(t, s.file), s.parameters)
			h.post(deploymentAt(scope, "main")+"/validate", body).status(http.StatusOK)
			h.get(deploymentAt(scope, "main")).refused(404, "DeploymentNotFound", "main")
			if got := h.post(deploymentAt(scope, "main")+"/whatIf", body).changes(); !reflect.DeepEqual(got, map[string]int{"Create": s.resources - s.later}) {
				t.Errorf("what-if announces %v", got)
			}
			first := h.deploy(scope, "main", body)
			ids := first.ids()
			if len(ids) != s.resources {
				t.Fatalf("%d resources, want %d: %s", len(ids), s.resources, first.Body)
			}
			for name, want := range s.outputs {
				if got := first.at("properties.outputs." + name + ".value"); !reflect.DeepEqual(got, want) {
					t.Errorf("the output %s is %v, want %v", name, got, want)
				}
			}
			before := h.state(ids)
			h.restart()
			h.get(deploymentAt(scope, "main")).has("properties.provisioningState", "Succeeded")
			if got := h.post(deploymentAt(scope, "main")+"/whatIf", body).changes(); !reflect.DeepEqual(got, map[string]int{"NoChange": s.resources}) {
				t.Errorf("after it, what-if announces %v", got)
			}
			second := h.deploy(scope, "main", body)
			if again := second.ids(); !slices.Equal(again, ids) {
				t.Errorf("%q\nand then %q", ids, again)
			}
			if after := h.state(ids); !reflect.DeepEqual(after, before) {
				t.Errorf("it changed\n%v\nto\n%v", before, after)
			}
		})
	}
}

// state returns what resources look like, without times.
func (h *house) state(ids []string) map[string]string {
	h.t.Helper()
	state := make(map[string]string)
	for _, id := range ids {
		r := h.get(id).status(http.StatusOK)
		var o object
		if err := json.Unmarshal(r.Body.Bytes(), &o); err != nil {
			h.t.Fatal(err)
		}
		if p, ok := o["properties"].(object); ok {
			for _, key := range []string{"updatedAt", "accessedAt", "updatedOn"} {
				delete(p, key)
			}
		}
		text, _ := json.Marshal(o)
		state[id] = string(text)
	}
	return state
}

// TestWhatBicepBuildWrites of an export deploys, and has nothing to change afterwards.
func TestWhatBicepBuildWrites(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	text, err := os.ReadFile("../../config/testdata/azure.arm.json")
	if err != nil {
		t.Fatal(err)
	}
	h.put(strings.Replace(orders, "orders", "contoso", 1), object{"location": "westeurope", "sku": object{"name": "Premium"}}).status(http.StatusOK)
	body := deploymentBody(t, string(text), object{"namespaceName": "contoso"})
	made := h.deploy(rg, "main", body).has("properties.provisioningState", "Succeeded")
	ids := made.ids()
	if len(ids) < 20 {
		t.Fatalf("%d resources: %s", len(ids), made.Body)
	}
	if got := h.post(deploymentAt(rg, "main")+"/whatIf", body).changes(); !reflect.DeepEqual(got, map[string]int{"NoChange": len(ids), "Ignore": 1}) {
		t.Errorf("what-if announces %v", got)
	}
}

// minimal returns a template with resources, and whatever else.
func minimal(resources, more string) string {
	return `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0", ` + more + `"resources": [` + resources + `]}`
}

// bus is a namespace as a resource of a template.
func bus(name, more string) string {
	return `{"type": "Microsoft.ServiceBus/namespaces", "apiVersion": "2021-11-01", "name": "` + name + `", "location": "westeurope"` + more + `}`
}

// TestWrongTemplatesAreRefused before anything is made, with the place.
func TestWrongTemplatesAreRefused(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	good := bus("contoso", "")
	deep := `"x"`
	for range 100 {
		deep = `[` + deep + `]`
	}
	for _, x := range []struct{ body, code, text string }{
		{`{`, "InvalidRequestContent", "at line '1'"},
		{`[]`, "InvalidRequestContent", "no object"},
		{`{}`, "InvalidRequestContent", "no properties"},
		{`{"properties": {"mode": "Incremental"}}`, "InvalidTemplate", "The template is missing"},
		{`{"properties": {"mode": "Complete", "template": {}}}`, "UnsupportedDeploymentMode", `"Complete"`},
		{`{"properties": {"mode": "Incremental", "templateLink": {"uri": "https://x"}}}`, "UnsupportedTemplateLink", "leave out templateLink"},
		{`{"properties": {"template": {}, "parameters": {"x": {"reference": {}}}}}`, "InvalidTemplate", "reads no secrets of a key vault"},
		{deploymentBody(t, `{}`, nil), "InvalidTemplate", "a contentVersion and resources"},
		{deploymentBody(t, minimal(good, `"languageVersion": "3.0", `), nil), "InvalidTemplate", `"3.0"`},
		{deploymentBody(t, minimal(good, `"parameters": {"x": {"type": "string"}}, `), nil), "InvalidTemplate", "The value for the template parameter 'x'"},
		{deploymentBody(t, minimal(good, ""), object{"y": 1}), "InvalidTemplate", "The template parameters 'y'"},
		{deploymentBody(t, minimal(good+",\n"+bus("[concat('a']", ""), ""), nil), "InvalidTemplate", "at line '2' and column '81', $.resources[1].name: found"},
		{deploymentBody(t, minimal(good+",\n"+bus("[frobnicate()]", ""), ""), nil), "InvalidTemplate", `the function "frobnicate"`},
		{deploymentBody(t, minimal(good+","+bus("[parameters('gone')]", ""), ""), nil), "InvalidTemplate", `there is no parameter "gone"`},
		{deploymentBody(t, minimal(good+","+bus("[reference('contoso').status]", ""), ""), nil), "InvalidTemplate", "the functions reference and list* are for properties and outputs"},
		{deploymentBody(t, minimal(good+","+bus("Contoso", ""), ""), nil), "InvalidTemplate", "is defined a second time"},
		{deploymentBody(t, minimal(bus("contoso", `, "dependsOn": ["other"]`), ""), nil), "InvalidTemplate", "'other' is not defined in the template"},
		{deploymentBody(t, minimal(bus("contoso", `, "dependsOn": ["other1"]`)+","+bus("other1", `, "dependsOn": ["contoso"]`), ""), nil), "InvalidTemplate", "circular dependency detected on resource"},
		{deploymentBody(t, minimal(bus("contoso", `, "properties": {"x": "[reference('other1').status]"}`)+","+bus("other1", `, "tags": {"x": "[reference('contoso').status]"}`), ""), nil),
			"InvalidTemplate", "circular dependency detected on resource"},
		{deploymentBody(t, minimal(bus("contoso/q", ""), ""), nil), "InvalidTemplate", "incorrect segment lengths"},
		{deploymentBody(t, minimal(bus("..", ""), ""), nil), "InvalidTemplate", "can't be part of an id"},
		{deploymentBody(t, minimal(bus("contoso", `, "condition": "perhaps"`), ""), nil), "InvalidTemplate", `the condition is "perhaps"`},
		{deploymentBody(t, minimal(bus("contoso", `, "copy": {"name": "l", "count": 1000000}`), ""), nil), "InvalidTemplate", "the count of the loop 'l' is no number from 0 to 800"},
		{deploymentBody(t, minimal(bus("[concat('contoso', copyIndex())]", `, "copy": {"name": "l", "count": 500}`)+","+bus("[concat('more', copyIndex())]", `, "copy": {"name": "m", "count": 500}`), ""), nil),
			"InvalidTemplate", "a template may have 800 resources"},
		{deploymentBody(t, minimal(good, `"variables": {"x": `+deep+`}, `), nil), "InvalidRequestContent", "more than 64 levels of nesting"},
		{deploymentBody(t, minimal(bus("contoso", `, "tags": {"x": "[format('`+strings.Repeat("{0}", 5000)+`', string(range(0, 9999)))]"}`), ""), nil), "InvalidTemplate", "it is too large"},
		{deploymentBody(t, minimal(good+`, {"type": "Microsoft.Storage/storageAccounts", "apiVersion": "2023-01-01", "name": "x"}`, ""), nil), "InvalidTemplateDeployment", "validation procedure"},
		{deploymentBody(t, minimal(good+`, {"type": "Microsoft.Resources/deployments", "apiVersion": "2023-01-01", "name": "x", "resourceGroup": "elsewhere", "properties": {"mode": "Incremental", "template": `+minimal("", "")+`}}`, ""), nil),
			"InvalidTemplate", "the resource group 'elsewhere' of the deployment 'x' does not exist"},
		{deploymentBody(t, minimal(good+`, {"type": "Microsoft.Resources/deployments", "apiVersion": "2023-01-01", "name": "x", "properties": {"mode": "Incremental", "templateLink": {"id": "x"}}}`, ""), nil),
			"InvalidTemplate", "It does not load linked templates"},
		{deploymentBody(t, minimal(good+`, {"type": "Microsoft.Resources/deployments", "apiVersion": "2023-01-01", "name": "x", "scope": "Microsoft.Management/managementGroups/m", "location": "x", "properties": {"mode": "Incremental", "template": `+minimal("", "")+`}}`, ""), nil),
			"InvalidTemplate", "not to management groups or tenants"},
		{deploymentBody(t, minimal(good+`, {"extension": "microsoftGraphV1", "type": "Microsoft.Graph/applications@v1.0", "name": "x"}`, ""), nil), "InvalidTemplate", "no extensions of templates"},
		{deploymentBody(t, strings.Replace(minimal(good, ""), "deploymentTemplate", "subscriptionDeploymentTemplate", 1), nil), "InvalidTemplate", "az deployment sub create"},
		{deploymentBody(t, minimal(good, `"outputs": {"x": {"type": "string", "value": "[reference('nothing').x]"}}, `), nil), "InvalidTemplate", "there is no resource 'nothing' in the template"},
		{deploymentBody(t, minimal(good, `"outputs": {"x": {"type": "string", "value": "[listKeys('contoso', '2021-11-01').x]"}}, `), nil), "InvalidTemplate", "no listKeys() of resources of the type"},
		{deploymentBody(t, minimal(good, `"variables": {"x": "[utcNow()]"}, "outputs": {"x": {"type": "string", "value": "[variables('x')]"}}, `), nil), "InvalidTemplate", "utcNow is for default values"},
		{deploymentBody(t, minimal(good, `"variables": {"x": "[reference('contoso').status]"}, "outputs": {"x": {"type": "string", "value": "[variables('x')]"}}, `), nil),
			"InvalidTemplate", "the functions reference and list* are for properties and outputs"},
		{deploymentBody(t, minimal(good, `"parameters": {"x": {"type": "string", "defaultValue": "[reference('contoso').status]"}}, `), nil),
			"InvalidTemplate", "the functions reference and list* are for properties and outputs"},
	} {
		for _, how := range []string{"PUT", "validate", "whatIf"} {
			r := reply{}
			if how == "PUT" {
				r = h.put(deploymentAt(rg, "wrong"), x.body)
			} else {
				r = h.post(deploymentAt(rg, "wrong")+"/"+how, x.body)
			}
			if r.Code != http.StatusBadRequest || r.at("error.code") != x.code || !strings.Contains(r.Body.String(), strings.ReplaceAll(x.text, `"`, `\"`)) {
				t.Errorf("%s of %.200s:\n%d %.500s\nwant %s with %s", how, x.body, r.Code, r.Body, x.code, x.text)
			}
		}
	}
	h.put(deploymentAt(rg, "a+b"), deploymentBody(t, minimal("", ""), nil)).refused(400, "InvalidDeploymentName", "'a+b'")
	h.put(deploymentAt(sub, "x"), `{"properties": {"template": {}}}`).refused(400, "LocationRequired", "location")
	h.put(deploymentAt(sub, "x"), deploymentBody(t, minimal(good, ""), nil)).refused(400, "InvalidTemplate", "az deployment group create")
	schema := strings.Replace(minimal(good, ""), "deploymentTemplate", "subscriptionDeploymentTemplate", 1)
	h.put(deploymentAt(sub, "x"), deploymentBody(t, schema, nil)).refused(400, "InvalidTemplate", "goes to a resource group")
	h.get(rg + "/providers/Microsoft.ServiceBus/namespaces").want()
	h.get(rg + "/providers/Microsoft.Resources/deployments").want()
	r := h.put(deploymentAt(rg, "wrong"), deploymentBody(t, minimal(`{"type": "Microsoft.Storage/storageAccounts", "apiVersion": "2023-01-01", "name": "x"}`, ""), nil))
	r.has("error.details.0.code", "InvalidResourceType")
	if text, _ := r.at("error.details.0.message").(string); !strings.Contains(text, "'Microsoft.Storage/storageAccounts'") || !strings.Contains(text, "--arm-other-types store") {
		t.Errorf("%s", text)
	}
}

// TestDeploymentsAreKept: they are listed, say what they did, and can be exported and deleted.
func TestDeploymentsAreKept(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	text := minimal(bus("contoso", ""), `"parameters": {"name": {"type": "string"}, "key": {"type": "securestring", "defaultValue": "hunter22"}}, "outputs": {"n": {"type": "string", "value": "[parameters('name')]"}}, `)
	body := deploymentBody(t, text, object{"name": "n1"})
	r := h.put(deploymentAt(rg, "main"), body).status(http.StatusCreated)
	r.has("name", "main", "type", "Microsoft.Resources/deployments", "properties.provisioningState", "Succeeded", "properties.outputs.n.value", "n1")
	h.put(deploymentAt(rg, "main"), body).status(http.StatusOK)
	h.deploy(rg, "other", deploymentBody(t, minimal("", ""), nil))
	h.restart()
	h.get(rg+"/providers/Microsoft.Resources/deployments").want("other", "main")
	h.get(rg + "/providers/Microsoft.Resources/deployments?$filter=provisioningState%20eq%20%27Failed%27").want()
	h.get(rg + "/resources").want("contoso")
	h.ask(http.MethodHead, deploymentAt(rg, "main"), nil).status(http.StatusNoContent)
	h.ask(http.MethodHead, deploymentAt(rg, "gone"), nil).status(http.StatusNotFound)
	shown := h.get(deploymentAt(rg, "MAIN")).status(http.StatusOK)
	shown.has("properties.mode", "Incremental", "properties.parameters.name.value", "n1", "properties.parameters.key.type", "SecureString",
		"properties.parameters.key.value", nil, "properties.outputResources.0.id", rg+"/providers/Microsoft.ServiceBus/namespaces/contoso",
		"properties.providers.0.namespace", "Microsoft.ServiceBus")
	operations := h.get(deploymentAt(rg, "main")+"/operations").status(http.StatusOK).has(
		"value.0.properties.provisioningState", "Succeeded", "value.0.properties.statusCode", "OK",
		"value.0.properties.targetResource.resourceName", "contoso")
	h.get(rg+"/deployments/main/operations").has("value.0.id", operations.at("value.0.id"))
	id, _ := operations.at("value.0.id").(string)
	h.get(rg+"/deployments/main"+id[strings.Index(id, "/operations/"):]).status(http.StatusOK).has("id", id)
	h.get(id).status(http.StatusOK).has("id", id)
	h.post(deploymentAt(rg, "main")+"/cancel", nil).refused(409, "DeploymentCannotBeCancelled", "'Succeeded'")
	exported := h.post(deploymentAt(rg, "main")+"/exportTemplate", nil).status(http.StatusOK)
	exported.has("template.resources.0.name", "contoso", "template.parameters.key.type", "securestring", "template.parameters.key.defaultValue", nil)
	h.remove(deploymentAt(rg, "main")).status(http.StatusNoContent)
	h.remove(deploymentAt(rg, "main")).status(http.StatusNoContent)
	h.get(deploymentAt(rg, "main")).refused(404, "DeploymentNotFound", "'main'")
	h.get(rg + "/providers/Microsoft.ServiceBus/namespaces").want("contoso")
	for i := range maxDeployments + 3 {
		h.put(deploymentAt(rg, fmt.Sprint("n", i)), deploymentBody(t, minimal("", ""), nil)).status(http.StatusCreated)
	}
	if n := len(h.deploymentsOf(mustParse(rg))); n != maxDeployments {
		t.Errorf("%d are kept", n)
	}
	h.remove(rg).status(http.StatusOK)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	h.get(rg + "/providers/Microsoft.Resources/deployments").want()
}

// TestAResourceThatFails ends the deployment, with those that need it; the others are made.
func TestAResourceThatFails(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	queue := func(name, lock, on string) string {
		return `{"type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2021-11-01", "name": "contoso/` + name + `", "properties": {"lockDuration": "` + lock + `"}, "dependsOn": [` + on + `]}`
	}
	text := minimal(bus("contoso", "")+","+queue("bad", "PT9H", `"contoso"`)+","+queue("after", "PT1M", `"bad"`)+","+queue("good", "PT1M", `"contoso"`), "")
	r := h.put(deploymentAt(rg, "main"), deploymentBody(t, text, nil)).status(http.StatusCreated)
	r.has("properties.provisioningState", "Accepted", "properties.error", nil)
	status := h.get(strings.TrimPrefix(r.Header().Get("Azure-AsyncOperation"), "https://localhost:5300")).status(http.StatusOK)
	status.has("status", "Failed", "error.code", "DeploymentFailed", "error.details.0.code", "MessagingGatewayBadRequest",
		"error.details.0.target", rg+"/providers/Microsoft.ServiceBus/namespaces/contoso/queues/bad", "error.details.1", nil)
	h.get(deploymentAt(rg, "main")).has("properties.provisioningState", "Failed", "properties.error.code", "DeploymentFailed")
	h.get(rg + "/providers/Microsoft.ServiceBus/namespaces/contoso/queues").want("good")
	h.get(deploymentAt(rg, "main")+"/operations").has("value.1.properties.provisioningState", "Failed",
		"value.1.properties.statusMessage.error.code", "MessagingGatewayBadRequest")
}

// TestWhatIfNamesWhatChanges and nothing else.
func TestWhatIfNamesWhatChanges(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	template := func(count int, lock, tags string) string {
		return deploymentBody(t, minimal(bus("contoso", `, "tags": {`+tags+`}, "sku": {"name": "standard"}`)+
			fmt.Sprintf(`, {"type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2021-11-01", "name": "contoso/q", "dependsOn": ["contoso"], "properties": {"maxDeliveryCount": %d,
			"enablePartitioning": true, "maxSizeInMegabytes": 1024, "lockDuration": "%s", "sizeInBytes": 7, "isAutoInflateEnabled": true, "forwardTo": ""}}`, count, lock), ""), nil)
	}
	h.deploy(rg, "main", template(5, "PT60S", `"a": "1", "b": "2"`))
	h.deploy(rg, "other", deploymentBody(t, minimal(bus("elsewhere", ""), ""), nil))
	ask := func(body string) reply { return h.post(deploymentAt(rg, "main")+"/whatIf", body) }
	if got := ask(template(5, "PT1M", `"a": "1", "b": "2"`)).changes(); !reflect.DeepEqual(got, map[string]int{"NoChange": 2, "Ignore": 1}) {
		t.Errorf("%v", got)
	}
	r := ask(template(6, "PT1M", `"a": "3", "c": "4"`))
	r.has("properties.changes.0.changeType", "Modify", "properties.changes.0.delta.0.path", "tags.a", "properties.changes.0.delta.0.before", "1",
		"properties.changes.0.delta.0.after", "3", "properties.changes.0.delta.0.propertyChangeType", "Modify",
		"properties.changes.0.delta.1.path", "tags.c", "properties.changes.0.delta.1.propertyChangeType", "Create",
		"properties.changes.0.delta.2.path", "tags.b", "properties.changes.0.delta.2.propertyChangeType", "Delete", "properties.changes.0.delta.3", nil,
		"properties.changes.1.delta.0.path", "properties.maxDeliveryCount", "properties.changes.1.delta.1", nil)
	h.get(rg+"/providers/Microsoft.ServiceBus/namespaces/contoso/queues/q").has("properties.maxDeliveryCount", 5)
}

// TestOnlyIfNotExists leaves what is there as it is.
func TestOnlyIfNotExists(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	queue := func(count int, more string) string {
		return deploymentBody(t, minimal(bus("contoso", "")+fmt.Sprintf(`, {"type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2021-11-01", "name": "contoso/q", "dependsOn": ["contoso"],
			"properties": {"maxDeliveryCount": %d}%s}`, count, more), ""), nil)
	}
	for _, x := range []struct {
		count, want int
		more        string
	}{{5, 5, `, "@options": {"onlyIfNotExists": true}`}, {6, 5, `, "@options": {"onlyIfNotExists": true}`}, {6, 6, ""}} {
		h.deploy(rg, "main", queue(x.count, x.more)).status(http.StatusOK)
		h.get(rg+"/providers/Microsoft.ServiceBus/namespaces/contoso/queues/q").has("properties.maxDeliveryCount", x.want)
	}
}

// TestSecretsAreNeitherShownNorKept: in no answer, no error, no document.
func TestSecretsAreNeitherShownNorKept(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	secret := "hunter22-very-secret with \"quotes\" and " + strings.Repeat("more, ", 20)
	inner := minimal(`{"type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2021-11-01", "name": "contoso/q", "properties": {"userMetadata": "[parameters('key')]", "lockDuration": "[parameters('key')]"}}`,
		`"parameters": {"key": {"type": "securestring"}}, "outputs": {"key": {"type": "securestring", "value": "[parameters('key')]"}}, `)
	text := minimal(bus("contoso", "")+`, {"type": "Microsoft.Resources/deployments", "apiVersion": "2022-09-01", "name": "inner", "dependsOn": ["contoso"], "properties": {"mode": "Incremental",
		"expressionEvaluationOptions": {"scope": "inner"}, "parameters": {"key": {"value": "[parameters('key')]"}}, "template": `+inner+`}}`,
		`"parameters": {"key": {"type": "securestring"}, "all": {"type": "secureObject"}}, "outputs": {"key": {"type": "secureString", "value": "[parameters('key')]"},
		"all": {"type": "secureObject", "value": "[parameters('all')]"}}, `)
	body := deploymentBody(t, text, object{"key": secret, "all": object{"deep": []any{secret + "2"}}})
	var seen strings.Builder
	h.Manager.log = slog.New(slog.NewTextHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
	note := func(r reply) { seen.WriteString(r.Body.String()) }
	cut := strings.Replace(text, `"name": "contoso"`, `"condition": "[parameters('key')]", "name": "contoso"`, 1)
	r := h.put(deploymentAt(rg, "cut"), deploymentBody(t, cut, object{"key": secret, "all": object{}}))
	r.refused(400, "InvalidTemplate", hidden)
	note(r)
	note(h.post(deploymentAt(rg, "main")+"/validate", body))
	note(h.post(deploymentAt(rg, "main")+"/whatIf", body))
	note(h.put(deploymentAt(rg, "main"), body))
	note(h.put(deploymentAt(rg, "main"), strings.Replace(body, `"name": "contoso"`, `"name": "[substring(parameters('key'), 0, 200)]"`, 1)))
	for _, name := range []string{"main", "inner"} {
		r := h.get(deploymentAt(rg, name)).status(http.StatusOK).has("properties.provisioningState", "Failed")
		note(r)
		note(h.get(deploymentAt(rg, name) + "/operations"))
		note(h.post(deploymentAt(rg, name)+"/exportTemplate", nil))
	}
	good := strings.Replace(body, `, "lockDuration": "[parameters('key')]"`, "", 1)
	note(h.deploy(rg, "main", good).has("properties.outputs.key.type", "SecureString"))
	documents, err := h.store.Documents().All()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range documents {
		seen.Write(text)
	}
	for _, part := range []string{"hunter22", "more, more"} {
		if at := strings.Index(seen.String(), part); at >= 0 {
			t.Errorf("a secret in ...%s", seen.String()[max(0, at-300):at+30])
		}
	}
	h.get(rg+"/providers/Microsoft.ServiceBus/namespaces/contoso/queues/q").has("properties.userMetadata", secret)
}

func TestTextsWithoutSecrets(t *testing.T) {
	var s secrets
	if text := "no secrets"; s.without(text) != text {
		t.Errorf("%q is not itself", s.without(text))
	}
	for _, text := range []string{"****", "abc", "abcdefghijklmnopqrstuvwxyz", "vwxyz0123", "quote\"d"} {
		s.note(text)
	}
	for text, want := range map[string]string{
		"abc": hidden, "abcd": "abcd", "********": hidden, "x abcdefghijklmnopqrst...": "x " + hidden + "...", "abcdefghijklmno": "abcdefghijklmno",
		"abcdefghijklmnopqrstuvwxyz0123 4": hidden + " 4", "a vwxyz0123 and vwxyz0123": "a " + hidden + " and " + hidden, `quote\"d quote"d`: hidden + " " + hidden,
		"": "", "v": "v", "é vwxyz0123é": "é " + hidden + "é",
	} {
		if got := s.without(text); got != want {
			t.Errorf("%s without secrets is %s, want %s", text, got, want)
		}
	}
}

// TestManySecretsTakeLittleTime: not the square of their number.
func TestManySecretsTakeLittleTime(t *testing.T) {
	var s secrets
	list := &jsontree.Node{Kind: jsontree.Array}
	for i := range 30_000 {
		list.Items = append(list.Items, asText(fmt.Sprintf("secret-%d", i)))
	}
	began := time.Now()
	s.add(list)
	s.add(list)
	if got := s.without(strings.Repeat("secret-27777 ", 10_000)); got != strings.Repeat(hidden+" ", 10_000) {
		t.Errorf("%d bytes are left", len(got))
	}
	if took := time.Since(began); took > time.Minute { // a fraction of a second; the square of their number takes many minutes
		t.Errorf("it took %s", took)
	}
}

// TestWhatIsMadeOfASecretIsHidden, but what is beside it in a value is not.
func TestWhatIsMadeOfASecretIsHidden(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	for expression, want := range map[string]string{
		`take(parameters('key'), 8)`: hidden, `replace(parameters('key'), '2', 'two')`: hidden, `split(parameters('key'), '-')[3]`: hidden,
		`concat('x-', substring(parameters('key'), 2, 10))`: "x-" + hidden, `base64(concat(parameters('key'), '!'))`: hidden,
		`json(parameters('text')).inside`: hidden, `join(map(split(parameters('key'), '-'), lambda('x', toUpper(lambdaVariables('x')))), '')`: hidden + "OFTHE" + hidden + "3",
		`createObject('a', parameters('key'), 'b', 'plain-text').b`: "plain-text", `string(length(parameters('key')))`: "28",
		`if(contains(parameters('key'), 'hunter'), 'plain-text', '')`: "plain-text", `replace('plain-text', 'x-y', parameters('key'))`: "plain-text",
		`substring(guid(parameters('key')), 8, 1)`: "-",
	} {
		text := minimal(bus("contoso", `, "tags": {"made": "[`+expression+`]"}`), `"parameters": {"key": {"type": "securestring"}, "text": {"type": "securestring"}}, `)
		r := h.post(deploymentAt(rg, "main")+"/whatIf", deploymentBody(t, text, object{"key": "hunter22-of-the-deployment-3", "text": `{"inside": "inner-secret"}`})).status(http.StatusOK)
		var got struct {
			Properties struct {
				Changes []struct {
					After struct{ Tags struct{ Made string } }
				}
			}
		}
		if err := json.Unmarshal(r.Body.Bytes(), &got); err != nil || len(got.Properties.Changes) != 1 {
			t.Fatalf("%v %s", err, r.Body)
		}
		if made := got.Properties.Changes[0].After.Tags.Made; made != want {
			t.Errorf("%s is shown as %s, want %s", expression, made, want)
		}
	}
}

// TestAGroupThatIsMadeAgain while a deployment runs is another one, for which the deployment has nothing.
func TestAGroupThatIsMadeAgain(t *testing.T) {
	for _, nested := range []bool{false, true} {
		h := newHouse(t)
		h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
		text := minimal(bus("contoso", ""), "")
		if nested {
			text = minimal(`{"type": "Microsoft.Resources/deployments", "apiVersion": "2022-09-01", "name": "inner", "properties": {"mode": "Incremental", "template": `+text+`}}`, "")
		}
		id := mustParse(deploymentAt(rg, "main"))
		u, err := h.newDeployment(&call{method: http.MethodPut, id: id, version: "2024-01-01", base: "http://localhost:5300", ctx: t.Context(),
			body: []byte(deploymentBody(t, text, nil))}, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := u.prepareAll(); err != nil {
			t.Fatal(err)
		}
		h.remove(rg).status(http.StatusOK)
		h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
		u.run()
		if u.failure == nil {
			t.Error("the deployment succeeds")
		}
		if _, err := u.finish(); err == nil {
			t.Error("the deployment is kept")
		}
		h.get(rg+"/providers/Microsoft.ServiceBus/namespaces/contoso").refused(http.StatusNotFound, "ResourceNotFound", "contoso")
		for _, name := range []string{"main", "inner"} {
			h.get(deploymentAt(rg, name)).refused(http.StatusNotFound, "DeploymentNotFound", name)
		}
	}
}

// TestSecureMembersAreNeitherShownNorKept: secure types in types of the template, and in templates inside it.
func TestSecureMembersAreNeitherShownNorKept(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	inner := minimal("", `"parameters": {"key": {"type": "securestring", "defaultValue": "hunter-default-inside"}}, `)
	text := minimal(`{"type": "Microsoft.Resources/deployments", "apiVersion": "2022-09-01", "name": "inner", "properties": {"mode": "Incremental",
		"expressionEvaluationOptions": {"scope": "inner"}, "template": `+inner+`}}`,
		`"definitions": {"login": {"type": "object", "properties": {"user": {"type": "string"}, "key": {"type": "securestring"}, "next": {"$ref": "#/definitions/login", "nullable": true}}}},
		"parameters": {"login": {"$ref": "#/definitions/login"}, "keys": {"type": "array", "items": {"type": "securestring"}},
			"fallback": {"$ref": "#/definitions/login", "defaultValue": {"user": "hunter-of-none", "key": "hunter-default"}},
			"pet": {"type": "object", "discriminator": {"propertyName": "kind", "mapping": {"cat": {"type": "object", "properties": {"kind": {"type": "string"}, "chip": {"type": "securestring"}}}}}}},
		"outputs": {"login": {"$ref": "#/definitions/login", "value": "[parameters('login')]"}, "first": {"type": "string", "value": "[parameters('login').user]"}}, `)
	given := object{"login": object{"user": "fred", "key": "hunter-member", "next": object{"user": "eve", "key": "hunter-next"}}, "keys": []string{"hunter-item"},
		"pet": object{"kind": "cat", "chip": "hunter-chip"}}
	body := deploymentBody(t, text, given)
	var seen strings.Builder
	note := func(r reply) { seen.WriteString(r.Body.String()) }
	note(h.post(deploymentAt(rg, "main")+"/validate", body).status(http.StatusOK))
	note(h.post(deploymentAt(rg, "main")+"/whatIf", body).status(http.StatusOK))
	note(h.deploy(rg, "main", body).has("properties.outputs.first.value", "fred"))
	note(h.get(deploymentAt(rg, "")))
	note(h.post(deploymentAt(rg, "main")+"/exportTemplate", nil).status(http.StatusOK))
	for _, wrong := range []string{"login').key", "login').next.key", "keys')[0]", "pet').chip"} {
		r := h.post(deploymentAt(rg, "main")+"/validate", strings.Replace(body, `"resources": [{`, `"resources": [{"condition": "[parameters('`+wrong+`]", `, 1))
		r.refused(400, "InvalidTemplate", hidden)
		note(r)
	}
	for _, made := range []string{"base64", "toUpper", "toLower"} {
		h.post(deploymentAt(rg, "main")+"/validate", strings.Replace(body, `"resources": [{`, `"resources": [{"condition": "[`+made+`(parameters('login').key)]", `, 1)).
			refused(400, "InvalidTemplate", "the condition is \""+hidden+"\"")
	}
	options := minimal("", `"parameters": {"key": {"type": "securestring", "allowedValues": ["hunter-one", "hunter-two"]}}, `)
	r := h.post(deploymentAt(rg, "main")+"/validate", deploymentBody(t, options, object{"key": "hunter-three"}))
	r.refused(400, "InvalidTemplate", "The value is not part of the allowed value(s)")
	note(r)
	documents, err := h.store.Documents().All()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range documents {
		seen.Write(text)
	}
	if at := strings.Index(seen.String(), "hunter"); at >= 0 {
		t.Errorf("a secret in ...%s", seen.String()[max(0, at-300):at+30])
	}
}

// TestLargeTemplates: 800 resources and a template of nearly 4 MB pass in a few seconds.
func TestLargeTemplates(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	queues := `{"type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2021-11-01", "name": "[format('contoso/q{0:D3}', copyIndex())]", "copy": {"name": "l", "count": 799}, "dependsOn": ["contoso"], "properties": {}}`
	began := time.Now()
	if ids := h.deploy(rg, "main", deploymentBody(t, minimal(bus("contoso", "")+","+queues, ""), nil)).ids(); len(ids) != 800 {
		t.Errorf("%d resources", len(ids))
	}
	big := deploymentBody(t, minimal(bus("contoso", ""), `"variables": {"x": "`+strings.Repeat("x", 4<<20-2000)+`"}, `), nil)
	h.deploy(rg, "big", big).status(http.StatusOK)
	values := deploymentBody(t, minimal(bus("contoso", ""), `"variables": {"x": [`+strings.Repeat("1,", 1_000_000)+`1]}, `), nil)
	h.deploy(rg, "values", values).refused(400, "InvalidRequestContent", "too many values")
	h.deploy(rg, "large", big+strings.Repeat(" ", 4000)).refused(413, "RequestContentTooLarge", "4 MB")
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("it took %v", took)
	}
}

// TestTemplatesOfAnyKindGetAnAnswer: parts of the templates are cut out, doubled and exchanged, and whatever comes of it is answered.
func TestTemplatesOfAnyKindGetAnAnswer(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	random := rand.New(rand.NewPCG(1, 2))
	words := regexp.MustCompile(`"[^"\n]*"|\[|\]|\{|\}|[0-9]+|true|false|,`)
	var parts []string
	for _, s := range shapes {
		parts = append(parts, words.FindAllString(templateFile(t, s.file), -1)...)
	}
	parts = append(parts, "null", "-1", "1e99", `"[copyIndex()]"`, `"[reference('bus')]"`, `"[parameters('name')]"`, `"."`, `"/"`, `"[json('{}')]"`, "{}", "[]")
	accepted := 0
	for i := range 440 {
		s := shapes[i%len(shapes)]
		text := templateFile(t, s.file)
		for range 1 + random.IntN(3) {
			places := words.FindAllStringIndex(text, -1)
			at := places[random.IntN(len(places))]
			with := parts[random.IntN(len(parts))]
			if old := text[at[0]:at[1]]; random.IntN(4) > 0 && old[0] == '"' {
				for with[0] != '"' { // so that most are JSON still
					with = parts[random.IntN(len(parts))]
				}
			}
			text = text[:at[0]] + with + text[at[1]:]
		}
		scope := s.scope
		if scope == "" {
			scope = rg
		}
		for _, action := range []string{"/validate", "/whatIf"} {
			r := h.post(deploymentAt(scope, "main")+action, deploymentBody(t, text, s.parameters))
			if r.Code != http.StatusOK && r.Code/100 != 4 {
				t.Errorf("%d %s for %s", r.Code, r.Body, text)
			}
			if r.Code == http.StatusOK {
				accepted++
			}
		}
		if i%8 != 0 {
			continue
		}
		if r := h.put(deploymentAt(scope, "main"), deploymentBody(t, text, s.parameters)); r.Code/100 != 2 && r.Code/100 != 4 {
			t.Errorf("%d %s for %s", r.Code, r.Body, text)
		}
	}
	if accepted < 100 || accepted > 800 {
		t.Errorf("%d of 880 were accepted: it tests nothing", accepted)
	}
}

// groupTemplate returns a template for a resource group with a resource.
func groupTemplate(resource string) string {
	return `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", ` +
		`"contentVersion": "1.0.0.0", "resources": [` + resource + `]}`
}

// TestDeploymentsElsewhere: there are deployments in resource groups and subscriptions, and nowhere else.
func TestDeploymentsElsewhere(t *testing.T) {
	h := withOrders(t)
	body := deploymentBody(t, groupTemplate(""), nil)
	for _, scope := range []string{
		"", "/providers/Microsoft.Management/managementGroups/g", orders, orders + "/queues/nope", sub + "/locations/x",
		rg + "/providers/Microsoft.A" + strings.Repeat("/a/b", 26),
	} {
		h.put(deploymentAt(scope, "d"), body).refused(404, "InvalidResourceType", "deploys to resource groups")
		h.post(deploymentAt(scope, "d")+"/validate", body).status(http.StatusNotFound)
		h.get(deploymentAt(scope, "d")).status(http.StatusNotFound)
	}
	if all := h.keysOf(deploymentsType, ID{}); len(all) > 0 {
		t.Errorf("%q is kept", all)
	}
	h.deploy(rg, "d", body).status(http.StatusOK)
}

// TestDeploymentNeedsRoom: without room for its record, a deployment makes nothing.
func TestDeploymentNeedsRoom(t *testing.T) {
	h := withOrders(t)
	body := deploymentBody(t, groupTemplate(
		`{"type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2024-01-01", "name": "orders/q"}`), nil)
	before := h.size
	h.size = maxDocuments - recordSize
	h.put(deploymentAt(rg, "d"), body).refused(http.StatusConflict, "QuotaExceeded", "no room")
	h.size = before
	h.get(orders + "/queues").want()
	h.deploy(rg, "d", body).status(http.StatusOK)
	h.get(orders + "/queues").want("q")
	if got := h.size - before; got > len(body)+2*recordSize {
		t.Errorf("the record has %d bytes", got)
	}
}
