package server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/config"
)

// TestWhatTemplatesDeployCanBeUsed at once by the SDK, with the connection strings that Resource Manager gives.
func TestWhatTemplatesDeployCanBeUsed(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Host: "127.0.0.1", AMQPPort: port(0), TLSPort: config.PortOff, HTTPPort: config.PortOff,
		NamespacePorts: "0", ARMOtherTypes: config.OtherTypesStore, Ephemeral: true}})
	if err != nil {
		t.Fatal(err)
	}
	subscription, _, _ := strings.Cut(armGroup, "/resourceGroups")
	person := `{"value": "11111111-2222-3333-4444-555555555555"}`
	for _, x := range []struct {
		file       string
		parameters string
		to         string // an entity, or a topic and a subscription of it
		label      string
		namespace  string // the output that names it; "": its first resource does
	}{
		{file: "classic-queues", to: "orders"},
		{file: "forwarding-queues", parameters: `"busName": {"value": "sbemulatorns"}`, to: "mails"},
		{file: "topic-rules", to: "events urgent", label: "urgent"},
		{file: "nested-outer", to: "topic-2 all"},
		{file: "listkeys", parameters: `"serviceBusNamespaceName": {"value": "bus-keys"}, "serviceBusQueueName": {"value": "orders"}`, to: "orders"},
		{file: "roles", parameters: `"busName": {"value": "bus-roles"}`, to: "jobs"},
		{file: "subscription", parameters: `"environmentName": {"value": "dev"}, "location": {"value": "westeurope"}`, to: "jobs"},
		{file: "aspire", parameters: `"resourceGroupName": {"value": "rg-aspire"}, "location": {"value": "westeurope"}, "principalId": ` + person, to: "topicone sub1"},
		{file: "dapr-pubsub", to: "orders order-processor"},
		{file: "functions-quickstart", parameters: `"environmentName": {"value": "quick"}, "location": {"value": "westeurope"}`, to: "testqueue"},
		{file: "avm-namespace", parameters: `"name": {"value": "bus-avm"}`, to: "orders"},
	} {
		t.Run(x.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../mgmt/arm/testdata", x.file+".json"))
			if err != nil {
				t.Fatal(err)
			}
			scope := armGroup
			if strings.Contains(string(text), "subscriptionDeploymentTemplate") {
				scope = subscription
			}
			at := scope + "/providers/Microsoft.Resources/deployments/" + x.file
			a.manage(t, "PUT", at, `{"location": "westeurope", "properties": {"parameters": {`+x.parameters+`}, "mode": "Incremental", template:`+string(text)+`}}`)
			var made struct {
				ProvisioningState string
				Error             any
				OutputResources   []struct{ ID string }
				Outputs           map[string]struct{ Value any }
			}
			properties, _ := json.Marshal(a.manage(t, "GET", at, "")["properties"])
			if err := json.Unmarshal(properties, &made); err != nil || made.ProvisioningState != "Succeeded" {
				t.Fatalf("%v %s", err, properties)
			}
			connection, namespace := "", ""
			for _, r := range made.OutputResources {
				if before, name, ok := strings.Cut(r.ID, "/Microsoft.ServiceBus/namespaces/"); ok {
					name, _, _ = strings.Cut(name, "/")
					namespace = before + "/Microsoft.ServiceBus/namespaces/" + name
				}
			}
			keys := a.manage(t, "POST", namespace+"/authorizationRules/RootManageSharedAccessKey/listKeys", "")
			connection, _ = keys["primaryConnectionString"].(string)
			if x.file == "listkeys" {
				if of, _ := made.Outputs["NamespaceConnectionString"].Value.(string); of != connection {
					t.Errorf("the output %q, and listKeys %q", of, connection)
				}
			}
			sendAndReceive(t, connection, x.to, x.label)
		})
	}
}

// sendAndReceive sends a message to a queue, or to a topic from which a subscription gets it.
func sendAndReceive(t *testing.T, connection, to, label string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client, err := azservicebus.NewClientFromConnectionString(connection, nil)
	if err != nil {
		t.Fatalf("%v in %q", err, connection)
	}
	defer func() { _ = client.Close(context.Background()) }()
	entity, subscription, _ := strings.Cut(to, " ")
	sender, err := client.NewSender(entity, nil)
	if err != nil {
		t.Fatal(err)
	}
	session := "s"
	message := &azservicebus.Message{Body: []byte("hello"), Subject: &label, ApplicationProperties: map[string]any{"prop1": "value1"}}
	if entity == "testqueue" {
		message.SessionID = &session
	}
	if err := sender.SendMessage(ctx, message, nil); err != nil {
		t.Fatal(err)
	}
	var receiver interface {
		ReceiveMessages(ctx context.Context, n int, o *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	}
	switch {
	case message.SessionID != nil:
		receiver, err = client.AcceptSessionForQueue(ctx, entity, session, nil)
	case subscription != "":
		receiver, err = client.NewReceiverForSubscription(entity, subscription, nil)
	default:
		receiver, err = client.NewReceiverForQueue(entity, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := receiver.ReceiveMessages(ctx, 1, nil)
	if err != nil || len(got) != 1 || string(got[0].Body) != "hello" {
		t.Errorf("received %d messages, %v", len(got), err)
	}
}

// TestAnExportThatIsDeployedExportsTheSame takes what bicep build has made of an export of a namespace in Azure.
func TestAnExportThatIsDeployedExportsTheSame(t *testing.T) {
	a, err := start(t, Config{Settings: config.Settings{Host: "127.0.0.1", AMQPPort: port(0), TLSPort: config.PortOff, HTTPPort: config.PortOff,
		NamespacePorts: "0", Ephemeral: true}})
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := os.ReadFile("../config/testdata/azure.arm.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../export/testdata/azure.bicep")
	if err != nil {
		t.Fatal(err)
	}
	a.manage(t, "PUT", armGroup+"/providers/Microsoft.ServiceBus/namespaces/contoso", `{"location": "westeurope", "sku": {"name": "Premium"}}`)
	at := armGroup + "/providers/Microsoft.Resources/deployments/main"
	a.manage(t, "PUT", at, `{"properties": {"parameters": {"namespaceName": {"value": "contoso"}}, "mode": "Incremental", template:`+string(compiled)+`}}`)
	ns, err := a.broker.Namespace("contoso")
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.ExportConfiguration(ns, "bicep", false)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := linesOfBicep(got), linesOfBicep(want); !slices.Equal(x, y) {
		t.Errorf("the copy has\n%s\nand the original\n%s", strings.Join(x, "\n"), strings.Join(y, "\n"))
	}
}

// linesOfBicep returns the lines that a copy must have: not the comments, nor what is a default in Premium, and what names
// something that was not exported.
func linesOfBicep(text []byte) (lines []string) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "//"), line == "maxMessageSizeInKilobytes: 1024", strings.HasSuffix(line, ": 'gone'"):
		default:
			lines = append(lines, line)
		}
	}
	return lines
}
