package docs

import (
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// indented returns the blocks of a page that are indented by four, without the indentation.
func indented(page string) []string {
	var list []string
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n|^\n)+`).FindAllString(fencePattern.ReplaceAllString(page, ""), -1) {
		if text := strings.Trim(regexp.MustCompile(`(?m)^    `).ReplaceAllString(block, ""), "\n"); text != "" {
			list = append(list, text+"\n")
		}
	}
	return list
}

// TestTheExampleOfAConfigIsGood checks every whole Config.json of docs/configuration.md, as a user does who pastes it.
func TestTheExampleOfAConfigIsGood(t *testing.T) {
	examples := 0
	for _, text := range indented(harness.ReadPage(t, "docs/configuration.md")) {
		if !strings.HasPrefix(text, "{") {
			continue
		}
		examples++
		dir := t.TempDir()
		if err := harness.WriteFiles(dir, map[string]string{"Config.json": text}); err != nil {
			t.Fatal(err)
		}
		out, err := shell(t, dir, "minibus config check Config.json")
		if err != nil || strings.Contains(out, "warning") {
			t.Errorf("minibus config check: %v, %s", err, out)
		}
	}
	if examples == 0 {
		t.Error("the page has no example")
	}
}

// TestTheLinesOverHTTP runs the first block of docs/http.md. Where a user pastes a URL, the line takes it from the answer before.
func TestTheLinesOverHTTP(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	lines := moved(s, indented(harness.ReadPage(t, "docs/http.md"))[0])
	lock := regexp.MustCompile(`(?m)^curl (-i -X POST .*timeout=5")$`)
	paste := regexp.MustCompile(`(?m)^LOCATION=\.\.\..*$`)
	if !lock.MatchString(lines) || !paste.MatchString(lines) {
		t.Fatalf("the page has other lines:\n%s", lines)
	}
	lines = lock.ReplaceAllString(lines, "curl ${1} | tee locked")
	lines = paste.ReplaceAllString(lines, "LOCATION=$$(sed -n 's/^Location: //Ip' locked | tr -d '\\r')")
	// The message that was given back comes again, and only then is done with.
	lines = strings.Replace(lines, "curl -i -X DELETE $LOCATION", "curl -i -X DELETE $QUEUE/messages/head", 1)
	out, err := shell(t, t.TempDir(), lines)
	var statuses []string
	for _, found := range regexp.MustCompile(`(?m)^HTTP/1.1 (\d+)`).FindAllStringSubmatch(out, -1) {
		statuses = append(statuses, found[1])
	}
	if got := strings.Join(statuses, " "); err != nil || got != "201 201 200 201 200 200 200" {
		t.Errorf("%v; the answers are %s:\n%s", err, got, out)
	}
}

// TestTheExamplesInGo runs the code of docs/go.md and of README.md as the tests of a module of its own.
func TestTheExamplesInGo(t *testing.T) {
	harness.NeedAll(t, "to compile and run the examples in Go")
	var code strings.Builder
	examples := 0
	for page, name := range map[string]string{"docs/go.md": "TestOfThePage", "README.md": "TestOfReadme"} {
		for _, text := range indented(harness.ReadPage(t, page)) {
			if strings.HasPrefix(text, "bus := sbtest.Start(t") {
				examples++
				code.WriteString("\nfunc " + name + "(t *testing.T) {\n" + text + "delivers(t, client, err)\n}\n")
			}
		}
	}
	if examples != 2 {
		t.Fatalf("found %d examples", examples)
	}
	dir := t.TempDir()
	if err := harness.WriteFiles(dir, map[string]string{"shop_test.go": goExamples + code.String()}); err != nil {
		t.Fatal(err)
	}
	harness.GoModule(t, dir)
	out := harness.Run(t, harness.OwnModule, "go", "-C", dir, "test", "-count=1", "-v", ".")
	if strings.Count(out, "--- PASS") != examples {
		t.Errorf("want that %d tests pass", examples)
	}
}

// goExamples is the file around the examples.
const goExamples = `package shop

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

var _ = time.Second

func delivers(t *testing.T, client *azservicebus.Client, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("x")}, nil); err != nil {
		t.Fatal(err)
	}
}
`
