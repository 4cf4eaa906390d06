package arm

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// terraform is a directory with a configuration, and its state.
type terraform struct {
	*testing.T
	program string
	dir     string
	environ []string
}

// terraform prepares one of the configurations in testdata. There is no init: the provider is where the configuration of Terraform says.
func (c *cloud) terraform(t *testing.T, name string) *terraform {
	t.Helper()
	provider := filepath.Dir(harness.Tool(t, "terraform-provider-azurerm"))
	f := &terraform{T: t, program: harness.Tool(t, "terraform"), dir: t.TempDir()}
	if err := os.CopyFS(f.dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	f.write(".terraformrc", fmt.Sprintf("provider_installation {\n  dev_overrides { \"hashicorp/azurerm\" = %q }\n  direct {}\n}\n", provider))
	f.environ = append(c.environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(f.dir, ".terraformrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"ARM_METADATA_HOSTNAME=localhost:"+strconv.Itoa(c.Ports.TLS), "ARM_SUBSCRIPTION_ID="+subscription)
	return f
}

// secret signs in with a client secret.
func (f *terraform) secret() *terraform {
	f.environ = append(f.environ, "ARM_TENANT_ID="+tenant, "ARM_CLIENT_ID="+clientID, "ARM_CLIENT_SECRET="+secret)
	return f
}

func (f *terraform) write(name, text string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// run runs a command and wants this in its output.
func (f *terraform) run(want string, args ...string) string {
	f.Helper()
	out, err := harness.Output(f.environ, f.program, append([]string{"-chdir=" + f.dir}, args...)...)
	if err != nil || !strings.Contains(out, want) {
		f.Fatalf("terraform %s: %v, want %q in\n%s", strings.Join(args, " "), err, want, out)
	}
	return out
}

func (f *terraform) apply(want string, vars ...string) {
	f.Helper()
	f.run("Resources: "+want, append([]string{"apply", "-auto-approve", "-no-color", "-input=false"}, vars...)...)
}

// unchanged wants a plan to find nothing to do.
func (f *terraform) unchanged(vars ...string) {
	f.Helper()
	f.run("No changes.", append([]string{"plan", "-detailed-exitcode", "-no-color", "-input=false"}, vars...)...)
}

func (f *terraform) destroy() {
	f.Helper()
	f.run("Destroy complete!", "destroy", "-auto-approve", "-no-color", "-input=false")
}

// TestTerraform applies a configuration, finds nothing to do also after a restart, changes it in place and destroys it.
func TestTerraform(t *testing.T) {
	harness.NeedAll(t, "to run Terraform")
	t.Parallel()
	c := start(t)
	f := c.terraform(t, "standard").secret()
	f.apply("10 added, 0 changed, 0 destroyed")
	f.unchanged()
	for output, queue := range map[string]string{"connection": "orders", "send": "orders"} {
		c.manager(t).must("send with "+output, c.manager(t).send(f.run("Endpoint=sb://", "output", "-raw", output), queue))
	}
	c.restart(t)
	f.unchanged()
	space := "/subscriptions/" + subscription + "/resourceGroups/tf-standard/providers/Microsoft.ServiceBus/namespaces/tf-standard-ns"
	f.environ = append(f.environ, "ARM_RESOURCE_PROVIDER_REGISTRATIONS=legacy")
	f.unchanged()
	f.apply("0 added, 2 changed, 0 destroyed", "-var=team=b", "-var=deliveries=7")
	f.unchanged("-var=team=b", "-var=deliveries=7")
	if s := c.raw(t).must(http.MethodGet, space+"/topics/events/subscriptions/audit", nil); s["properties"].(object)["maxDeliveryCount"] != 7.0 {
		t.Errorf("the subscription is %v", s)
	}
	f.destroy()
	if status, text := c.raw(t).do(http.MethodGet, space, nil); status != http.StatusNotFound {
		t.Errorf("the namespace is there after destroy: %d %s", status, text)
	}
}

// TestTerraformPremium signs in as az does, which the provider starts, and imports what az has made.
func TestTerraformPremium(t *testing.T) {
	harness.NeedAll(t, "to run Terraform")
	t.Parallel()
	c := start(t)
	a := c.az(t, harness.Python(t, "."))
	a.byDevice()
	f := c.terraform(t, "premium")
	f.environ = append(f.environ, a.environ()...)
	f.apply("4 added, 0 changed, 0 destroyed")
	f.unchanged()
	rules := c.raw(t).must(http.MethodGet, "/subscriptions/"+subscription+"/resourceGroups/tf-premium/providers/Microsoft.ServiceBus/namespaces/tf-premium-ns/topics/events/subscriptions/audit/rules", nil)
	if len(rules["value"].([]any)) != 0 {
		t.Errorf("the subscription has rules: %v", rules)
	}
	f.importFromAz(a)
	f.destroy()
}

// importFromAz imports a queue of a Standard namespace that az has made.
func (f *terraform) importFromAz(a *azure) {
	f.Helper()
	const space = "/subscriptions/" + subscription + "/resourceGroups/tf-az/providers/Microsoft.ServiceBus/namespaces/tf-az-ns"
	a.script(`
		group create -n tf-az -l westeurope
		servicebus namespace create -g tf-az -n tf-az-ns -l westeurope --sku Standard
		servicebus queue create -g tf-az --namespace-name tf-az-ns -n made --lock-duration PT30S --max-delivery-count 5 --enable-session true
	`)
	f.write("imported.tf", `resource "azurerm_servicebus_queue" "made" {
  name               = "made"
  namespace_id       = "`+space+`"
  lock_duration      = "PT30S"
  max_delivery_count = 5
  requires_session   = true
}
`)
	f.run("Import successful!", "import", "-no-color", "-input=false", "azurerm_servicebus_queue.made", space+"/queues/made")
	f.unchanged()
}

// TestTerraformIdentity assigns roles, and keeps what has no effect here.
func TestTerraformIdentity(t *testing.T) {
	harness.NeedAll(t, "to run Terraform")
	t.Parallel()
	c := start(t)
	f := c.terraform(t, "identity").secret()
	f.apply("10 added, 0 changed, 0 destroyed")
	f.unchanged()
	f.destroy()
	f.apply("10 added, 0 changed, 0 destroyed")
	c.restart(t)
	f.unchanged()
}

// TestTerraformSlow does what the provider waits for longest: to change a queue, and to lock a namespace.
func TestTerraformSlow(t *testing.T) {
	harness.NeedNightly(t, "to run what Terraform waits for")
	t.Parallel()
	c := start(t)
	f := c.terraform(t, "identity").secret()
	f.apply("12 added, 0 changed, 0 destroyed", "-var=slow=true")
	f.unchanged("-var=slow=true")
	f.apply("0 added, 1 changed, 0 destroyed", "-var=slow=true", "-var=deliveries=7")
	f.unchanged("-var=slow=true", "-var=deliveries=7")
	f.run("Destroy complete!", "destroy", "-auto-approve", "-no-color", "-input=false", "-var=slow=true")
}
