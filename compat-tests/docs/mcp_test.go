package docs

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"minibus/compat-tests/harness"
)

const assistantsPage = "docs/mcp.md"

// TestTheConfigurationsOfAssistants starts what each block of the page says, but for the container, and finds the tools that the page names.
func TestTheConfigurationsOfAssistants(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	page := harness.ReadPage(t, assistantsPage)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 4 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	tools := make(map[string]bool)
	for _, block := range blocks {
		var file map[string]map[string]struct {
			Command string
			Args    []string
		}
		if err := json.Unmarshal([]byte(block[1]), &file); err != nil {
			t.Fatalf("%v in %s", err, block[1])
		}
		for _, servers := range file {
			server := servers["minibus"]
			if server.Command == "docker" {
				continue
			}
			cmd := exec.Command(harness.Binary(t), server.Args...)
			cmd.Env = append(cmd.Environ(), "SERVICEBUS_CONNECTION_STRING="+s.ConnectionString())
			session, err := mcp.NewClient(&mcp.Implementation{Name: "page", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for tool, err := range session.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				tools[tool.Name] = true
			}
			if r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_entities"}); err != nil || r.IsError {
				t.Errorf("%v: %v, %+v", server.Args, err, r)
			}
			_ = session.Close()
		}
	}
	_, table, _ := strings.Cut(page, "| To find out |")
	for _, name := range regexp.MustCompile("`([a-z]+_[a-z_]+|wait)`").FindAllStringSubmatch(table, -1) {
		if !tools[name[1]] {
			t.Errorf("there is no tool %s", name[1])
		}
	}
}
