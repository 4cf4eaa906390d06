package cli

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"minibus/compat-tests/harness"
)

// TestMain wants a test of every command, if all tests have run: one in which it succeeds, one in which it fails, and one with JSON in a pipe.
func TestMain(m *testing.M) {
	harness.AtOnce(4)
	code := m.Run()
	if chosen := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String(); code == 0 && harness.All() && chosen == "" && flag.Lookup("test.list").Value.String() == "" {
		for _, lack := range lacking() {
			fmt.Fprintln(os.Stderr, lack)
			code = 1
		}
	}
	harness.Cleanup()
	os.Exit(code)
}

// What the tests have seen of a command.
const (
	succeeds = "in which it succeeds"
	fails    = "in which it fails"
	piped    = "that reads its JSON"
)

// seen has what the tests have seen, by command.
var seen = struct {
	sync.Mutex
	of map[string][]string
}{of: make(map[string][]string)}

// see notes how a command ended.
func see(args []string, code int) {
	var words []string
	format := false
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-c", a == "--ca", a == "--connection", a == "--auth":
			i++
		case a == "-o":
			i++
			format = i < len(args) && strings.HasPrefix(args[i], "json")
		case strings.HasPrefix(a, "-o"):
			format = strings.HasPrefix(a, "-ojson")
		case !strings.HasPrefix(a, "-"):
			words = append(words, a)
		}
	}
	what := fails
	if code == 0 {
		what = succeeds
	}
	seen.Lock()
	defer seen.Unlock()
	for n := 1; n <= min(2, len(words)); n++ {
		name := strings.Join(words[:n], " ")
		seen.of[name] = append(seen.of[name], what)
		if format && code == 0 {
			seen.of[name] = append(seen.of[name], piped)
		}
	}
}

// withoutJSON are the commands whose output has a form of its own. Those of completion come from the library, and can't fail.
var withoutJSON = []string{"mcp", "message body"}

// lacking returns a line for each test that is missing. The help of the binary says which commands there are.
func lacking() (lines []string) {
	binary, err := harness.Build("")
	if err != nil {
		return []string{err.Error()}
	}
	help, err := exec.Command(binary, "--help").Output() //nolint:noctx // it ends at once
	if err != nil {
		return []string{"minibus --help: " + err.Error()}
	}
	_, clients, _ := strings.Cut(string(help), "\nEntities of a Minibus")
	clients, _, _ = strings.Cut(clients, "\nEach of these flags")
	for _, line := range regexp.MustCompile(`(?m)^  minibus (\S+)(?: ([a-z|]+)(?:\s|$))?`).FindAllStringSubmatch(clients, -1) {
		commands := []string{line[1]}
		if strings.Contains(line[2], "|") {
			commands = nil
			for second := range strings.SplitSeq(line[2], "|") {
				commands = append(commands, line[1]+" "+second)
			}
		}
		for _, c := range commands {
			for _, want := range []string{succeeds, fails, piped} {
				waived := want == piped && slices.Contains(withoutJSON, c) || want != succeeds && line[1] == "completion"
				if !waived && !slices.Contains(seen.of[c], want) {
					lines = append(lines, fmt.Sprintf("minibus %s has no test %s", c, want))
				}
			}
		}
	}
	if len(lines) == 0 && len(seen.of) < 20 {
		lines = []string{fmt.Sprintf("the help names few commands; the tests have seen %d", len(slices.Collect(maps.Keys(seen.of))))}
	}
	return lines
}
