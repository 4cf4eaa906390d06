// Package js runs the JavaScript SDK against the built binary.
package js

import (
	"fmt"
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// needNode installs what the tests need besides Node.js, from the package registry.
func needNode(t *testing.T) {
	t.Helper()
	harness.NeedAll(t, "to run the JavaScript clients")
	harness.InstallNodeModules(t, ".")
}

// node runs a script against a server, with further environment variables.
func node(t *testing.T, server *harness.Server, environ []string, args ...string) {
	t.Helper()
	harness.Run(t, append(server.Environ(), environ...), "node", args...)
}

// TestJavaScriptSDK drives @azure/service-bus.
func TestJavaScriptSDK(t *testing.T) {
	needNode(t)
	queues := make([]harness.Queue, 6)
	for i := range queues {
		queues[i] = harness.Queue{Name: fmt.Sprintf("js.%d", i+1), LockDuration: "PT5S", MaxDeliveryCount: 10}
	}
	node(t, harness.Start(t, harness.Options{Config: harness.WriteConfig(t, queues...)}), nil, "--test", "smoke.test.mjs")
}

// TestJavaScriptSessions drives the SDK's session receivers.
func TestJavaScriptSessions(t *testing.T) {
	needNode(t)
	queues := []harness.Queue{{Name: "plain"}}
	for i := range 8 {
		queues = append(queues, harness.Queue{Name: fmt.Sprintf("s.%d", i+1), LockDuration: "PT5S", MaxDeliveryCount: 10, RequiresSession: true})
	}
	node(t, harness.Start(t, harness.Options{Config: harness.WriteConfig(t, queues...)}), nil, "--test", "sessions.test.mjs")
}

// TestJavaScriptFeatures drives the SDK over queues with one feature each.
func TestJavaScriptFeatures(t *testing.T) {
	needNode(t)
	queues := []harness.Queue{
		{Name: "f.expiring", DeadLetterExpired: true}, {Name: "f.once", DetectDuplicates: true}, {Name: "f.purged", MaxDeliveryCount: 10},
		{Name: "f.source", ForwardTo: "f.target"}, {Name: "f.target"},
	}
	for i := range 5 {
		queues = append(queues, harness.Queue{Name: fmt.Sprintf("f.%d", i+1), MaxDeliveryCount: 10})
	}
	node(t, harness.Start(t, harness.Options{Config: harness.WriteConfig(t, queues...)}), nil, "--test", "features.test.mjs")
}

// TestJavaScriptTopics drives the SDK over topics with two subscriptions each.
func TestJavaScriptTopics(t *testing.T) {
	needNode(t)
	pair := func(sessions bool) []harness.Subscription {
		return []harness.Subscription{
			{Queue: harness.Queue{Name: "a", MaxDeliveryCount: 2, RequiresSession: sessions}},
			{Queue: harness.Queue{Name: "b", MaxDeliveryCount: 2}},
		}
	}
	topics := []harness.Topic{{Name: "t.sessions", Subscriptions: pair(true)}}
	for i := range 5 {
		topics = append(topics, harness.Topic{Name: fmt.Sprintf("t.%d", i+1), Subscriptions: pair(false)})
	}
	node(t, harness.Start(t, harness.Options{Config: harness.WriteTopology(t, nil, topics)}), nil, "--test", "topics.test.mjs")
}

// TestJavaScriptTransports drives the SDK over all its transports, on one port. The command exports the authority
// before the server starts.
func TestJavaScriptTransports(t *testing.T) {
	needNode(t)
	dir := t.TempDir()
	authority := harness.ExportCA(t, dir, "trusted.pem")
	config := harness.WriteConfig(t, harness.Queue{Name: "plain"}, harness.Queue{Name: "sessions", RequiresSession: true})
	server := harness.Start(t, harness.Options{Config: config, CADir: dir})
	node(t, server, []string{"NODE_EXTRA_CA_CERTS=" + authority}, "--test", "transport.test.mjs")
}

// TestJavaScriptRestarts drives the SDK while the server is restarted under it.
func TestJavaScriptRestarts(t *testing.T) {
	needNode(t)
	c := harness.StartForRestarts(t, harness.Options{})
	node(t, c.Server(), c.Environ(), "--test", "restarts.test.mjs")
}

// TestRhea drives the AMQP library under that SDK, anonymously and with a password, without tokens.
func TestRhea(t *testing.T) {
	needNode(t)
	config := harness.WriteConfig(t, harness.Queue{Name: "rhea", MaxDeliveryCount: 10})
	node(t, harness.Start(t, harness.Options{Config: config}), nil, "rhea.mjs")
}

// TestRheaDecodesOurFrames reads the server's side of the golden files with rhea's codec.
func TestRheaDecodesOurFrames(t *testing.T) {
	needNode(t)
	files, err := filepath.Glob("../../internal/amqp/frames/testdata/golden/*.hex")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	harness.Run(t, nil, "node", append([]string{"decode.mjs"}, files...)...)
}
