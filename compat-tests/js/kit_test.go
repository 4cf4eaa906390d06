package js

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// kitPatience bounds the time of one program that uses the package.
const kitPatience = 3 * time.Minute

// kit is a project that has installed the packages of packaging/npm from files, without a network.
type kit struct{ dir string }

// TestKit packs the packages for npm as a release does, installs them in a fresh project, and uses them there.
func TestKit(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to use the package for npm")
	harness.InstallNodeModules(t, "kit")
	k := kit{installKit(t)}
	t.Run("at once", func(t *testing.T) {
		for name, run := range map[string]func(kit, *testing.T){
			"the first test of the page": kit.firstTest, "Jest and Vitest": kit.runners, "example": kit.example, "verbs": kit.verbs,
			"processes": kit.processes, "command": kit.command, "signals": kit.signals, "terminal": kit.terminal,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				run(k, t)
			})
		}
	})
}

// installKit makes the project: the packages with the binary under test for this platform and stand-ins for the others, and
// what the tests need besides them.
func installKit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			name := filepath.Join("dist", "id_"+system+"_"+processor+"_v1", "minibus")
			if system == "windows" {
				name += ".exe"
			}
			files[name] = "a stand-in"
		}
	}
	files["project/package.json"] = `{"private": true}`
	if err := harness.WriteFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(dir, "dist", "id_"+runtime.GOOS+"_"+runtime.GOARCH+"_v1", "minibus"+harness.Exe)
	binary, err := os.ReadFile(harness.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(here, binary, 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	out, project := filepath.Join(dir, "out"), filepath.Join(dir, "project")
	harness.Run(t, nil, "../../packaging/npm.sh", "pack", "v1.2.3", filepath.Join(dir, "dist"), out)
	platform := strings.NewReplacer("amd64", "x64", "windows", "win32").Replace(runtime.GOOS + "-" + runtime.GOARCH)
	k := kit{project}
	k.run(t, nil, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error",
		filepath.Join(out, "minibus-1.2.3.tgz"), filepath.Join(out, "minibus-"+platform+"-1.2.3.tgz"))
	linkModules(t, "kit/node_modules", filepath.Join(project, "node_modules"))
	return project
}

// linkModules links the packages of one directory into another one, which has packages already.
func linkModules(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		source, target := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		switch _, missing := os.Lstat(target); {
		case entry.Name() == ".bin":
			linkModules(t, source, target)
		case missing == nil:
		default:
			source, err = filepath.Abs(source)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(source, target); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// program is a command in the project. It finds no other Minibus.
func (k kit) program(ctx context.Context, environ []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = k.dir
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "MINIBUS_") && !strings.HasPrefix(entry, "SERVICEBUS_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, environ...)
	return cmd
}

// run runs a program in the project and returns what it prints.
func (k kit) run(t *testing.T, environ []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), kitPatience)
	defer cancel()
	out, err := k.program(ctx, environ, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// folder makes a directory in the project with files of this package.
func (k kit) folder(t *testing.T, names ...string) kit {
	t.Helper()
	dir, err := os.MkdirTemp(k.dir, "tests-")
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("kit", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	if err := harness.WriteFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	return kit{dir}
}

// add adds the files of a section of docs/javascript.md, and returns the lines for the shell, but for those that install packages.
func (k kit) add(t *testing.T, section string) (lines string) {
	t.Helper()
	recipe, err := harness.ReadRecipe(harness.ReadPage(t, "docs/javascript.md"), section)
	if err == nil {
		err = harness.WriteFiles(k.dir, recipe.Files)
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(recipe.Commands) {
		if !strings.HasPrefix(line, "npm install ") {
			lines += line
		}
	}
	return lines
}

// firstTest runs the test with which docs/javascript.md begins, and the program of the package's README.
func (k kit) firstTest(t *testing.T) {
	in := k.folder(t)
	lines := in.add(t, "## First test")
	if out := in.run(t, nil, "bash", "-euc", lines); !strings.Contains(out, "pass 1\n") {
		t.Errorf("%sprints\n%s", lines, out)
	}
	_, program, _ := strings.Cut(harness.ReadPage(t, "packaging/npm/README.md"), "\n```js\n")
	program, _, _ = strings.Cut(program, "```")
	if out := in.run(t, nil, "node", "--input-type=module", "--eval", program); out != "two coffees\n" {
		t.Errorf("the program of the README prints %q", out)
	}
}

// example is on the page, too.
func (k kit) example(t *testing.T) {
	in := k.folder(t, "example.test.mjs")
	in.add(t, "## Dead letters and time")
	ours, err := os.ReadFile(filepath.Join(in.dir, "example.test.mjs"))
	page, pageErr := os.ReadFile(filepath.Join(in.dir, "shop.test.mjs"))
	if _, shown, _ := strings.Cut(string(page), "\n"); err != nil || pageErr != nil || shown != string(ours) {
		t.Errorf("%v, %v: docs/javascript.md shows another test than kit/example.test.mjs", err, pageErr)
	}
	in.run(t, nil, "node", "--test", "example.test.mjs")
}

// verbs compiles the tests, which checks the types, and runs them.
func (k kit) verbs(t *testing.T) {
	in := k.folder(t, "verbs.test.mts")
	in.run(t, nil, "npx", "tsc", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noPropertyAccessFromIndexSignature",
		"--module", "nodenext", "--target", "es2022", "--lib", "es2022,esnext.disposable", "verbs.test.mts")
	t.Log(in.run(t, nil, "node", "--test", "verbs.test.mjs"))
}

func (k kit) processes(t *testing.T) {
	t.Log(k.folder(t, "process.test.mjs").run(t, nil, "node", "--test"))
}

// runners runs the tests of the page with Jest and Vitest. With Jest four files more meet on the server that it starts. Vitest starts
// one too, and leaves no namespace on one that it finds.
func (k kit) runners(t *testing.T) {
	in := k.folder(t, "isolation.js")
	lines := in.add(t, "## Jest")
	files := make(map[string]string)
	for i := range 4 {
		files[fmt.Sprintf("isolation%d.test.js", i)] = fmt.Sprintf("require(\"./isolation\").isolation(%d);\n", i)
	}
	if err := harness.WriteFiles(in.dir, files); err != nil {
		t.Fatal(err)
	}
	// With a cache of other runs Jest may decide that one worker is enough.
	jest := strings.TrimSpace(lines) + " --maxWorkers=4 --cacheDirectory cache"
	if out := in.run(t, nil, "bash", "-euc", jest); !strings.Contains(out, "Tests:       5 passed, 5 total") {
		t.Errorf("%s prints\n%s", jest, out)
	}
	in = k.folder(t)
	in.add(t, "## Jest")
	vitest := in.add(t, "### Vitest")
	server := harness.Start(t, harness.Options{Args: []string{"--namespace-ports", "0"}})
	for _, environ := range [][]string{nil, {"SERVICEBUS_CONNECTION_STRING=" + server.ConnectionString()}} {
		if out := in.run(t, environ, "bash", "-euc", vitest); !strings.Contains(out, "1 passed") {
			t.Errorf("%v: %sprints\n%s", environ, vitest, out)
		}
	}
	answer, err := http.Get(fmt.Sprintf("http://localhost:%d/$minibus/v1/namespaces", server.Ports.HTTP))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct{ Namespaces []struct{ Name string } }
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Namespaces) != 1 {
		t.Errorf("Vitest leaves %v behind: %v", list.Namespaces, err)
	}
}

// command gives the binary's exit codes, and leaves standard input and output alone.
func (k kit) command(t *testing.T) {
	if out := k.run(t, nil, "npx", "minibus", "version"); !strings.HasPrefix(out, "minibus ") && !strings.HasPrefix(out, "Minibus ") {
		t.Errorf("npx minibus version prints %q", out)
	}
	for script, want := range map[string]int{"exit 7": 7, "no-such-program": 127, "kill -9 $PPID": -1} {
		cmd := k.program(t.Context(), nil, "node_modules/.bin/minibus", "run", "--", "sh", "-c", script)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", script, code, want, out)
		}
	}
	cmd := k.program(t.Context(), nil, "npx", "minibus", "run", "--quiet", "--", "sh", "-c", `cat; test -n "$SERVICEBUS_CONNECTION_STRING"`)
	cmd.Stdin = strings.NewReader("what it reads")
	if out, err := cmd.Output(); err != nil || string(out) != "what it reads" {
		t.Errorf("it prints %q: %v", out, err)
	}
}

// trapping is a script that counts signals, and ends with the second one.
const trapping = `n=0; trap 'n=$((n+1)); echo "signal $n"; test $n -lt 2 || exit 5' INT TERM; echo ready; while :; do sleep 0.05; done`

// signals reach the command once each, if there is no terminal.
func (k kit) signals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := k.program(t.Context(), nil, "node_modules/.bin/minibus", "run", "--quiet", "--", "sh", "-c", trapping)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		seen := &bytes.Buffer{}
		for _, awaited := range []string{"ready\n", "signal 1\n", "signal 2\n"} {
			readUntil(t, out, seen, awaited)
			_ = cmd.Process.Signal(signal) // after the last one it may have ended
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 5 || strings.Contains(seen.String(), "signal 3") {
			t.Errorf("after two of %v: exit code %d\n%s", signal, code, seen)
		}
	}
}

// readUntil reads up to a text.
func readUntil(t *testing.T, from interface{ Read([]byte) (int, error) }, seen *bytes.Buffer, text string) {
	t.Helper()
	buffer := make([]byte, 4096)
	for !strings.Contains(strings.ReplaceAll(seen.String(), "\r", ""), text) {
		n, err := from.Read(buffer)
		seen.Write(buffer[:n])
		if err != nil {
			t.Fatalf("no %q: %v\n%s", text, err, seen)
		}
	}
}
