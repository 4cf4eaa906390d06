package docs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const recipes = "docs/recipes.md"

// settings are the lines by which commands in a shell know the server.
func settings(s *harness.Server) string {
	return fmt.Sprintf("export SERVICEBUS_CONNECTION_STRING='%s' MINIBUS_AMQP_PORT=%d MINIBUS_HTTP_PORT=%d MINIBUS_TLS_PORT=off MINIBUS_EPHEMERAL=1\n", s.ConnectionString(), s.Ports.AMQP, s.Ports.HTTP)
}

// TestTheRecipesForAShell runs the lines of the page against a Minibus, each recipe against one of its own.
func TestTheRecipesForAShell(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	for begin, want := range map[string][]string{
		"minibus send queue.1 invoice": {"met: 1 active", "invoice"},
		"minibus send queue.1 '{'":     {"unreadable", "moved to the dead-letter queue because of unreadable", "resubmitted 1 dead letter"},
		"minibus send queue.1 hello\n": {"no-receiver", "open connection"},
		"echo '{\"body\"":              {`"body":"{\"id\":1}"`, `"timeToLive":"PT1H"`, `"tenant":"a"`},
	} {
		s := harness.Start(t, harness.Options{Alone: true})
		lines := blockOf(t, recipes, begin)
		out, err := shell(t, t.TempDir(), settings(s)+lines)
		if err != nil {
			t.Errorf("%v: the lines\n%sprint\n%s", err, lines, out)
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("the lines\n%sprint\n%s\nwant %q in it", lines, out, text)
			}
		}
	}
}

// TestTheBrokerIsKilledInTheMiddle runs the lines of the page, which start two servers one after the other.
func TestTheBrokerIsKilledInTheMiddle(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	ports := fmt.Sprintf("export MINIBUS_AMQP_PORT=%s MINIBUS_HTTP_PORT=%s MINIBUS_TLS_PORT=off\nunset SERVICEBUS_CONNECTION_STRING\nset +e\n", freePort(t), freePort(t))
	out, err := shell(t, t.TempDir(), ports+blockOf(t, recipes, "minibus --data shop.db")+"code=$?; kill $!; wait $!; exit $code\n")
	if err != nil || strings.Count(out, " hello\n") != 3 {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}

// TestTheRecipesForPlatforms runs the programs of the page after a message was scheduled for next week.
func TestTheRecipesForPlatforms(t *testing.T) {
	harness.NeedAll(t, "to run the JavaScript and Python kits")
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	packaging := filepath.ToSlash(root) + "/packaging/"
	for language, program := range map[string][2]string{
		"js":     {"program.mjs", "import minibus from \"" + packaging + "npm/index.js\";\nconst { Minibus } = minibus;\n"},
		"python": {"program.py", "import sys\nsys.path.insert(0, \"" + packaging + "python\")\nsys.dont_write_bytecode = True\nfrom minibus import Minibus\n"},
	} {
		s := harness.Start(t, harness.Options{Alone: true})
		_, code, _ := strings.Cut(harness.ReadPage(t, recipes), "\n```"+language+"\n")
		code, _, found := strings.Cut(code, "```")
		if !found {
			t.Fatalf("the page has no program in %s", language)
		}
		dir := t.TempDir()
		if err := harness.WriteFiles(dir, map[string]string{program[0]: program[1] + code}); err != nil {
			t.Fatal(err)
		}
		run := map[string]string{"js": "node", "python": "python3"}[language]
		out, err := shell(t, dir, settings(s)+"minibus send queue.1 invoice --schedule 7d\n"+run+" "+program[0]+"\nminibus receive queue.1 -o jsonl\n")
		if err != nil || !strings.Contains(out, `"body":"invoice"`) {
			t.Errorf("%v: the program in %s prints\n%s", err, language, out)
		}
	}
}
