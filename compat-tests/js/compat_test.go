// Package js runs the JavaScript SDK against the built binary.
package js

import (
	"fmt"
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.MainAtOnce(m, 4) }

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

// release is a release of the SDK with the suite: the directory of the scripts, which find the SDK in its node_modules, and variables.
type release struct {
	dir     string
	environ []string
}

// newest returns the release that users get.
func newest(t *testing.T) release {
	t.Helper()
	needNode(t)
	return release{dir: "."}
}

// test runs tests of the suite against a server.
func (r release) test(t *testing.T, server *harness.Server, environ []string, files ...string) {
	t.Helper()
	args := []string{"--test"}
	for _, file := range files {
		args = append(args, filepath.Join(r.dir, file))
	}
	node(t, server, append(environ, r.environ...), args...)
}

// TestJavaScriptSDK drives @azure/service-bus.
func TestJavaScriptSDK(t *testing.T) {
	t.Parallel()
	newest(t).messages(t)
}

func (r release) messages(t *testing.T) {
	t.Helper()
	queues := make([]harness.Queue, 6)
	for i := range queues {
		queues[i] = harness.Queue{Name: fmt.Sprintf("js.%d", i+1), MaxDeliveryCount: 10}
	}
	queues[5].LockDuration = "PT5S"
	r.test(t, harness.Start(t, harness.Options{Config: harness.WriteConfig(t, queues...)}), nil, "smoke.test.mjs")
}

// TestJavaScriptSessions drives the SDK's session receivers.
func TestJavaScriptSessions(t *testing.T) {
	t.Parallel()
	newest(t).sessions(t)
}

func (r release) sessions(t *testing.T) {
	t.Helper()
	queues := []harness.Queue{{Name: "plain"}}
	for i := range 8 {
		queues = append(queues, harness.Queue{Name: fmt.Sprintf("s.%d", i+1), MaxDeliveryCount: 10, RequiresSession: true})
	}
	queues[5].LockDuration = "PT5S" // of s.5: the first queue is the plain one
	r.test(t, harness.Start(t, harness.Options{Config: harness.WriteConfig(t, queues...)}), nil, "sessions.test.mjs")
}

// TestJavaScriptFeatures drives the SDK over queues with one feature each.
func TestJavaScriptFeatures(t *testing.T) {
	t.Parallel()
	newest(t).features(t)
}

func (r release) features(t *testing.T) {
	t.Helper()
	queues := []harness.Queue{
		{Name: "f.expiring", DeadLetterExpired: true}, {Name: "f.once", DetectDuplicates: true}, {Name: "f.purged", MaxDeliveryCount: 10},
		{Name: "f.source", ForwardTo: "f.target"}, {Name: "f.target"},
	}
	for i := range 5 {
		queues = append(queues, harness.Queue{Name: fmt.Sprintf("f.%d", i+1), MaxDeliveryCount: 10})
	}
	r.test(t, harness.Start(t, harness.Options{Config: harness.WriteConfig(t, queues...)}), nil, "features.test.mjs")
}

// TestJavaScriptTopics drives the SDK over topics with two subscriptions each.
func TestJavaScriptTopics(t *testing.T) {
	t.Parallel()
	newest(t).topics(t)
}

func (r release) topics(t *testing.T) {
	t.Helper()
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
	r.test(t, harness.Start(t, harness.Options{Config: harness.WriteTopology(t, nil, topics)}), nil, "topics.test.mjs")
}

// TestJavaScriptTransports drives the SDK over all its transports, on one port. The command exports the authority
// before the server starts.
func TestJavaScriptTransports(t *testing.T) {
	t.Parallel()
	newest(t).transports(t)
}

func (r release) transports(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	authority := harness.ExportCA(t, dir, "trusted.pem")
	config := harness.WriteConfig(t, harness.Queue{Name: "plain"}, harness.Queue{Name: "sessions", RequiresSession: true})
	server := harness.Start(t, harness.Options{Config: config, CADir: dir})
	r.test(t, server, []string{"NODE_EXTRA_CA_CERTS=" + authority}, "transport.test.mjs")
}

// TestJavaScriptRestarts drives the SDK while the server is restarted under it.
func TestJavaScriptRestarts(t *testing.T) {
	t.Parallel()
	newest(t).restarts(t)
}

func (r release) restarts(t *testing.T) {
	t.Helper()
	c := harness.StartForRestarts(t, harness.Options{})
	r.test(t, c.Server(), c.Environ(), "restarts.test.mjs")
}

// TestRhea drives the AMQP library under that SDK, anonymously and with a password, without tokens.
func TestRhea(t *testing.T) {
	t.Parallel()
	needNode(t)
	config := harness.WriteConfig(t, harness.Queue{Name: "rhea", MaxDeliveryCount: 10}, harness.Queue{Name: "sessions", RequiresSession: true})
	node(t, harness.Start(t, harness.Options{Config: config}), nil, "rhea.mjs")
}

// TestRheaDecodesOurFrames reads the server's side of the golden files with rhea's codec.
func TestRheaDecodesOurFrames(t *testing.T) {
	t.Parallel()
	needNode(t)
	files, err := filepath.Glob("../../internal/amqp/frames/testdata/golden/*.hex")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	harness.Run(t, nil, "node", append([]string{"decode.mjs"}, files...)...)
}

// TestJavaScriptIdentity signs in with DefaultAzureCredential, by the variables of "minibus env --identity" alone.
func TestJavaScriptIdentity(t *testing.T) {
	t.Parallel()
	needNode(t)
	i := harness.StartIdentities(t)
	program, args := i.Program("node", "identity.mjs")
	harness.Run(t, i.Environ(), program, args...)
}
