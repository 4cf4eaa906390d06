// Package clients makes what the directory clients has from the document of the control API: the document itself, a file of requests for editors,
// and the typed clients for TypeScript and Python, by openapi-typescript and openapi-python-client. It uses both clients against the built binary.
//
//	go test ./compat-tests/clients -run Generated -update
package clients

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

// generate makes, from a document, all files below a directory that has the manifests of the clients. python is an interpreter with the packages of
// python/requirements.txt; for TypeScript the packages of its lock file are installed.
func generate(document []byte, dir, python string) error {
	file := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(file, document, 0o644); err != nil { //nolint:gosec // for everybody to read
		return fmt.Errorf("write the document: %w", err)
	}
	requests, err := requestsOf(document)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "minibus.http"), requests, 0o644); err != nil { //nolint:gosec // for everybody to read
		return fmt.Errorf("write the requests: %w", err)
	}
	if err := run(filepath.Join(dir, "typescript"), "npx", "openapi-typescript", "../openapi.json", "-o", "schema.d.ts"); err != nil {
		return err
	}
	return run(filepath.Join(dir, "python"), python, "-m", "openapi_python_client", "generate", "--path", "../openapi.json", "--meta", "none",
		"--config", "generate.yaml", "--output-path", "minibus_control/rest", "--overwrite", "--fail-on-warning")
}

// served returns the document as Minibus serves it.
func served(t *testing.T) []byte {
	t.Helper()
	server := harness.Start(t, harness.Options{})
	answer, err := http.Get(fmt.Sprintf("http://localhost:%d/$minibus/v1/openapi.json", server.Ports.HTTP))
	if err != nil {
		t.Fatalf("get the document: %v", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("get the document: %s: %v", answer.Status, err)
	}
	return append(text, '\n')
}

func run(dir string, command ...string) error {
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec // one of the two generators
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w\n%s", command, err, out)
	}
	return nil
}
