// Package explorer drives the explorer, the page of Minibus, in Chromium against the built binary, with the JavaScript SDK on the other side. It also
// makes the page's script anew and compares it with the one that is committed.
package explorer

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const sources = "../../mgmt/ui"

// TestBundle makes the script and the style of their sources, and checks the types.
func TestBundle(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to bundle the explorer")
	harness.InstallNodeModules(t, sources)
	out := t.TempDir()
	for _, command := range [][]string{{"npx", "tsc", "--project", typescript(t)}, {"go", "-C", "bundle", "run", ".", "-out", out}} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = sources
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, text)
		}
	}
	for _, name := range []string{"app.js", "app.css", "editor.js", "index.html"} {
		made, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(sources, "files", name))
		if err != nil || !bytes.Equal(made, kept) {
			t.Errorf("mgmt/ui/files/%s is not what its sources make (%v): in mgmt/ui run npm ci, then go generate", name, err)
		}
	}
}

// typescript makes the types of the control API, which the sources call control-api, and writes a configuration that finds them.
func typescript(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(sources)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	types := filepath.Join(dir, "control-api.d.ts")
	harness.Run(t, nil, filepath.Join(root, "node_modules", ".bin", "openapi-typescript"), filepath.Join(root, "../../clients/openapi.json"), "-o", types)
	text, err := json.Marshal(map[string]any{
		"extends":         filepath.Join(root, "tsconfig.json"),
		"compilerOptions": map[string]any{"paths": map[string][]string{"control-api": {types}}},
		"include":         []string{filepath.Join(root, "src")},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tsconfig.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// browse runs tests in the browser against a server.
func browse(t *testing.T, o harness.Options, environ []string, files ...string) {
	t.Helper()
	t.Parallel()
	harness.NeedAll(t, "to run the explorer in a browser")
	drive(t, append(harness.Start(t, o).Environ(), environ...), files...)
}

// drive runs tests in the browser.
func drive(t *testing.T, environ []string, files ...string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		t.Fatal("Chromium is missing: apt-get install chromium-headless-shell")
	}
	harness.InstallNodeModules(t, ".")
	harness.Run(t, append(environ, "MINIBUS_CHROMIUM="+chromium), "node", append([]string{"--test"}, files...)...)
}

// house returns a configuration with an entity of each kind. Where tests hold messages, locks are longer than a test may take.
func house(t *testing.T) string {
	t.Helper()
	orders := harness.Queue{Name: "orders", LockDuration: "PT1M", MaxDeliveryCount: 3}
	return harness.WriteTopology(t, []harness.Queue{orders, {Name: "carts", RequiresSession: true, LockDuration: "PT5M"}, {Name: "empty", LockDuration: "PT5M"},
		{Name: "purged"}, {Name: "live"}, {Name: "dying", LockDuration: "PT5M"},
		{Name: "a-name-that-goes-on-and-on-until-it-fits-nowhere-and-then-goes-on-a-little-more-to-be-sure"}},
		[]harness.Topic{{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}},
			{Queue: harness.Queue{Name: "large"}, Rules: []harness.Rule{{Name: "big", SQL: "amount > 1000"}}}}}})
}

// TestScreens opens every screen in both themes and widths: no error, no request elsewhere, nothing that axe-core finds.
func TestScreens(t *testing.T) {
	browse(t, harness.Options{Config: house(t)}, nil, "screens.test.mjs")
}

// TestActs does what a person can do on each screen.
func TestActs(t *testing.T) { browse(t, harness.Options{Config: house(t)}, nil, "acts.test.mjs") }

// TestEntities makes, changes and deletes entities and rules, tests rules, and applies configurations.
func TestEntities(t *testing.T) {
	browse(t, harness.Options{Config: house(t)}, nil, "entities.test.mjs")
}

// TestControl injects faults, saves and restores, receives, and goes through the calendar and the tree.
func TestControl(t *testing.T) { browse(t, harness.Options{Config: house(t)}, nil, "control.test.mjs") }

// TestMessages reads, writes, exports and repeats messages.
func TestMessages(t *testing.T) {
	config := harness.WriteTopology(t, []harness.Queue{{Name: "empty"}, {Name: "large", MaxMessageSizeInKilobytes: 100 << 10}, {Name: "steps"}, {Name: "typed"}, {Name: "letters"}, {Name: "crowd"}, {Name: "carts", RequiresSession: true}}, nil)
	browse(t, harness.Options{Config: config, Args: []string{"--limits", "relaxed"}}, nil, "messages.test.mjs")
}

// TestHostile shows names, ids and bodies that have markup.
func TestHostile(t *testing.T) { browse(t, harness.Options{Config: house(t)}, nil, "hostile.test.mjs") }

// TestKeys opens a Minibus that checks keys.
func TestKeys(t *testing.T) {
	browse(t, harness.Options{Config: house(t), Args: []string{"--auth", "sas"}}, nil, "keys.test.mjs")
}
