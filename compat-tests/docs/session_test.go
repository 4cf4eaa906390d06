package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// session is the terminal session of the picture in README.md.
var session = []string{
	"minibus --log-level warn &",
	"curl localhost:5300/queue.1/messages -d hello",
	"kill -9 $!",
	"minibus &> minibus.log &",
	"curl -X DELETE localhost:5300/queue.1/messages/head",
	"python first.py",
}

// entry is a command of the session and what it printed.
type entry struct {
	command string
	output  []string
}

// mark separates what the commands print.
const mark = "\x1e"

// record runs the session. The server has any free ports; what is recorded has the usual ones, and /home/you for the home directory.
func record(t *testing.T) []entry {
	t.Helper()
	dir := t.TempDir()
	recipe, err := harness.ReadRecipe(harness.ReadPage(t, "docs/python.md"), "## First program")
	if err != nil {
		t.Fatal(err)
	}
	amqp, http := freePort(t), freePort(t)
	there := strings.NewReplacer("localhost:5300", "localhost:"+http, "localhost:5672", "localhost:"+amqp)
	program := there.Replace(recipe.Files["first.py"])
	if err := harness.WriteFiles(dir, map[string]string{"first.py": program}); err != nil {
		t.Fatal(err)
	}
	const ready = "until minibus healthcheck; do sleep 0.1; done > /dev/null; sleep 0.5; curl -so minibus-ca.pem localhost:5300/minibus/ca.pem\n"
	var script strings.Builder
	script.WriteString("exec 2> /dev/null\ntrap 'kill -9 $!; wait' EXIT\n")
	for _, command := range session {
		fmt.Fprintf(&script, "printf '%s'\n%s\n", mark, there.Replace(command))
		if strings.HasSuffix(command, "&") {
			script.WriteString(there.Replace(ready))
		}
	}
	bin := t.TempDir()
	for name, target := range map[string]string{"minibus": harness.Binary(t), "python": harness.Python(t, filepath.Join("..", "python"))} {
		if name == "python" { // by a link, Python would not find the packages beside it
			wrapper := "#!/bin/sh\nexec " + target + " \"$@\"\n"
			if err := os.WriteFile(filepath.Join(bin, name), []byte(wrapper), 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir, "XDG_DATA_HOME=",
		"MINIBUS_AMQP_PORT="+amqp, "MINIBUS_HTTP_PORT="+http, "MINIBUS_TLS_PORT=off", "MINIBUS_NAMESPACE_PORTS=off")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the session ends with %v:\n%s", err, out)
	}
	back := strings.NewReplacer(dir, "/home/you", "TLS off", "TLS 5671", "localhost:"+amqp, "localhost:5672", "localhost:"+http, "localhost:5300", "AMQP "+amqp, "AMQP 5672", "HTTP "+http, "HTTP 5300")
	return entries(back.Replace(string(out)))
}

// version is the first line of the server, which differs from build to build.
var version = regexp.MustCompile(`(?m)^Minibus .*$`)

func entries(out string) []entry {
	var list []entry
	for i, text := range strings.Split(out, mark)[1:] {
		e := entry{command: session[i]}
		if text = version.ReplaceAllString(strings.TrimSpace(text), "Minibus"); text != "" {
			e.output = strings.Split(text, "\n")
		}
		list = append(list, e)
	}
	return list
}
