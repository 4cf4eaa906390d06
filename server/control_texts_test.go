package server

import (
	"context"
	"os"
	"strings"
	"testing"

	"minibus/config"
	"minibus/export"
	"minibus/internal/sas"
)

// TestExportsOfTheControlAPI are the same as those of minibus export, but for the first line, which names the source.
func TestExportsOfTheControlAPI(t *testing.T) {
	text, err := os.ReadFile("../export/testdata/rich.json")
	if err != nil {
		t.Fatal(err)
	}
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff}, Topology: topologyOf(t, string(text))})
	if err != nil {
		t.Fatal(err)
	}
	from, err := sas.ParseConnection(a.ConnectionString())
	if err != nil {
		t.Fatal(err)
	}
	found, err := export.Read(context.Background(), from, export.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []export.Format{export.FormatBicep, export.FormatTerraform, export.FormatAz} {
		want, _, err := export.Write(found, f)
		if err != nil {
			t.Fatal(err)
		}
		status, got := get(t, local(a.ports.AMQP, "/$minibus/v1/namespaces/$default/config/export?format="+string(f)))
		first, rest, _ := strings.Cut(got, "\n")
		_, wanted, _ := strings.Cut(string(want), "\n")
		if status != 200 || !strings.Contains(first, "The entities of rich, ") || rest != wanted {
			t.Errorf("%s: %d, %s\n%s\nwant\n%s", f, status, first, rest, wanted)
		}
	}
}
