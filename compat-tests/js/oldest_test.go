package js

import (
	"os"
	"path/filepath"
	"testing"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

// TestOldestJavaScriptSDK runs the suite with the oldest release that knows the emulator's flag. The flag is core-amqp's, since 4.3.0, and takes a port
// since 4.3.4, which stands here; service-bus takes these since 7.9.2.
func TestOldestJavaScriptSDK(t *testing.T) {
	harness.NeedNightly(t, "to run the oldest release of the JavaScript client")
	r := oldest(t)
	for name, run := range map[string]func(*testing.T){
		"messages": r.messages, "sessions": r.sessions, "features": r.features, "topics": r.topics, "transports": r.transports,
		"restarts": r.restarts, "parity": r.parity, "administration": r.administration,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// administration runs the tests of the administration client.
func (r release) administration(t *testing.T) {
	t.Helper()
	suite, err := filepath.Glob("admin-*.test.mjs")
	if err != nil || len(suite) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	server, environ := startAdmin(t, "--auth", "sas")
	r.test(t, server, environ, suite...)
}

// oldest copies the scripts to a directory in which they find the oldest release.
func oldest(t *testing.T) release {
	t.Helper()
	harness.InstallNodeModules(t, "oldest")
	dir := t.TempDir()
	scripts, err := filepath.Glob("*.mjs")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatalf("read a script: %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, script), text, 0o600); err != nil {
			t.Fatalf("copy a script: %v", err)
		}
	}
	modules, err := filepath.Abs(filepath.Join("oldest", "node_modules"))
	if err != nil {
		t.Fatalf("find the modules: %v", err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatalf("link the modules: %v", err)
	}
	return release{dir: dir, environ: []string{cases.OtherColumn + "=js-oldest"}}
}
