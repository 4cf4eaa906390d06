package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// SeenColumn is the column of what compat-tests/verify saw on Azure, with the Go SDK: what can't be asked of that
// can't be seen.
const SeenColumn = "azure"

// Seen is the result of a run of compat-tests/verify.
type Seen struct {
	Date   string     `json:"date"`   // 2026-01-31
	Domain string     `json:"domain"` // servicebus.windows.net: the host without the namespace's name
	Tier   string     `json:"tier"`
	SDK    string     `json:"sdk"`
	Cases  []SeenCase `json:"cases"`
	Tests  []SeenTest `json:"tests"`
}

// SeenCase says whether the namespace showed a behaviour.
type SeenCase struct {
	ID    string   `json:"id"`
	OK    bool     `json:"ok"`
	Tests []string `json:"tests"`
}

// SeenTest is the run of a test.
type SeenTest struct {
	Name    string   `json:"name"`
	OK      bool     `json:"ok"`
	Skipped bool     `json:"skipped,omitempty"` // the tier has nothing to ask for
	Seconds float64  `json:"seconds"`
	Saw     []string `json:"saw"`
}

// azures are the domains of the service.
var azures = []string{"servicebus.windows.net", "servicebus.chinacloudapi.cn", "servicebus.usgovcloudapi.net"}

// seenFile is a file of compat-tests/verify/seen.
type seenFile struct {
	Seen
	path string // relative to the root
	text []byte
}

// seenFiles reads what was seen, the oldest first: their names begin with the date.
func seenFiles(root string) ([]seenFile, error) {
	paths, err := filepath.Glob(filepath.Join(root, "compat-tests", "verify", "seen", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("look for what was seen: %w", err)
	}
	var all []seenFile
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read what was seen: %w", err)
		}
		file := seenFile{text: text, path: "compat-tests/verify/seen/" + filepath.Base(path)}
		if err := json.Unmarshal(text, &file.Seen); err != nil {
			return nil, fmt.Errorf("read what was seen: %s: %w", file.path, err)
		}
		all = append(all, file)
	}
	return all, nil
}

// line is where a file speaks of a behaviour.
func (f seenFile) line(id string) int {
	before, _, _ := bytes.Cut(f.text, []byte(`"id": "`+id+`"`))
	return 1 + bytes.Count(before, []byte("\n"))
}

// seenWitnesses are the cells of the column. A later file overrules an earlier one.
func seenWitnesses(files []seenFile) map[[2]string]witness {
	found := make(map[[2]string]witness)
	for _, file := range files {
		for _, c := range file.Cases {
			found[[2]string{SeenColumn, c.ID}] = witness{file: file.path, line: file.line(c.ID), differs: !c.OK}
		}
	}
	return found
}

// seenVersion says in the summary when and where the column was seen.
func seenVersion(files []seenFile) string {
	var all []string
	for _, file := range files {
		all = append(all, strings.TrimSpace(file.Tier+" "+file.Date))
	}
	if all == nil {
		return "nothing was sent in yet"
	}
	return strings.Join(all, ", ")
}
