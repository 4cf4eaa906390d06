package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Queue is a queue of a generated Config.json. A zero field is left out and gets the default of Config.json files.
type Queue struct {
	Name             string
	LockDuration     string // ISO 8601, for example PT5S
	MaxDeliveryCount int
	TimeToLive       string // ISO 8601
}

// WriteConfig writes a Config.json with these queues and returns its path.
func WriteConfig(t testing.TB, queues ...Queue) string {
	t.Helper()
	type object = map[string]any
	var list []object
	for _, q := range queues {
		properties := object{}
		if q.LockDuration != "" {
			properties["LockDuration"] = q.LockDuration
		}
		if q.MaxDeliveryCount != 0 {
			properties["MaxDeliveryCount"] = q.MaxDeliveryCount
		}
		if q.TimeToLive != "" {
			properties["DefaultMessageTimeToLive"] = q.TimeToLive
		}
		list = append(list, object{"Name": q.Name, "Properties": properties})
	}
	config := object{"UserConfig": object{
		"Namespaces": []object{{"Name": "sbemulatorns", "Queues": list, "Topics": []object{}}},
		"Logging":    object{"Type": "Console"},
	}}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		t.Fatalf("encode Config.json: %v", err)
	}
	path := filepath.Join(t.TempDir(), "Config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatalf("write Config.json: %v", err)
	}
	return path
}
