package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

const trouble = "docs/troubleshooting.md"

// patience bounds the wait for a line of the log.
const patience = 20 * time.Second

// symptom is a section of the page: its title and the line to look for, if it has one.
type symptom struct{ title, line string }

var symptomPattern = regexp.MustCompile("(?s)^(.*?)\n(?:.*?\n```log\n(.*?)\n```\n)?")

// symptoms reads the page.
func symptoms(t *testing.T) []symptom {
	t.Helper()
	page := harness.ReadPage(t, trouble)
	var list []symptom
	for _, section := range strings.Split(page, "\n### ")[1:] {
		section, _, _ = strings.Cut(section, "\n## ")
		found := symptomPattern.FindStringSubmatch(section + "\n")
		list = append(list, symptom{found[1], found[2]})
	}
	return list
}

// pattern makes an expression of a line of the page, in which ... stands for anything.
func pattern(line string) *regexp.Regexp {
	parts := strings.Split(line, "...")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?m)^" + strings.Join(parts, ".*") + "$")
}

// TestTroubleshooting provokes each symptom of the page for which it quotes a line, and wants that line.
func TestTroubleshooting(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	provokers := provokers()
	for _, s := range symptoms(t) {
		provoke := provokers[s.title]
		delete(provokers, s.title)
		if s.line == "" && provoke == nil {
			continue // what never reaches Minibus leaves no line
		}
		t.Run(s.title, func(t *testing.T) {
			t.Parallel()
			if s.line == "" || provoke == nil {
				t.Fatalf("the page has the line %q and this package provokes it: %v; both or none", s.line, provoke != nil)
			}
			seen, want := provoke(t), pattern(s.line)
			for deadline := time.Now().Add(patience); !want.MatchString(seen()); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the page promises\n%s\nand Minibus says\n%s", s.line, seen())
				}
			}
		})
	}
	for title := range provokers {
		t.Errorf("the page has no symptom %q", title)
	}
}

// TestALineOfThePageStandsForItself wants that the expression takes nothing but its line.
func TestALineOfThePageStandsForItself(t *testing.T) {
	line := pattern(`... msg="a" name=... (x)`)
	for text, want := range map[string]bool{
		"time=1 msg=\"a\" name=b (x)": true, "first\ntime=1 msg=\"a\" name= (x)\nlast": true,
		"time=1 msg=\"b\" name=b (x)": false, "time=1 msg=\"a\" name=b (x) more": false, "time=1 msg=\"a\"\nname=b (x)": false,
	} {
		if line.MatchString(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

// once makes a provoker's answer of a text that does not change.
func once(text string) func() string { return func() string { return text } }

// prints runs the binary with arguments that must make it fail, and returns what it prints.
func prints(t *testing.T, args ...string) func() string {
	t.Helper()
	out, err := harness.Output(nil, harness.Binary(t), args...)
	if err == nil {
		t.Fatalf("minibus %s succeeds and prints %s", strings.Join(args, " "), out)
	}
	return once(out)
}

// started runs the binary with arguments and any ports, where it must fail.
func started(t *testing.T, args ...string) func() string {
	t.Helper()
	return prints(t, append([]string{"--amqp-port", "0", "--tls-port", "off", "--http-port", "0", "--namespace-ports", "off"}, args...)...)
}

// withQueue returns a Config.json with a queue a that has a property.
func withQueue(t *testing.T, property string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(`{"UserConfig":{"Namespaces":[{"Name":"sbemulatorns","Queues":[{"Name":"a","Properties":{%s}}]}]}}`, property)
	if err := harness.WriteFiles(dir, map[string]string{"Config.json": text}); err != nil {
		t.Fatal(err)
	}
	return dir + "/Config.json"
}
