package js

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

// TestTwoSuitesInTwoNamespaces runs the suites of Python and JavaScript at the same time, each in a namespace of its own in one process,
// but for the tests that wait for minutes. Both make entities, list all, and read counts. The server checks tokens. What the suites prove is not
// noted a second time.
func TestTwoSuitesInTwoNamespaces(t *testing.T) {
	t.Parallel()
	needNode(t)
	python := harness.Python(t, filepath.Join("..", "python"))
	root := []harness.Policy{{Name: "RootManageSharedAccessKey", Key: "SAS_KEY_VALUE", Rights: []string{"Manage", "Send", "Listen"}}}
	server := harness.Start(t, harness.Options{
		Config: harness.WriteSpaces(t, harness.Space{}, harness.Space{Name: "python-ns", Policies: root}, harness.Space{Name: "javascript-ns", Policies: root}),
		Data:   filepath.Join(t.TempDir(), "minibus.db"), Args: []string{"--auth", "sas", "--namespace-ports", "0"},
	})
	t.Run("at once", func(t *testing.T) {
		t.Run("Python", func(t *testing.T) {
			t.Parallel()
			environ := append(server.Space("python-ns").Environ(), cases.Directory+"=", "PYTHONDONTWRITEBYTECODE=1")
			harness.Run(t, environ, python, filepath.Join("..", "python", "run.py"),
				"test_admin_queues", "test_admin_topics", "test_admin_rules", "test_messages", "test_sessions", "test_settlement", "test_topics")
		})
		t.Run("JavaScript", func(t *testing.T) {
			t.Parallel()
			suite, err := filepath.Glob("admin-*.test.mjs")
			if err != nil || len(suite) == 0 {
				t.Fatalf("no tests: %v", err)
			}
			node(t, server.Space("javascript-ns"), []string{cases.Directory + "=", "NODE_EXTRA_CA_CERTS=" + server.CA()},
				append([]string{"--test", "parity-entities.test.mjs", "parity-messages.test.mjs"}, suite...)...)
		})
	})
}
