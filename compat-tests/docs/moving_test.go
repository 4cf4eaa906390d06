package docs

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

const moving = "docs/moving.md"

// old is a Config.json as people have it for Microsoft's emulator: with comments, a trailing comma, another name, and an unknown key.
const old = `// ours
{
  "UserConfig": {
    "Namespaces": [{
      "Name": "my-namespace",
      "Queues": [{ "Name": "orders", "Properties": { "DefaultMessageTimeToLive": "PT1H", "SomeKey": 1 } },],
      "Topics": [{ "Name": "prices", "Subscriptions": [{ "Name": "all" }] }]
    }],
    "Logging": { "Type": "File" }
  }
}`

// row returns what the table of the page says of something, its words in code only.
func row(t *testing.T, page, what string) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(what) + ` \| (.*) \|$`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("%s has no row %q", moving, what)
	}
	var words []string
	for _, word := range inlinePattern.FindAllString(found[1], -1) {
		words = append(words, strings.Trim(word, "`"))
	}
	return words
}

// TestMoving starts Minibus with the Config.json and the variables of Microsoft's emulator, and looks for what the page says that stays.
func TestMoving(t *testing.T) {
	page := harness.ReadPage(t, moving)
	dir := t.TempDir()
	if err := harness.WriteFiles(dir, map[string]string{"Config.json": old}); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	environ := []string{"EMULATOR_HTTP_PORT=" + port}
	for _, name := range row(t, page, "variables") {
		environ = append(environ, name+"=Secret-of-SQL")
	}
	log := start(t, dir, environ, "--config", "Config.json", "--ephemeral", "--amqp-port", "0", "--tls-port", "off", "--namespace-ports", "off",
		"--ports-file", "ports.json")
	ready := row(t, page, "the line to wait for")[0]
	for deadline := time.Now().Add(patience); !strings.Contains(log(), "\n"+ready+"\n"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the page promises %q, the log is\n%s", ready, log())
		}
	}
	status, body := get(t, "http://localhost:"+port+"/health")
	body = regexp.MustCompile(`,"minibus":\{.*\}`).ReplaceAllString(body, "}") // what the emulator's has not
	if want := row(t, page, "health")[1]; status != 200 || !sameJSON(t, body, want) {
		t.Errorf("/health answers %d %s, the page says %s", status, body, want)
	}
	if strings.Contains(log(), "Secret-of-SQL") {
		t.Errorf("the log has a password:\n%s", log())
	}
	var ports harness.Ports
	text, err := os.ReadFile(filepath.Join(dir, "ports.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &ports); err != nil {
		t.Fatal(err)
	}
	connection := strings.Replace(row(t, page, "connection strings")[0], "localhost:5672", fmt.Sprintf("localhost:%d", ports.AMQP), 1)
	delivers(t, connection, "orders")
}

// TestMovingDefaults tries the defaults that the page lists.
func TestMovingDefaults(t *testing.T) {
	b := newBus(t, "")
	b.must(b.send(b.client, "a", text()))
	receiver := b.receiver()
	messages, err := receiver.ReceiveMessages(b.ctx, 1, nil)
	b.must(err)
	m := messages[0]
	if lock := m.LockedUntil.Sub(*m.EnqueuedTime).Round(10 * time.Second); lock != time.Minute {
		t.Errorf("a lock lasts %v, the page says a minute", lock)
	}
	if m.TimeToLive == nil || *m.TimeToLive != time.Hour {
		t.Errorf("a message lives %v, the page says an hour", m.TimeToLive)
	}
	b.must(receiver.AbandonMessage(b.ctx, m, nil))
	for range 2 {
		messages, err := receiver.ReceiveMessages(b.ctx, 1, nil)
		b.must(err)
		b.must(receiver.AbandonMessage(b.ctx, messages[0], nil))
	}
	takesNothing(t, b.server, "a") // three deliveries
}

// TestMovingCancels cancels a scheduled message, which the page says that Minibus can do.
func TestMovingCancels(t *testing.T) {
	b := newBus(t, "")
	sender, err := b.client.NewSender("a", nil)
	b.must(err)
	numbers, err := sender.ScheduleMessages(b.ctx, []*azservicebus.Message{text()}, time.Now().Add(time.Hour), nil)
	b.must(err)
	b.must(sender.CancelScheduledMessages(b.ctx, numbers, nil))
	peeked, err := b.receiver().PeekMessages(b.ctx, 1, nil)
	b.must(err)
	if len(peeked) != 0 {
		t.Errorf("the queue still has %v", peeked)
	}
}

// TestMovingLimits: more connections than Microsoft's emulator allows, unless its limits are asked for.
func TestMovingLimits(t *testing.T) {
	for profile, want := range map[string]bool{"relaxed": true, "emulator": false} {
		t.Run(profile, func(t *testing.T) {
			b := newBus(t, "", "--limits", profile)
			var err error
			for i := 0; i < 12 && err == nil; i++ {
				err = b.send(connect(t, b.server.ConnectionString()), "a", text())
			}
			if (err == nil) != want {
				t.Errorf("twelve connections: %v", err)
			}
		})
	}
}

// delivers sends a message, receives it and completes it.
func delivers(t *testing.T, connection, queue string) {
	t.Helper()
	b := &bus{T: t, client: connect(t, connection), ctx: bounded(t)}
	b.must(b.send(b.client, queue, text()))
	receiver, err := b.client.NewReceiverForQueue(queue, nil)
	b.must(err)
	messages, err := receiver.ReceiveMessages(b.ctx, 1, nil)
	b.must(err)
	b.must(receiver.CompleteMessage(b.ctx, messages[0], nil))
}

func sameJSON(t *testing.T, one, other string) bool {
	t.Helper()
	var a, b map[string]any
	for text, value := range map[string]*map[string]any{one: &a, other: &b} {
		if err := json.Unmarshal([]byte(text), value); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

// start runs the binary in a directory until the end of the test, and returns how to read its log. It takes no flags of the harness's own.
func start(t *testing.T, dir string, environ []string, args ...string) func() string {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(harness.Binary(t), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), environ...), log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // how it ends is not this test's matter
		_ = log.Close()
	})
	return func() string {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
}

// TestMovingCompose reads the compose file of the page: the image alone, with the ports and the Config.json of Microsoft's emulator.
func TestMovingCompose(t *testing.T) {
	harness.NeedAll(t, "to read YAML")
	recipe, err := harness.ReadRecipe(harness.ReadPage(t, moving), "## In a compose file")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Image          string
			Ports, Volumes []string
		}
	}
	parse(t, recipe.Files["compose.yaml"], &file)
	for name, service := range file.Services {
		if len(file.Services) != 1 || service.Image != "minibus" || !strings.HasSuffix(service.Volumes[0], ":/ServiceBus_Emulator/ConfigFiles/Config.json:ro") {
			t.Errorf("%s: %+v", name, service)
		}
		for i, port := range row(t, strings.ReplaceAll(harness.ReadPage(t, moving), "5672 for AMQP, 5300 for HTTP", "`5672` `5300`"), "ports")[:2] {
			if !strings.HasSuffix(service.Ports[i], ":"+port) {
				t.Errorf("the compose file publishes %v, the page names %s", service.Ports, port)
			}
		}
	}
}
