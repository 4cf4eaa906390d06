package arm

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// deploymentCall is a call of a deployment.
func deploymentCall(t *testing.T, ctx context.Context, method, path, body string) *call {
	t.Helper()
	id, err := ParseID(path)
	if err != nil {
		t.Fatal(err)
	}
	return &call{method: method, id: id, version: "2022-09-01", body: []byte(body), ctx: ctx}
}

// many are resources of a loop, with names that they depend on.
func many(turns int, names []string) string {
	return bus("[format('contoso{0}', copyIndex())]", fmt.Sprintf(`, "copy": {"name": "l", "count": %d}, "dependsOn": ["%s"]`, turns, strings.Join(names, `", "`)))
}

// TestDependenciesAreCharged: looking for their names is work too, but not for each again.
func TestDependenciesAreCharged(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	const turns, names = 200, 500
	var same, different []string
	for i := range names {
		same = append(same, "zlast")
		different = append(different, fmt.Sprintf("other-%d", i))
	}
	unknown := bus("[fail('')]", `, "condition": false`) // with it a dependency need not be in the template
	for name, x := range map[string]struct {
		resources   string
		least, most int // of the work for names
	}{
		"the same names":  {bus("zlast", "") + "," + many(turns, same), turns * names, 3 * turns * names},
		"different names": {unknown + "," + many(turns, different), 2 * turns * names, 3 * turns * names},
	} {
		c := deploymentCall(t, t.Context(), http.MethodPut, deploymentAt(rg, "main"), deploymentBody(t, minimal(x.resources, ""), nil))
		u, err := h.newDeployment(c, c.id)
		if err != nil {
			t.Fatal(err)
		}
		if err := u.prepareAll(); err != nil {
			t.Errorf("%s: %.300v", name, err)
		}
		evaluated := 2 * turns * names // the items and the lists of them
		if work := maxWork - u.budget.Work - evaluated; work < x.least || work > x.most {
			t.Errorf("%s: %d units of work for names, want %d to %d", name, work, x.least, x.most)
		}
		u.budget.Work = turns * names
		if err := u.prepareAll(); err == nil || !strings.Contains(err.Error(), "it is too large") {
			t.Errorf("%s with less to spend: %.300v", name, err)
		}
	}
}

// TestDeploymentsEndWithTheirRequest when the client is gone or the server stops.
func TestDeploymentsEndWithTheirRequest(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := minimal("", `"outputs": {"x": {"type": "int", "value": "[length(map(range(0, 10000), lambda('i', add(1, 1))))]"}}, `)
	body := deploymentBody(t, text, nil)
	for path, o := range map[string]operation{
		"": (*Manager).putDeployment, "/validate": (*Manager).validateDeployment, "/whatIf": (*Manager).whatIf,
	} {
		_, err := o(h.Manager, deploymentCall(t, ctx, http.MethodPost, deploymentAt(rg, "main")+path, body))
		if err == nil || !strings.Contains(err.Error(), "it takes too long") {
			t.Errorf("%s: %v", path, err)
		}
	}
	h.post(deploymentAt(rg, "main")+"/validate", body).status(http.StatusOK)
}

// TestOutputsAreBounded before anything is made, and when only what is made says how large they are.
func TestOutputsAreBounded(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	var outputs []string
	for i := range 10 {
		outputs = append(outputs, fmt.Sprintf(`"o%d": {"type": "string", "value": "[concat(parameters('p'), 'x')]"}`, i))
	}
	const parameter = `"parameters": {"p": {"type": "string", "defaultValue": "[padLeft('x', 1000000)]"}}, `
	many := minimal(bus("contoso", ""), parameter+`"outputs": {`+strings.Join(outputs, ", ")+`}, `)
	h.put(deploymentAt(rg, "main"), deploymentBody(t, many, nil)).refused(400, "InvalidTemplate", "more than 4 MB together")
	h.post(deploymentAt(rg, "main")+"/validate", deploymentBody(t, many, nil)).refused(400, "InvalidTemplate", "more than 4 MB together")
	h.get(rg + "/providers/Microsoft.ServiceBus/namespaces").want()
	few := minimal(bus("contoso", ""), parameter+`"outputs": {`+strings.Join(outputs[:3], ", ")+`}, `)
	h.deploy(rg, "main", deploymentBody(t, few, nil)).status(http.StatusOK)
	late := strings.ReplaceAll(many, "concat(parameters('p'), 'x')", "padLeft(reference('contoso').status, 1000000)")
	h.put(deploymentAt(rg, "late"), deploymentBody(t, late, nil)).status(http.StatusCreated)
	r := h.get(deploymentAt(rg, "late")).has("properties.provisioningState", "Failed")
	if text, _ := r.at("properties.error.message").(string); !strings.Contains(text, "more than 4 MB together") || r.Body.Len() > 5<<20 {
		t.Errorf("%d bytes: %s", r.Body.Len(), text)
	}
}

// TestFewTemplatesAreEvaluatedAtATime: the others wait, and give up with their requests.
func TestFewTemplatesAreEvaluatedAtATime(t *testing.T) {
	h := newHouse(t)
	h.put(rg, object{"location": "westeurope"}).status(http.StatusCreated)
	body := deploymentBody(t, minimal("", ""), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range cap(evaluations) {
		evaluations <- struct{}{}
	}
	for path, method := range map[string]string{"": http.MethodPut, "/validate": http.MethodPost, "/whatIf": http.MethodPost} {
		a := h.do(deploymentCall(t, ctx, method, deploymentAt(rg, "main")+path, body))
		if e := a.failure(); a.status != http.StatusServiceUnavailable || e.Code != "ServerBusy" {
			t.Errorf("%s: %d %v", path, a.status, e)
		}
	}
	for range cap(evaluations) {
		<-evaluations
	}
	for range 2 * cap(evaluations) { // each makes room for the next
		h.post(deploymentAt(rg, "main")+"/validate", body).status(http.StatusOK)
	}
}
