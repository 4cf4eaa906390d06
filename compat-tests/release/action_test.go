package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// archive packs the binary as a release does, once for all tests.
func archive(t *testing.T) []byte {
	t.Helper()
	if archived != nil {
		return archived
	}
	data, err := os.ReadFile(harness.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "minibus", Mode: 0o755, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	archived = packed.Bytes()
	return archived
}

var archived []byte

// archiveName is the name of a release's archive for this machine.
func archiveName(version string) string {
	return fmt.Sprintf("minibus_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
}

// releases serves releases as GitHub does, and returns their address. A sum replaces the right checksum.
func releases(t *testing.T, files map[string][]byte) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/o/r/releases/latest", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/o/r/releases/tag/"+tag, http.StatusFound)
	})
	mux.HandleFunc("/o/r/releases/tag/", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/o/r/releases/download/"+tag+"/{file}", func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.PathValue("file")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// release serves a release whose checksum of the archive is the given one, or the right one.
func release(t *testing.T, sum string) string {
	t.Helper()
	packed, name := archive(t), archiveName(released)
	if sum == "" {
		right := sha256.Sum256(packed)
		sum = hex.EncodeToString(right[:])
	}
	return releases(t, map[string][]byte{name: packed, "checksums.txt": []byte(strings.Repeat("0", 64) + "  other.zip\n" + sum + "  " + name + "\n")})
}

// job is a job of a workflow.
type job struct {
	dir     string // RUNNER_TEMP
	outputs map[string]string
	env     map[string]string
	printed string
	err     error
}

// freePorts keeps two tests, and a Minibus of the user's, out of each other's way.
const freePorts = "--host 127.0.0.1 --amqp-port 0 --tls-port 0 --http-port 0"

// act runs the action's step as the runner does: with an action's checkout at a path, and inputs as variables. It ends what the step started.
func act(t *testing.T, action string, environ ...string) *job {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		harness.Lack(t, "the action needs bash: %v", err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("the archive of this test has the form of those for Linux and macOS")
	}
	j := &job{dir: t.TempDir()}
	env, out := filepath.Join(j.dir, "env"), filepath.Join(j.dir, "out")
	cmd := exec.Command("bash", filepath.Join(root(t), "packaging/action.sh"))
	cmd.Env = append(os.Environ(), "RUNNER_TEMP="+j.dir, "GITHUB_ENV="+env, "GITHUB_OUTPUT="+out, "GITHUB_ACTION_PATH="+action,
		"INPUT_VERSION=", "INPUT_SOURCE=false", "INPUT_CONFIG=", "INPUT_ARGS="+freePorts, "INPUT_RELEASES=", "NO_PROXY=127.0.0.1,localhost")
	cmd.Env = append(cmd.Env, environ...)
	printed, err := cmd.CombinedOutput()
	j.printed, j.err, j.env, j.outputs = string(printed), err, pairs(t, env), pairs(t, out)
	t.Cleanup(func() {
		pid, err := strconv.Atoi(j.outputs["pid"])
		if err != nil {
			return // it has started nothing
		}
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	})
	return j
}

// pairs reads a file of name=value lines; it may be missing.
func pairs(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	m := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		m[name] = value
	}
	return m
}

// works sends a message through the Minibus that a job has started, with curl as in the README, and looks at all that the step exports.
func works(t *testing.T, j *job, queue string) {
	t.Helper()
	if j.err != nil {
		t.Fatalf("%v\n%s", j.err, j.printed)
	}
	address := "http://localhost:" + j.outputs["http-port"] + "/" + queue + "/messages"
	command(t, j.dir, nil, "curl", "-sSf", "--noproxy", "*", address, "-d", "hello")
	if got := command(t, j.dir, nil, "curl", "-sSf", "--noproxy", "*", "-X", "DELETE", address+"/head"); got != "hello" {
		t.Errorf("received %q", got)
	}
	connection := j.outputs["connection-string"]
	if want := regexp.MustCompile(`^Endpoint=sb://127\.0\.0\.1:` + j.outputs["amqp-port"] + `;SharedAccessKeyName=\w+;SharedAccessKey=\w+;UseDevelopmentEmulator=true;$`); !want.MatchString(connection) {
		t.Errorf("connection-string is %q", connection)
	}
	if j.env["SERVICEBUS_CONNECTION_STRING"] != connection {
		t.Errorf("the variables are %v, the outputs %v", j.env, j.outputs)
	}
	for name, want := range map[string]string{"ca-file": "BEGIN CERTIFICATE", "log-file": "Emulator Service is Successfully Up!"} {
		if data, err := os.ReadFile(j.outputs[name]); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, %q", name, err, data)
		}
	}
	if binary := command(t, j.dir, nil, harness.Binary(t), "version"); !strings.HasPrefix(binary, "Minibus "+j.outputs["version"]+"\n") && queue != "built" {
		t.Errorf("the version is %q, not that of %q", j.outputs["version"], binary)
	}
}

func TestAction_DownloadsARelease(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	config := harness.WriteConfig(t, harness.Queue{Name: "orders"})
	for name, tt := range map[string]struct {
		ref     string
		environ []string
	}{
		"of its own tag":   {tag, nil},
		"the latest":       {"main", nil},
		"of a moving tag":  {"v1", nil},
		"that is named":    {"main", []string{"INPUT_VERSION=" + released}},
		"with a v":         {"main", []string{"INPUT_VERSION=" + tag}},
		"named the latest": {"v0.0.1", []string{"INPUT_VERSION=latest"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := release(t, "")
			j := act(t, "/runner/_actions/o/r/"+tt.ref, append(tt.environ, "GITHUB_SERVER_URL="+server, "INPUT_CONFIG="+config)...)
			works(t, j, "orders")
			if !strings.Contains(j.printed, "downloading "+server+"/o/r/releases/download/"+tag+"/"+archiveName(released)) {
				t.Errorf("it printed:\n%s", j.printed)
			}
		})
	}
}

func TestAction_FromAMirrorAndWithAKey(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	j := act(t, `D:\a\_actions\someone\fork\main`, "INPUT_RELEASES="+release(t, "")+"/o/r/releases/",
		"INPUT_ARGS="+freePorts+" --auth sas", "MINIBUS_ROOT_KEY=secretOfTheTest")
	if j.err != nil || !strings.Contains(j.env["SERVICEBUS_CONNECTION_STRING"], "SharedAccessKey=secretOfTheTest;") ||
		!strings.Contains(j.printed, "::add-mask::secretOfTheTest\n") {
		t.Fatalf("%v, %v\n%s", j.err, j.env, j.printed)
	}
	out, err := harness.Output(nil, harness.Binary(t), "export", j.env["SERVICEBUS_CONNECTION_STRING"])
	if err != nil || !strings.Contains(out, "queue.1") {
		t.Errorf("the administration: %v, %s", err, out)
	}
}

// TestAction_WithoutANameOfTheHost binds an IPv6 address, which the connection string has in brackets. The key has the line break of a pasted secret.
func TestAction_WithoutANameOfTheHost(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	j := act(t, `D:\a\_actions\someone\fork\main`, "INPUT_RELEASES="+release(t, "")+"/o/r/releases/", "NO_PROXY=::1",
		"INPUT_ARGS=--host ::1 --amqp-port 0 --tls-port off --http-port 0 --auth sas", "MINIBUS_ROOT_KEY= secretOfTheTest\n")
	if j.err != nil {
		t.Fatalf("%v\n%s", j.err, j.printed)
	}
	if want, got := "Endpoint=sb://[::1]:"+j.outputs["amqp-port"]+";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=secretOfTheTest;", j.env["SERVICEBUS_CONNECTION_STRING"]; !strings.HasPrefix(got, want) {
		t.Errorf("the connection string is %q, want %s", got, want)
	}
	if data, err := os.ReadFile(j.outputs["ca-file"]); err != nil || !strings.Contains(string(data), "BEGIN CERTIFICATE") {
		t.Errorf("ca-file: %v, %q", err, data)
	}
}

func TestAction_BuildsALocalCheckout(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	j := act(t, root(t)+"/./", "INPUT_RELEASES=", "GITHUB_SERVER_URL=http://127.0.0.1:1")
	if j.err != nil || !strings.Contains(j.printed, "building ") {
		t.Fatalf("%v\n%s", j.err, j.printed)
	}
	response, err := http.Post("http://localhost:"+j.outputs["http-port"]+"/queue.1/messages", "text/plain", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusCreated {
		t.Errorf("%s, %s, %v", response.Status, body, err)
	}
}

// What goes wrong is said as an error of the workflow, nothing is exported, and nothing keeps running.
func TestAction_SaysWhatIsWrong(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	own := "/runner/_actions/o/r/" + tag
	broken := filepath.Join(t.TempDir(), "Config.json")
	if err := os.WriteFile(broken, []byte(`{"UserConfig": 5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	good := release(t, "")
	empty := releases(t, map[string][]byte{"checksums.txt": nil})
	for name, tt := range map[string]struct {
		server  string
		environ []string
		want    string
	}{
		"another checksum":     {release(t, strings.Repeat("a", 64)), nil, "checksums.txt says aaaaaaa"},
		"no such release":      {good, []string{"INPUT_VERSION=0.0.1"}, "release 0.0.1 is not at "},
		"no archive":           {empty, nil, "has no " + archiveName(released)},
		"no release at all":    {"http://127.0.0.1:1", []string{"INPUT_VERSION=latest"}, "is there a release?"},
		"an odd processor":     {good, []string{"RUNNER_ARCH=ARM", "RUNNER_OS=Linux"}, "no release for the processor ARM"},
		"a bad configuration":  {good, []string{"INPUT_CONFIG=" + broken}, "Minibus did not start: minibus: " + broken},
		"no configuration":     {good, []string{"INPUT_CONFIG=/none/Config.json"}, "/none/Config.json does not exist"},
		"a bad flag":           {good, []string{"INPUT_ARGS=--no-such-flag"}, "there is no flag --no-such-flag"},
		"a key of two lines":   {good, []string{"INPUT_ARGS=" + freePorts + " --auth sas", "MINIBUS_ROOT_KEY=a\nINJECTED=b"}, "MINIBUS_ROOT_KEY has several lines"},
		"the key in the flags": {good, []string{"INPUT_ARGS=" + freePorts + " --auth sas --root-key mine"}, "MINIBUS_ROOT_KEY, not in args"},
	} {
		t.Run(name, func(t *testing.T) {
			j := act(t, own, append(tt.environ, "GITHUB_SERVER_URL="+tt.server)...)
			if j.err == nil || !strings.Contains(j.printed, "::error title=Minibus::") || !strings.Contains(j.printed, tt.want) || len(j.env)+len(j.outputs) > 0 {
				t.Errorf("%v, %v, %v; %q is missing in:\n%s", j.err, j.env, j.outputs, tt.want, j.printed)
			}
		})
	}
}
