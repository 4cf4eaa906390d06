package arm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// object returns the id of the signed-in identity, as its token has it.
func (a *azure) object() string {
	a.Helper()
	var token struct{ AccessToken string }
	a.read(&token, "account get-access-token --resource https://servicebus.azure.net")
	parts := strings.Split(token.AccessToken, ".")
	var claims struct{ Oid, Aud string }
	if len(parts) == 3 {
		text, _ := base64.RawURLEncoding.DecodeString(parts[1])
		_ = json.Unmarshal(text, &claims)
	}
	if claims.Oid == "" || claims.Aud != "https://servicebus.azure.net" {
		a.Fatalf("the token has %+v", claims)
	}
	return claims.Oid
}

// minibus runs a command of the command line, which finds the sign-in of az.
func (a *azure) minibus(args ...string) (out string, code int) {
	a.Helper()
	cmd := exec.Command(harness.Binary(a), append(args, "-c", fmt.Sprintf("localhost:%d", a.cloud.Ports.TLS), "--ca", a.cloud.CA(), "--auth", "az")...)
	cmd.Env = append(append(os.Environ(), a.environ()...), "AZURE_TOKEN_CREDENTIALS=AzureCLICredential")
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		a.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// TestAzRoles assigns roles, which open a namespace for who signed in with az, and makes what stands beside entities.
func TestAzRoles(t *testing.T) {
	harness.NeedAll(t, "to run az")
	t.Parallel()
	c := start(t, "--auth", "entra", "--root-key", "root-key-of-the-test", "--identity-secret", secret, "--arm-other-types", "store")
	a := c.az(t, harness.Python(t, "."))
	a.login()
	const space = "/subscriptions/" + subscription + "/resourceGroups/minibus/providers/Microsoft.ServiceBus/namespaces/sbemulatorns"
	me := a.object()
	if out, code := a.minibus("send", "queue.1", "x"); code != 4 || !strings.Contains(out, "assign a role to the identity") {
		t.Errorf("without a role send ends with %d: %s", code, out)
	}
	assign := " --assignee-object-id " + me + " --assignee-principal-type ServicePrincipal --scope " + space
	a.script(`
		role definition list --name 'Azure Service Bus Data Sender'      # 69a216fc-b8fb-44d8-bc22-1f3c2cd27a39
		role assignment create --role 'Azure Service Bus Data Sender'` + assign + `/queues/queue.1 # "principalType": "ServicePrincipal"
		role assignment list --scope ` + space + `/queues/queue.1        # ` + me + `
	`)
	if out, code := a.minibus("send", "queue.1", "x"); code != 0 {
		t.Errorf("with the role send ends with %d: %s", code, out)
	}
	if out, code := a.minibus("receive", "queue.1"); code != 4 {
		t.Errorf("a sender's receive ends with %d: %s", code, out)
	}
	a.script(`
		role assignment delete --role 'Azure Service Bus Data Sender' --assignee ` + me + ` --scope ` + space + `/queues/queue.1
		role assignment create --role 'Azure Service Bus Data Owner'` + assign + `
	`)
	if out, code := a.minibus("receive", "queue.1"); code != 0 || !strings.Contains(out, "x") {
		t.Errorf("an owner's receive ends with %d: %s", code, out)
	}
	if out, code := a.minibus("queue", "ls"); code != 0 || !strings.Contains(out, "queue.1") {
		t.Errorf("an owner's list ends with %d: %s", code, out)
	}
	a.script(`
		group create -n roles -l westeurope
		identity create -g roles -n app                                  # "principalId"
		identity show -g roles -n app                                    # "clientId"
		identity list -g roles                                           # "app"
		monitor diagnostic-settings create -n logs --resource ` + space + ` --workspace /subscriptions/` + subscription +
		`/resourceGroups/roles/providers/Microsoft.OperationalInsights/workspaces/w --logs '[{"categoryGroup":"allLogs","enabled":true}]' # "allLogs"
		monitor diagnostic-settings list --resource ` + space + `        # "logs"
		lock create -n keep -t CanNotDelete -g roles                     # "CanNotDelete"
		lock list -g roles                                               # "keep"
		lock delete -n keep -g roles
	`)
	a.exported()
	a.deployments()
}

// deployments deploys the templates of the project.
func (a *azure) deployments() {
	templates, err := filepath.Abs("../../mgmt/arm/testdata")
	if err != nil {
		a.Fatal(err)
	}
	file := func(name, text string) string {
		path := filepath.Join(a.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			a.Fatal(err)
		}
		return path
	}
	const head = `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0", "resources": [], `
	queues, whole := " -f "+templates+"/classic-queues.json", " -f "+templates+"/subscription.json"
	a.script(`
		group create -n deploy -l westeurope
		deployment group validate -g deploy -n d` + queues + ` -p namespaceName=deploy-ns-1 # "provisioningState": "Succeeded"
		deployment group what-if -g deploy -n d` + queues + ` -p namespaceName=deploy-ns-1 --no-pretty-print # "changeType": "Create"
		deployment group create -g deploy -n d` + queues + ` -p namespaceName=deploy-ns-1 # "provisioningState": "Succeeded"
		deployment group what-if -g deploy -n d` + queues + ` -p namespaceName=deploy-ns-1 --no-pretty-print # "changeType": "NoChange"
		deployment group show -g deploy -n d                             # deploy-ns-1
		deployment group list -g deploy                                  # "d"
		deployment operation group list -g deploy -n d                   # "provisioningState": "Succeeded"
		servicebus queue show -g deploy --namespace-name deploy-ns-1 -n parcels # "requiresSession": true
		deployment sub validate -l westeurope -n s` + whole + ` -p environmentName=dev location=westeurope # "provisioningState": "Succeeded"
		deployment sub what-if -l westeurope -n s` + whole + ` -p environmentName=dev location=westeurope --no-pretty-print # "changeType": "Create"
		deployment sub create -l westeurope -n s` + whole + ` -p environmentName=dev location=westeurope # "provisioningState": "Succeeded"
		deployment sub show -n s                                         # "SERVICE_BUS_NAME"
		group show -n rg-dev                                             # "azd-env-name": "dev"
		=1 deployment group create -g deploy -n wrong -f ` + file("wrong.json", head+`"outputs": {"x": {"type": "string", "value": "[parameters('none')]"}}}`) + ` # none
		deployment group create -g deploy -n stored -f ` + file("stored.json", strings.Replace(head, "[]", `[{"type": "Microsoft.Web/sites", "apiVersion": "2022-09-01",
			"name": "shop", "location": "westeurope", "properties": {"httpsOnly": true}}]`, 1)+`"outputs": {"https": {"type": "bool", "value": "[reference(resourceId('Microsoft.Web/sites', 'shop'), '2022-09-01').httpsOnly]"}}}`) + ` # "value": true
	`)
}
