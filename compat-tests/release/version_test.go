package release

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// wantVersion is what minibus version prints for a build.
func wantVersion(version, commit, date string) string {
	return strings.Join([]string{
		"Minibus " + version, "commit:   " + commit, "date:     " + date, "go:       " + runtime.Version(), "platform: " + runtime.GOOS + "/" + runtime.GOARCH,
	}, "\n")
}

// install runs go install as the README says, with the go command's own flags, and returns the binary.
func install(t *testing.T, dir, flags string) string {
	t.Helper()
	bin := t.TempDir()
	command(t, dir, []string{"GOBIN=" + bin, "GOFLAGS=-trimpath " + flags, "CGO_ENABLED=0"}, "go", "install", "./cmd/minibus")
	return filepath.Join(bin, "minibus"+harness.Exe)
}

func TestVersion_OfGoInstall(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	dir, commit := checkout(t)
	clean := install(t, dir, "-buildvcs=true")
	for _, argument := range []string{"version", "--version", "-v"} {
		if got, want := command(t, dir, nil, clean, argument), wantVersion(released, commit, commitDate); got != want {
			t.Errorf("minibus %s prints\n%s\nnot\n%s", argument, got, want)
		}
	}
	shown(t, clean, released)

	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dirty := command(t, dir, nil, install(t, dir, "-buildvcs=true"), "version")
	first, rest, _ := strings.Cut(dirty, "\n")
	_, want, _ := strings.Cut(wantVersion("", commit+"+dirty", commitDate), "\n")
	if !strings.HasPrefix(first, "Minibus 1.9.") || !strings.HasSuffix(first, "+dirty") || rest != want {
		t.Errorf("a changed checkout is\n%s", dirty)
	}

	if got, want := command(t, dir, nil, install(t, dir, "-buildvcs=false"), "version"), wantVersion("devel", "unknown", "unknown"); got != want {
		t.Errorf("without a repository it is\n%s\nnot\n%s", got, want)
	}
}

// shown looks at the places where a running Minibus shows its version.
func shown(t *testing.T, binary, version string) {
	t.Helper()
	server, err := harness.Launch(binary, filepath.Join(t.TempDir(), "ports.json"), harness.Options{Alone: true})
	if server != nil {
		defer server.Stop(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Get("http://127.0.0.1:" + strconv.Itoa(server.Ports.HTTP) + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	metrics, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(metrics), `minibus_build_info{version="`+version+`"} 1`) {
		t.Errorf("the metrics do not name version %s: %v", version, err)
	}
	if got := response.Header.Get("Server"); got != "Minibus/"+version {
		t.Errorf("the Server header is %q", got)
	}
	server.Stop(t) // the banner follows the ports file, for which Launch waits
	if !strings.Contains(server.Log(), "Minibus "+version+"\n") && !strings.Contains(server.Log(), "Minibus "+version+"\r") {
		t.Errorf("the banner does not name version %s:\n%s", version, server.Log())
	}
}
