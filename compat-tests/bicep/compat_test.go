// Package bicep parses what minibus export writes with the published grammar of Bicep, from outside.
package bicep

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) {
	code := m.Run()
	harness.Cleanup()
	os.Exit(code)
}

// TestExportedBicepParses needs Node.js and the package registry, and so runs with MINIBUS_COMPAT=all only, which continuous
// integration always sets.
func TestExportedBicepParses(t *testing.T) {
	if os.Getenv("MINIBUS_COMPAT") != "all" {
		t.Skip("set MINIBUS_COMPAT=all to parse Bicep")
	}
	harness.InstallNodeModules(t, ".")
	const samples = "../../export/testdata/"
	server := harness.Start(t, harness.Options{Config: samples + "rich.json"})
	file := filepath.Join(t.TempDir(), "main.bicep")
	run(t, exec.Command(harness.Binary(t), "export", server.ConnectionString(), "--format", "bicep", "--out", file))
	out := run(t, exec.Command("node", "check.mjs", file, samples+"azure.bicep"))
	if !strings.Contains(out, "main.bicep: 17 resources") {
		t.Error("some resources of the running namespace are not there")
	}
	wrong := filepath.Join(t.TempDir(), "wrong.bicep")
	if err := os.WriteFile(wrong, []byte("resource x 'a@b' = {\n  name: 'it's'\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("node", "check.mjs", wrong).Run(); err == nil {
		t.Error("the parser takes anything")
	}
}

func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("run %s: %v", filepath.Base(cmd.Path), err)
	}
	return string(out)
}
