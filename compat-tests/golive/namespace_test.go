package golive

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

// namespaces holds what the tests need: a namespace of the Standard tier and one of the Premium tier, with the
// entities of the SDK's test-resources.bicep.
type namespaces struct {
	standard, premium *harness.Server
	environment       []string // variables that the tests read
}

// resources holds the entities and policies of that file, as a Config.json.
const resources = `{"UserConfig": {"Namespaces": [{
	"Name": "sbemulatorns",
	"AuthorizationRules": [
		{"KeyName": "RootManageSharedAccessKey", "PrimaryKey": "RootManageSharedAccessKey-key", "Rights": ["Manage", "Send", "Listen"]},
		{"KeyName": "NoManage", "PrimaryKey": "NoManage-key", "Rights": ["Listen", "Send"]},
		{"KeyName": "SendOnly", "PrimaryKey": "SendOnly-key", "Rights": ["Send"]},
		{"KeyName": "ListenOnly", "PrimaryKey": "ListenOnly-key", "Rights": ["Listen"]}
	],
	"Queues": [
		{"Name": "testQueue", "Properties": {
			"LockDuration": "PT5M", "MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P10675199DT2H48M5.4775807S"}},
		{"Name": "testQueueWithSessions", "Properties": {"RequiresSession": true,
			"LockDuration": "PT5M", "MaxDeliveryCount": 10, "DefaultMessageTimeToLive": "P10675199DT2H48M5.4775807S"}}
	],
	"Topics": []
}], "Logging": {"Type": "Console"}}}`

// startNamespaces starts a Minibus for each tier. Their data is in a directory of the test, and so is the certificate
// authority, which the tests trust through SSL_CERT_FILE.
func startNamespaces(t *testing.T, identity []string, auth string) *namespaces {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "Config.json")
	if err := os.WriteFile(config, []byte(resources), 0o600); err != nil {
		t.Fatalf("write Config.json: %v", err)
	}
	start := func(tier, limits string) *harness.Server {
		return harness.Start(t, harness.Options{Config: config, Data: filepath.Join(dir, tier, "minibus.db"),
			Args: []string{"--limits", limits, "--auth", auth}})
	}
	n := &namespaces{standard: start("standard", "relaxed"), premium: start("premium", "premium")}
	authorities := filepath.Join(dir, "trusted.pem")
	var trusted []byte
	for _, tier := range []string{"standard", "premium"} {
		text, err := os.ReadFile(filepath.Join(dir, tier, "minibus-ca.pem"))
		if err != nil {
			t.Fatalf("read the certificate authority: %v", err)
		}
		trusted = append(trusted, text...)
	}
	if err := os.WriteFile(authorities, trusted, 0o600); err != nil {
		t.Fatalf("write what the tests trust: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find the program of this test: %v", err)
	}
	n.environment = append(environment(n.standard, n.premium), "AMQP_FAULT_INJECTOR_PATH="+self, "SSL_CERT_FILE="+authorities)
	n.environment = append(n.environment, identity...)
	return n
}

// environment returns the variables that the SDK's test set-up would have written into its .env file.
func environment(standard, premium *harness.Server) []string {
	endpoint := func(s *harness.Server) string { return fmt.Sprintf("localhost:%d", s.Ports.TLS) }
	key := func(s *harness.Server, policy string) string {
		return fmt.Sprintf("Endpoint=sb://%s/;SharedAccessKeyName=%s;SharedAccessKey=%s-key", endpoint(s), policy, policy)
	}
	return append(os.Environ(),
		"AZURE_RECORD_MODE=live",
		"SERVICEBUS_ENDPOINT="+endpoint(standard),
		"SERVICEBUS_ENDPOINT_PREMIUM="+endpoint(premium),
		"SERVICEBUS_CONNECTION_STRING="+key(standard, "RootManageSharedAccessKey"),
		"SERVICEBUS_CONNECTION_STRING_PREMIUM="+key(premium, "RootManageSharedAccessKey"),
		"SERVICEBUS_CONNECTION_STRING_NO_MANAGE="+key(standard, "NoManage"),
		"SERVICEBUS_CONNECTION_STRING_SEND_ONLY="+key(standard, "SendOnly"),
		"SERVICEBUS_CONNECTION_STRING_LISTEN_ONLY="+key(standard, "ListenOnly"),
		// One test asks Entra for a token with a made-up secret and wants a refusal. Nothing leaves this machine.
		"HTTPS_PROXY=http://127.0.0.1:9",
	)
}
