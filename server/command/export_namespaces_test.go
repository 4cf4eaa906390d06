package command

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"minibus/config"
	"minibus/emulator"
	"minibus/server"
	"minibus/store"
)

// severalJSON has three namespaces with a queue of the same name.
const severalJSON = `{"UserConfig": {"Namespaces": [
	{"Name": "sbemulatorns", "Queues": [{"Name": "q", "Properties": {"UserMetadata": "of sbemulatorns"}}]},
	{"Name": "orders", "Aliases": ["orders.test"], "Queues": [{"Name": "q", "Properties": {"UserMetadata": "of orders"}}]},
	{"Name": "stock-1", "Queues": [{"Name": "q", "Properties": {"UserMetadata": "of stock-1"}}]}]}}`

// several starts a server with the namespaces of severalJSON, each with a free port.
func several(t *testing.T, settings config.Settings) *server.Server {
	t.Helper()
	topology, report := config.Parse("Config.json", []byte(severalJSON), config.ProfileRelaxed)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	settings.TLSPort = config.PortOff
	settings.HTTPPort = config.PortOff
	settings.NamespacePorts = "0"
	settings.Ephemeral = settings.Data == ""
	return start(t, server.Config{Topology: topology, Settings: settings})
}

// exportNamed runs minibus export at a server's port, with the key of its default namespace.
func exportNamed(a *server.Server, name string, args ...string) (stdout, stderr string, err error) {
	var out, log output
	args = append([]string{"export", connectionTo(a.Ports().AMQP, "UseDevelopmentEmulator=true"), "--namespace", name}, args...)
	err = Run(context.Background(), args, nil, &out, &log)
	return out.String(), log.String(), err
}

// TestExportOfOneNamespace reads each of several through the port of the default one, with the key of the default one.
func TestExportOfOneNamespace(t *testing.T) {
	for _, auth := range []config.Auth{config.AuthAny, config.AuthSAS} {
		a := several(t, config.Settings{Auth: auth})
		for _, name := range []string{"orders", "STOCK-1", "sbemulatorns"} {
			text, log, err := exportNamed(a, name)
			if err != nil {
				t.Fatalf("%s of %s: %v", auth, name, err)
			}
			want := strings.ToLower(name)
			if !strings.Contains(text, `"Name": "`+want+`"`) || !strings.Contains(text, `"of `+want+`"`) || strings.Count(text, `"UserMetadata"`) != 1 {
				t.Errorf("%s of %s:\n%s", auth, name, text)
			}
			if !strings.Contains(log, "exported from "+want+" at localhost:") {
				t.Errorf("%s of %s: %s", auth, name, log)
			}
		}
		text, _, err := exportNamed(a, "order")
		if err == nil || !strings.Contains(err.Error(), `there is no namespace "order"`) || !strings.Contains(err.Error(), "there are orders, sbemulatorns, stock-1") || text != "" {
			t.Errorf("%s of an unknown one: %v %s", auth, err, text)
		}
	}
}

// TestExportOfANamespaceThatIsAlone refuses the name of another one, though the process does not compare hosts.
func TestExportOfANamespaceThatIsAlone(t *testing.T) {
	a := serveTopology(t, nil, config.ProfileRelaxed)
	if _, _, err := exportNamed(a, "orders"); err == nil || !strings.Contains(err.Error(), "there are sbemulatorns") {
		t.Errorf("an unknown one: %v", err)
	}
	if text, _, err := exportNamed(a, "SBEmulatorNS"); err != nil || !strings.Contains(text, `"sbemulatorns"`) {
		t.Errorf("the default one: %v\n%s", err, text)
	}
}

// TestExportOfANamespaceNeedsTheKeyOfTheDefaultOne, since only that one lists the others.
func TestExportOfANamespaceNeedsTheKeyOfTheDefaultOne(t *testing.T) {
	a := several(t, config.Settings{Auth: config.AuthSAS, RootKey: "another-key"})
	if _, _, err := exportNamed(a, "orders"); err == nil || !strings.Contains(err.Error(), "Manage right of the default namespace") {
		t.Errorf("another key: %v", err)
	}
	if _, _, err := exportNamed(a, "orders", "--ca-file", filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "--ca-file") {
		t.Errorf("without the file: %v", err)
	}
	ns, err := a.Broker().Namespace("orders")
	if err != nil {
		t.Fatal(err)
	}
	var stdout output
	if err := Run(context.Background(), []string{"export", a.ConnectionTo(ns)}, nil, &stdout, &output{}); err != nil || !strings.Contains(stdout.String(), `"of orders"`) {
		t.Errorf("with its own connection string: %v\n%s", err, stdout.String())
	}
}

// TestExportOfANamespaceDoesNotTakeAnother: the database has an alias of one that is the name of another.
func TestExportOfANamespaceDoesNotTakeAnother(t *testing.T) {
	settings := config.Settings{Data: filepath.Join(t.TempDir(), "bus.db")}
	a := several(t, settings)
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	database, err := store.Open(settings.Data, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := make(chan error, 1)
	record := emulator.NamespaceRecord{ID: 9, Name: "impostor", Options: []byte(`{"aliases": ["orders.localhost"]}`)}
	database.PutNamespace(record, nil, emulator.CompletionFunc(func(err error) { stored <- err }))
	if err := errors.Join(<-stored, database.Close()); err != nil {
		t.Fatal(err)
	}
	a = several(t, settings)
	if text, _, err := exportNamed(a, "orders"); err == nil || !strings.Contains(err.Error(), "answers as impostor") {
		t.Errorf("%v\n%s", err, text)
	}
}
