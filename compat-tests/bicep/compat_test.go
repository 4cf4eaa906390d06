// Package bicep parses what minibus export writes with the published grammar of Bicep, from outside.
package bicep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestExportedBicepParses needs Node.js and the package registry.
func TestExportedBicepParses(t *testing.T) {
	harness.NeedAll(t, "to parse Bicep")
	harness.InstallNodeModules(t, ".")
	const samples = "../../export/testdata/"
	server := harness.Start(t, harness.Options{Config: samples + "rich.json"})
	file := filepath.Join(t.TempDir(), "main.bicep")
	harness.Run(t, nil, harness.Binary(t), "export", server.ConnectionString(), "--format", "bicep", "--out", file)
	out := harness.Run(t, nil, "node", "check.mjs", file, samples+"azure.bicep")
	if !strings.Contains(out, "main.bicep: 17 resources") {
		t.Error("some resources of the running namespace are not there")
	}
	wrong := filepath.Join(t.TempDir(), "wrong.bicep")
	if err := os.WriteFile(wrong, []byte("resource x 'a@b' = {\n  name: 'it's'\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := harness.Output(nil, "node", "check.mjs", wrong); err == nil {
		t.Error("the parser takes anything")
	}
}
