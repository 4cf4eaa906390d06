package gofw

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestKEDA runs the scaler of KEDA that watches queues and subscriptions.
func TestKEDA(t *testing.T) {
	harness.NeedNightly(t, "to compile what KEDA needs, which takes minutes")
	config := harness.WriteTopology(t,
		[]harness.Queue{{Name: "work-1"}, {Name: "work-2"}, {Name: "idle"}},
		[]harness.Topic{{Name: "orders", Subscriptions: []harness.Subscription{
			{Queue: harness.Queue{Name: "billing"}}, {Queue: harness.Queue{Name: "shipping"}}, {Queue: harness.Queue{Name: "audit"}},
		}}})
	server := harness.Start(t, harness.Options{Config: config, CADir: t.TempDir()})
	out := goTest(t, settings(server), "keda", "-overlay", kedaScaler(t), ".")
	if passed := verdicts(out, "PASS"); len(passed) != 13 {
		t.Errorf("%d tests passed, want 11 triggers, what holds them, and the missing queue: %q", len(passed), passed)
	}
}

// kedaScaler writes an overlay for the go command that shows two files of KEDA as a package of the module keda: the scaler, and what all
// scalers have in common. Both are unchanged. A third one has the constants that KEDA declares with its other scalers.
func kedaScaler(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs(filepath.Join("keda", "scalers"))
	if err != nil {
		t.Fatalf("find the module: %v", err)
	}
	source := filepath.Join(strings.TrimSpace(goTool(t, "keda", "list", "-m", "-f", "{{.Dir}}", "github.com/kedacore/keda/v2")), "pkg", "scalers")
	dir := t.TempDir()
	constants := filepath.Join(dir, "constants.go")
	if err := os.WriteFile(constants, []byte(constantsOf(t, source)), 0o600); err != nil {
		t.Fatalf("write the constants: %v", err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(here, "scaler.go"):                  filepath.Join(source, "scaler.go"),
		filepath.Join(here, "azure_servicebus_scaler.go"): filepath.Join(source, "azure_servicebus_scaler.go"),
		filepath.Join(here, "constants.go"):               constants,
	}})
	if err != nil {
		t.Fatalf("encode the overlay: %v", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		t.Fatalf("write the overlay: %v", err)
	}
	return path
}

// constantsOf returns a file with the declarations of the scaler's constants that stand in other files.
func constantsOf(t *testing.T, source string) string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^\s+((?:sumOperation|avgOperation|maxOperation|externalMetricType)\s.*= .*)$`)
	files, err := filepath.Glob(filepath.Join(source, "*_scaler.go"))
	if err != nil {
		t.Fatalf("read KEDA: %v", err)
	}
	text := "package scalers\n"
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("read KEDA: %v", err)
		}
		for _, match := range declared.FindAllSubmatch(source, -1) {
			text += "\nconst " + string(match[1]) + "\n"
		}
	}
	return text
}
