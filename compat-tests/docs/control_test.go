package docs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const controlPage = "docs/control-api.md"

var (
	blockPattern   = regexp.MustCompile("(?ms)^```(sh|json)\n(.*?)^```$")
	requestPattern = regexp.MustCompile(`(?m)^(curl .*?) +# (\d{3})$`)
)

// TestTheControlAPI sends the requests of the page from its top to its bottom. A block of JSON below lines shows the answer to the last of them.
func TestTheControlAPI(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	page := strings.ReplaceAll(moved(s, harness.ReadPage(t, controlPage)), "\\\n ", "")
	var script strings.Builder
	var requests [][]string
	shown := make(map[int]string)
	for _, block := range blockPattern.FindAllStringSubmatch(page, -1) {
		if block[1] == "json" {
			shown[len(requests)] = block[2]
			continue
		}
		for line := range strings.Lines(block[2]) {
			found := requestPattern.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if found == nil {
				script.WriteString(line)
				continue
			}
			requests = append(requests, found)
			fmt.Fprintf(&script, "%s -s -o answer%d -w '%%{http_code}\\n'\n", found[1], len(requests))
		}
	}
	dir := t.TempDir()
	out, err := shell(t, dir, script.String())
	got := strings.Fields(out)
	if err != nil || len(got) != len(requests) || len(got) < 60 {
		t.Fatalf("%v: %d requests print\n%s", err, len(requests), out)
	}
	for i, request := range requests {
		if got[i] != request[2] {
			t.Errorf("%s: %s", request[0], got[i])
		}
	}
	if len(shown) != 3 {
		t.Errorf("the page shows %d answers", len(shown))
	}
	for number, text := range shown {
		showsAnswer(t, filepath.Join(dir, fmt.Sprint("answer", number)), text)
	}
}

// showsAnswer compares the names in an answer with those that the page shows, and the text of a problem.
func showsAnswer(t *testing.T, file, text string) {
	t.Helper()
	answer, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var shown, got map[string]any
	for text, into := range map[string]*map[string]any{text: &shown, string(answer): &got} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(got))) || shown["detail"] != got["detail"] {
		t.Errorf("the page shows\n%s\nthe answer is\n%s", text, answer)
	}
}

// TestMessageJSON compares the names of docs/message-json.md with those of a message in the document of the API, and sends each typed value.
func TestMessageJSON(t *testing.T) {
	page := harness.ReadPage(t, "docs/message-json.md")
	var document struct {
		Components struct {
			Schemas struct {
				Message struct{ Properties map[string]any }
			}
		}
	}
	if err := json.Unmarshal([]byte(harness.ReadPage(t, "clients/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	tables, values, found := strings.Cut(page, "## Typed values")
	if !found {
		t.Fatal("the page has no typed values")
	}
	named := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(tables, -1) {
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			named[name[1]] = true
		}
	}
	if want := slices.Sorted(maps.Keys(document.Components.Schemas.Message.Properties)); !slices.Equal(slices.Sorted(maps.Keys(named)), want) {
		t.Errorf("the page names %v, a message has %v", slices.Sorted(maps.Keys(named)), want)
	}
	var properties []string
	for i, value := range regexp.MustCompile("`(\\{[^`]+\\})`").FindAllStringSubmatch(values, -1) {
		properties = append(properties, fmt.Sprintf(`"p%d": %s`, i, value[1]))
	}
	s := harness.Start(t, harness.Options{Alone: true})
	body := `{"applicationProperties": {` + strings.Join(properties, ", ") + `}}`
	answer, err := http.Post("http://"+httpAddr(s)+"/$minibus/v1/namespaces/$default/entities/queue.1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusCreated || len(properties) < 10 {
		t.Errorf("%v: %s to %s: %s", err, answer.Status, body, text)
	}
}

// TestPagesNameEveryValue wants each value that the document of the API lists for a name on the page that explains it.
func TestPagesNameEveryValue(t *testing.T) {
	type schema struct {
		Enum  []string
		Items *struct{ Enum []string }
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]schema }
		}
	}
	if err := json.Unmarshal([]byte(harness.ReadPage(t, "clients/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ page, schema, name string }{
		{connectionsPage, "Finding", "code"}, {connectionsPage, "Link", "waitsFor"},
		{faultsPage, "Fault", "kind"}, {faultsPage, "Fault", "operations"}, {controlPage, "Due", "kind"},
	} {
		found := document.Components.Schemas[of.schema].Properties[of.name]
		values := found.Enum
		if found.Items != nil {
			values = found.Items.Enum
		}
		page := harness.ReadPage(t, of.page)
		for _, value := range values {
			if !strings.Contains(page, "`"+value+"`") {
				t.Errorf("%s does not name %s of %s", of.page, value, of.name)
			}
		}
		if len(values) < 5 {
			t.Errorf("%s.%s has the values %v", of.schema, of.name, values)
		}
	}
}
