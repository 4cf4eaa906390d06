package release

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// arm64 runs the release's binary for arm64 on Linux: it starts, is well, and takes and gives a message.
func (d *dist) arm64(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "minibus")
	if err := os.WriteFile(binary, unpack(t, filepath.Join(d.dir, target{"linux", "arm64"}.archive()))["minibus"], 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if runtime.GOARCH != "arm64" {
		binary = emulated(t, binary)
	}
	want := strings.Replace(d.builtHere(), "/"+runtime.GOARCH, "/arm64", 1)
	if got := command(t, d.dir, nil, binary, "version"); got != want {
		t.Errorf("it is\n%s\nnot\n%s", got, want)
	}
	runs(t, binary)
}

// emulated returns a program that runs a binary for arm64 by QEMU.
func emulated(t *testing.T, binary string) string {
	t.Helper()
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		harness.Lack(t, "a binary for arm64 needs qemu-user-static: %v", err)
	}
	script := filepath.Join(t.TempDir(), "minibus")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+qemu+" "+binary+" \"$@\"\n"), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return script
}

// runs starts a binary with a database, asks for its health, and sends and receives a message.
func runs(t *testing.T, binary string) {
	t.Helper()
	dir := t.TempDir()
	server, err := harness.Launch(binary, filepath.Join(dir, "ports.json"), harness.Options{Alone: true, Data: filepath.Join(dir, "bus.db")})
	if server != nil {
		defer server.Stop(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := "http://127.0.0.1:" + strconv.Itoa(server.Ports.HTTP)
	if status, body := request(t, http.MethodGet, at+"/health", ""); status != http.StatusOK || !strings.Contains(body, "healthy") {
		t.Errorf("health: %d %s", status, body)
	}
	if status, body := request(t, http.MethodPost, at+"/queue.1/messages", "hello"); status != http.StatusCreated {
		t.Errorf("send: %d %s", status, body)
	}
	if status, body := request(t, http.MethodDelete, at+"/queue.1/messages/head", ""); status != http.StatusOK || body != "hello" {
		t.Errorf("receive: %d %s", status, body)
	}
}

func request(t *testing.T, method, address, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequest(method, address, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}
