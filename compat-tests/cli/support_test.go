package cli

import (
	"archive/zip"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// bundle reads a support bundle.
func (b *bench) bundle(file string) map[string]string {
	b.Helper()
	archive, err := zip.OpenReader(file)
	b.must("open the bundle", err)
	defer func() { _ = archive.Close() }()
	all := make(map[string]string)
	for _, f := range archive.File {
		r, err := f.Open()
		b.must("open "+f.Name, err)
		text, err := io.ReadAll(r)
		b.must("read "+f.Name, err)
		all[f.Name] = string(text)
	}
	return all
}

// TestSupportBundle has what helps, and nothing of messages, sessions and keys: the test puts a word of its own into all of them.
func TestSupportBundle(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	const secret, root = "hushhush", `hushhush-root"key\&'of the test`
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, []harness.Queue{{Name: "orders"}, {Name: "sessions", RequiresSession: true}}, nil),
		Args: []string{"--auth", "sas", "--root-key", root}})
	b := &bench{T: t, connection: strings.Replace(server.ConnectionString(), "SAS_KEY_VALUE", root, 1)}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	var err error
	b.client, err = azservicebus.NewClientFromConnectionString(b.connection, nil)
	b.must("connect", err)
	defer func() { _ = b.client.Close(context.Background()) }()

	b.run("send", "orders", secret+"-body", "--message-id", secret+"-id", "--subject", secret, "-p", secret+"="+secret, "--correlation-id", secret)
	b.run("receive", "orders", "--dead-letter", "--reason", secret+"-reason", "--description", secret)
	b.run("send", "sessions", secret, "--session", secret+"-session")
	_, err = b.client.AcceptSessionForQueue(b.ctx, "sessions", secret+"-session", nil)
	b.must("accept the session", err)
	waiting, end := context.WithTimeout(b.ctx, 3*time.Second)
	defer end()
	other, err := azservicebus.NewClientFromConnectionString(b.connection, &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	b.must("connect", err)
	if _, err := other.AcceptSessionForQueue(waiting, "sessions", secret+"-session", nil); err == nil {
		t.Fatal("the session has two holders")
	}
	_ = other.Close(b.ctx)
	b.fails(4, nil, "-c", strings.Replace(b.connection, root, secret+"-wrong", 1), "peek", "orders")
	b.fails(3, nil, "peek", "ordres")

	dir := t.TempDir()
	file := filepath.Join(dir, "fault.zip")
	cmd := b.command("support-bundle", file, "--", "--root-key", root, "--auth", "sas", "--ephemeral", "--amqp-port", portOf(b.connection), "--tls-port", "off", "--http-port", portOf(b.connection))
	r := b.finish(cmd)
	if r.code != 0 || !strings.HasPrefix(r.out, "wrote "+file) || r.errors != "" {
		t.Fatalf("support-bundle gives %+v", r)
	}
	all := b.bundle(file)
	for name, text := range all {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s has %q", name, text[max(0, i-200):i+len(secret)])
		}
	}
	for name, has := range map[string][]string{
		"README.txt": {"without keys"}, "version.txt": {"Minibus", "platform: ", "processors: "}, "settings.json": {`"RootKey": "***"`, `"Auth": "sas"`}, "doctor.json": {`"about": "server"`, "ordres"},
		"Config.json": {`"orders"`, `"RequiresSession": true`}, "entities.json": {`"deadLetter": 1`}, "connections.json": {"MSGolangClient", `"address": "sessions"`},
		"refusals.json": {`"entity": "ordres"`, "session-cannot-be-locked"}, "clock.json": {`"frozen": false`}, "history.jsonl": {`"kind":"deadLettered"`, `"detail":"***"`},
	} {
		for _, text := range has {
			if !strings.Contains(all[name], text) {
				t.Errorf("%s lacks %q: %s", name, text, all[name])
			}
		}
	}
	if len(all) != 10 {
		t.Errorf("the bundle has %d parts", len(all))
	}
	b.fails(1, []string{file + " exists"}, "support-bundle", file)
	b.fails(1, []string{"no such file"}, "support-bundle", filepath.Join(dir, "none", "x.zip"))
	b.fails(2, []string{"takes one FILE"}, "support-bundle", "a", "b")
	b.fails(2, []string{"--no-such"}, "support-bundle", filepath.Join(dir, "x.zip"), "--", "--no-such")

	b.connection = nowhere
	type written struct {
		File  string
		Parts []string
	}
	r = b.try("support-bundle", filepath.Join(dir, "alone.zip"), "-o", "json")
	if w := decode[written](b, r.out); r.code != 0 || len(w.Parts) != 5 || !strings.Contains(b.bundle(w.File)["missing.txt"], "entities.json: nothing listens") {
		t.Errorf("support-bundle without a server gives %+v, %+v", r, b.bundle(w.File))
	}
}

// portOf returns the port that a connection string names.
func portOf(connection string) string {
	host, _, _ := strings.Cut(connection, ";")
	return host[strings.LastIndexByte(host, ':')+1:]
}
