// Package clients makes openapi.json and minibus.http in the directory clients from the document that Minibus serves.
//
//	go test ./compat-tests/clients -run Documents -update
package clients

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const directory = "../../clients"

var update = flag.Bool("update", false, "write openapi.json and minibus.http into the directory clients")

// TestDocuments compares openapi.json and minibus.http with what Minibus serves today.
func TestDocuments(t *testing.T) {
	document := served(t)
	requests, err := requestsOf(document)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"openapi.json": document, "minibus.http": requests} {
		path := filepath.Join(directory, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil { //nolint:gosec // for everybody to read
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not up to date: run go test ./compat-tests/clients -run Documents -update", path)
		}
	}
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
