package export

import (
	"bytes"
	"context"
	"encoding/pem"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"minibus/config"
	"minibus/internal/sas"
)

var update = flag.Bool("update", false, "write the golden files anew, to be read before they are kept")

// readFrom reads the imitated namespace over TLS.
func readFrom(t *testing.T, a *azure, entity string) (*Namespace, error) {
	t.Helper()
	server := httptest.NewTLSServer(a)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	c := sas.Connection{Endpoint: "sb://" + server.Listener.Addr().String(), KeyName: testKeyName, Key: testKey, EntityPath: entity}
	n, err := Read(context.Background(), c, Options{CAFile: file})
	if n != nil {
		n.Source = testHost // without the port, which differs
	}
	return n, err
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run the test with -update and look at the difference. Got:\n%s", file, got)
	}
}

func TestGoldenFormats(t *testing.T) {
	n, err := readFrom(t, newAzure(t), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Format{"azure.json": FormatConfig, "azure.bicep": FormatBicep, "azure.tf": FormatTerraform, "azure.sh": FormatAz} {
		data, warnings, err := Write(n, f)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, data)
		golden(t, name+".warnings", []byte(strings.Join(warnings, "\n")+"\n"))
		again, _, _ := Write(n, f)
		if !bytes.Equal(data, again) {
			t.Errorf("%s is not the same twice", name)
		}
		for _, secret := range []string{"cHJpbWFyeS1zZWNyZXQ", "c2Vjb25kYXJ5LXNlY3JldA", testKey, "sig="} {
			if strings.Contains(string(data)+strings.Join(warnings, ""), secret) {
				t.Errorf("%s shows the secret %s", name, secret)
			}
		}
	}
}

func TestConfigOfAzureIsGood(t *testing.T) {
	data, err := os.ReadFile("testdata/azure.json")
	if err != nil {
		t.Fatal(err)
	}
	topology, report := config.Parse("azure.json", data, config.ProfileRelaxed)
	if err := report.Err(); err != nil || report.Count(config.Warning) > 0 {
		t.Fatalf("%v, %v", err, report.Findings)
	}
	if len(topology.Entities) != 10 || topology.Namespace != "contoso" {
		t.Errorf("%s: %d entities", topology.Namespace, len(topology.Entities))
	}
}

// arguments of the provider azurerm 4 by kind of resource, after its documentation.
var arguments = map[string]string{
	"azurerm_servicebus_queue": "name namespace_id lock_duration max_message_size_in_kilobytes max_size_in_megabytes requires_duplicate_detection" +
		" requires_session default_message_ttl dead_lettering_on_message_expiration duplicate_detection_history_time_window max_delivery_count status" +
		" batched_operations_enabled auto_delete_on_idle partitioning_enabled express_enabled forward_to forward_dead_lettered_messages_to depends_on",
	"azurerm_servicebus_topic": "name namespace_id status auto_delete_on_idle default_message_ttl duplicate_detection_history_time_window" +
		" batched_operations_enabled express_enabled partitioning_enabled max_message_size_in_kilobytes max_size_in_megabytes requires_duplicate_detection" +
		" support_ordering",
	"azurerm_servicebus_subscription": "name topic_id max_delivery_count auto_delete_on_idle default_message_ttl lock_duration" +
		" dead_lettering_on_message_expiration dead_lettering_on_filter_evaluation_error batched_operations_enabled requires_session forward_to" +
		" forward_dead_lettered_messages_to status client_scoped_subscription_enabled depends_on",
	"azurerm_servicebus_subscription_rule":        "name subscription_id filter_type sql_filter action correlation_filter",
	"azurerm_servicebus_queue_authorization_rule": "name queue_id listen send manage",
	"azurerm_servicebus_topic_authorization_rule": "name topic_id listen send manage",
	"client_scoped_subscription":                  "client_id is_client_scoped_subscription_shareable",
	"correlation_filter":                          "content_type correlation_id label message_id reply_to reply_to_session_id session_id to properties",
}

func TestTerraformIsReadByItsOwnParser(t *testing.T) {
	data, err := os.ReadFile("testdata/azure.tf")
	if err != nil {
		t.Fatal(err)
	}
	if formatted := hclwrite.Format(data); !bytes.Equal(formatted, data) {
		t.Errorf("terraform fmt would change it:\n%s", formatted)
	}
	file, problems := hclparse.NewParser().ParseHCL(data, "azure.tf")
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	resources := map[string]bool{}
	blocks := file.Body.(*hclsyntax.Body).Blocks
	for _, b := range blocks {
		if b.Type == "resource" {
			if id := strings.Join(b.Labels, "."); resources[id] || !hclsyntax.ValidIdentifier(b.Labels[1]) {
				t.Errorf("the identifier %s", id)
			} else {
				resources[id] = true
			}
		}
	}
	for _, b := range blocks {
		if b.Type == "resource" {
			checkBlock(t, b, b.Labels[0], resources)
		}
	}
	if len(resources) != 30 {
		t.Errorf("%d resources", len(resources))
	}
}

// checkBlock checks names of arguments, and that references lead somewhere.
func checkBlock(t *testing.T, b *hclsyntax.Block, kind string, resources map[string]bool) {
	t.Helper()
	known := strings.Fields(arguments[kind])
	for name, a := range b.Body.Attributes {
		if !slices.Contains(known, name) {
			t.Errorf("%s has no argument %s", kind, name)
		}
		for _, v := range a.Expr.Variables() {
			target := v.RootName()
			if step, ok := v[1].(hcl.TraverseAttr); ok {
				target += "." + step.Name
			}
			if target != "var.namespace_id" && !resources[target] {
				t.Errorf("%s: %s refers to %s, which is not there", b.Labels, name, target)
			}
		}
	}
	for _, inner := range b.Body.Blocks {
		checkBlock(t, inner, inner.Type, resources)
	}
}

var bicepResource = regexp.MustCompile(`(?m)^resource (\w+) '(Microsoft\.ServiceBus/namespaces[\w/]*)@2021-11-01' (existing )?= \{$`)

// Bicep's own parser is a program for .NET. Here names and references are checked; the text is a golden file.
func TestBicepRefersToWhatIsThere(t *testing.T) {
	data, err := os.ReadFile("testdata/azure.bicep")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range bicepResource.FindAllStringSubmatch(string(data), -1) {
		if known[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		known[m[1]] = true
	}
	if n := strings.Count(string(data), "\nresource "); len(known) != n || n != 30 {
		t.Errorf("%d resources, %d names", n, len(known))
	}
	for _, m := range regexp.MustCompile(`(?m)^  parent: (\w+)$|^    (\w+)$`).FindAllStringSubmatch(string(data), -1) {
		if name := m[1] + m[2]; !known[name] {
			t.Errorf("%s is not there", name)
		}
	}
}
