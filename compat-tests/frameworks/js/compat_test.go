// Package jsfw runs JavaScript programs that build on Service Bus against the built binary.
package jsfw

import (
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// node runs a test file against a server with these entities. NODE_EXTRA_CA_CERTS names its authority.
func node(t *testing.T, file string, queues []harness.Queue, topics []harness.Topic) {
	t.Helper()
	harness.NeedAll(t, "to run JavaScript frameworks")
	harness.InstallNodeModules(t, ".")
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, queues, topics), CADir: t.TempDir()})
	harness.Run(t, append(server.Environ(), "NODE_EXTRA_CA_CERTS="+server.CA()), "node", "--test", file)
}

// withSessions is a topic whose subscription "all" requires sessions.
func withSessions(name string) []harness.Topic {
	all := harness.Subscription{Queue: harness.Queue{Name: "all", RequiresSession: true}}
	return []harness.Topic{{Name: name, Subscriptions: []harness.Subscription{all}}}
}

// TestSubscribeToSessions runs workers that subscribe to sessions with @azure/service-bus.
func TestSubscribeToSessions(t *testing.T) {
	var queues []harness.Queue
	for name, lock := range map[string]string{"carts": "", "angry": "", "baskets": "PT5S", "visits": "PT5S"} {
		queues = append(queues, harness.Queue{Name: name, RequiresSession: true, LockDuration: lock, MaxDeliveryCount: 3})
	}
	node(t, "subscribe.test.mjs", queues, withSessions("news"))
}

// TestRheaPromise runs a client that knows nothing of Service Bus.
func TestRheaPromise(t *testing.T) {
	node(t, "rhea-promise.test.mjs", []harness.Queue{{Name: "orders"}, {Name: "bills"}, {Name: "peeks"}}, withSessions("letters"))
}

// TestAzureSB runs the client of before 2019, which speaks HTTP instead of AMQP. It makes its queues itself.
func TestAzureSB(t *testing.T) {
	node(t, "azure-sb.test.mjs", nil, nil)
}
