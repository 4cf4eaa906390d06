package cli

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// namespace has what these tests read of a namespace.
type namespace struct {
	Name             string
	Default          bool
	ConnectionString string
}

// TestNamespaces makes one with entities, uses it, and deletes it.
func TestNamespaces(t *testing.T) {
	b := start(t, queue("orders"))
	const entities = `{"Queues": [{"Name": "jobs", "Properties": {"LockDuration": "PT10S"}}], "Topics": []}`
	made := decode[namespace](b, b.feed(entities, "namespace", "create", "worker-1", "--entities", "-", "--alias", "worker.test", "-o", "json"))
	if made.Name != "worker-1" || made.Default || !strings.HasPrefix(made.ConnectionString, "Endpoint=sb://") {
		t.Fatalf("namespace create prints %+v", made)
	}
	if table := b.run("namespace", "ls"); !strings.HasPrefix(table, "NAME ") || !strings.Contains(table, "\nworker-1 ") || !strings.Contains(table, "worker.test") {
		t.Errorf("namespace ls prints %q", table)
	}
	if this := decode[namespace](b, b.run("namespace", "show", "-o", "json")); !this.Default {
		t.Errorf("namespace show prints %+v", this)
	}
	if text := b.run("namespace", "show", "WORKER-1"); !strings.Contains(text, "connection-string") || !strings.Contains(text, made.ConnectionString) {
		t.Errorf("namespace show prints %q", text)
	}
	b.run("-c", made.ConnectionString, "send", "jobs", "x")
	client, err := azservicebus.NewClientFromConnectionString(made.ConnectionString, nil)
	b.must("connect to the namespace", err)
	defer func() { _ = client.Close(b.ctx) }()
	receiver, err := client.NewReceiverForQueue("jobs", nil)
	b.must("make a receiver", err)
	if got, err := receiver.ReceiveMessages(b.ctx, 1, nil); err != nil || len(got) != 1 || string(got[0].Body) != "x" {
		t.Errorf("the namespace has %v: %v", got, err)
	}
	if list := lines[namespace](b, b.run("namespace", "ls", "-o", "jsonl")); len(list) != 2 {
		t.Errorf("namespace ls prints %v", list)
	}
	b.run("namespace", "rm", "worker-1")
	b.run("namespace", "rm", "worker-1", "--if-exists")
	b.fails(3, []string{"delete namespace worker-1: The namespace 'worker-1' could not be found"}, "namespace", "rm", "worker-1")
	b.fails(3, []string{"nothing-x"}, "namespace", "show", "nothing-x")
	b.fails(2, []string{"6 to 50 letters"}, "namespace", "create", "x")
	b.fails(1, []string{"Choose another one"}, "namespace", "create", decode[namespace](b, b.run("namespace", "show", "-o", "json")).Name)
	file := b.file("Config.json", `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "parcels"}, ]}]}} // as people write it`)
	if made := decode[namespace](b, b.run("namespace", "create", "of-a-file", "--limits", "standard", "--entities", file, "-o", "json")); made.Name != "of-a-file" {
		t.Errorf("namespace create with a Config.json prints %+v", made)
	}
	b.run("-c", decode[namespace](b, b.run("namespace", "show", "of-a-file", "-o", "json")).ConnectionString, "queue", "show", "parcels")
	b.fails(2, []string{"leave --port and --alias out"}, "namespace", "create", "--entities", file, "--port", "5999")
	b.fails(2, []string{"--entities"}, "namespace", "create", "--entities", "/nowhere")
	b.fails(6, []string{"nothing listens at localhost:1"}, "-c", "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true", "namespace", "ls")
	r := b.finish(feeding(b.command("namespace", "create", "--entities", "-"), `{"Queues": [{"Name": "q", "Properties": {"LockDuration": "PT10M"}}]}`))
	b.failed(r, 2, []string{"No namespace was created. body:1:", "Properties.LockDuration: found \"PT10M\"; allowed: "})
	for text, want := range map[string]string{`{"UserConfig": {}, "Queues": []}`: "beside UserConfig", "{}": "neither Queues nor Topics", "[": "unexpected end"} {
		b.failed(b.finish(feeding(b.command("namespace", "create", "--entities", "-"), text)), 2, []string{"--entities: ", want})
	}
}
