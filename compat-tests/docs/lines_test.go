package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// blockOf returns the indented block of a page that begins so.
func blockOf(t *testing.T, page, begin string) string {
	t.Helper()
	for _, text := range indented(harness.ReadPage(t, page)) {
		if strings.HasPrefix(text, begin) {
			return text
		}
	}
	t.Fatalf("%s has no block that begins with %q", page, begin)
	return ""
}

// TestTheCommandLine runs the first lines of docs/cli.md, and those about rules, against a new Minibus.
func TestTheCommandLine(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	first := strings.Replace(blockOf(t, "docs/cli.md", "minibus queue create parcels"), " | jq '.[].body'", "", 1)
	rules := blockOf(t, "docs/cli.md", "minibus topic create events")
	const ask = "minibus send events large -p amount=int:2000\nminibus send events small -p amount=int:5\n" +
		"echo LARGE\nminibus peek events/large -o jsonl\necho AUDIT\nminibus peek events/audit -o jsonl\n"
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	out, err := shell(t, t.TempDir(), first+rules+ask)
	_, filtered, _ := strings.Cut(out, "LARGE\n")
	filtered, all, found := strings.Cut(filtered, "AUDIT\n")
	if err != nil || !found || !strings.Contains(out, `"id":7`) && !strings.Contains(out, `\"id\":7`) {
		t.Fatalf("%v; the lines print\n%s", err, out)
	}
	if strings.Count(filtered, "\n") != 1 || !strings.Contains(filtered, "large") || strings.Count(all, "\n") != 2 {
		t.Errorf("events/large has\n%sand events/audit\n%s", filtered, all)
	}
}

// TestTheCommandsThatMeasure runs those of docs/cli.md.
func TestTheCommandsThatMeasure(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	out, err := shell(t, t.TempDir(), "set -e\n"+blockOf(t, "docs/cli.md", "minibus bench "))
	if err != nil || strings.Count(out, "\ncomplete ") != 2 || strings.Count(out, `"operation": "complete"`) != 1 {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}

// TestASecondMinibus starts one beside another, on the same database's path, by the line of the page.
func TestASecondMinibus(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	data := filepath.Join(t.TempDir(), "minibus.db")
	harness.Start(t, harness.Options{Data: data, Alone: true})
	t.Setenv("MINIBUS_DATA", data)
	http := freePort(t)
	line := strings.NewReplacer("5673", freePort(t), "5674", freePort(t), "5301", http).Replace(strings.TrimSpace(blockOf(t, trouble, "minibus --amqp-port 5673")))
	out, err := shell(t, t.TempDir(), line+" &\ntrap 'kill $!; wait' EXIT\nuntil minibus healthcheck --http-port "+http+" || ! kill -0 $!; do sleep 0.1; done\nkill -0 $!\n")
	if err != nil || !strings.Contains(out, "Database: in memory") {
		t.Errorf("%v: %s prints\n%s", err, line, out)
	}
}

// TestTheBundleOfCertificatesStays runs the lines of docs/python.md, which must not write into a file that other programs use.
func TestTheBundleOfCertificatesStays(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	s := harness.Start(t, harness.Options{CADir: t.TempDir(), Alone: true})
	dir := t.TempDir()
	system := filepath.Join(dir, "system.pem")
	if err := os.WriteFile(system, []byte("system\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REQUESTS_CA_BUNDLE", system)
	lines := moved(s, blockOf(t, "docs/python.md", `cp "$REQUESTS_CA_BUNDLE"`))
	out, err := shell(t, dir, lines+`echo; cat "$REQUESTS_CA_BUNDLE"`)
	left, readErr := os.ReadFile(system)
	if err != nil || readErr != nil || string(left) != "system\n" || !strings.Contains(out, "system\n-----BEGIN CERTIFICATE") {
		t.Errorf("%v, %v: the system's file has %q, and the variable leads to\n%s", err, readErr, left, out)
	}
}
