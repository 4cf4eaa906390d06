package harness

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// Queue is a queue of a generated Config.json. A zero field is left out and gets the default of Config.json files.
// Durations are ISO 8601, for example PT5S.
type Queue struct {
	Name                      string
	LockDuration              string
	MaxDeliveryCount          int
	TimeToLive                string
	DeadLetterExpired         bool
	RequiresSession           bool
	DetectDuplicates          bool
	DuplicateWindow           string
	ForwardTo                 string
	ForwardDeadLettersTo      string
	Partitioned               bool
	Status                    string
	MaxSizeInMegabytes        int
	MaxMessageSizeInKilobytes int
}

// properties are the queue's Properties in Config.json.
func (q Queue) properties() map[string]any {
	all := map[string]any{
		"LockDuration": q.LockDuration, "MaxDeliveryCount": q.MaxDeliveryCount, "DefaultMessageTimeToLive": q.TimeToLive,
		"DeadLetteringOnMessageExpiration": q.DeadLetterExpired, "RequiresSession": q.RequiresSession,
		"RequiresDuplicateDetection": q.DetectDuplicates, "DuplicateDetectionHistoryTimeWindow": q.DuplicateWindow,
		"ForwardTo": q.ForwardTo, "ForwardDeadLetteredMessagesTo": q.ForwardDeadLettersTo,
		"EnablePartitioning": q.Partitioned, "Status": q.Status,
		"MaxSizeInMegabytes": q.MaxSizeInMegabytes, "MaxMessageSizeInKilobytes": q.MaxMessageSizeInKilobytes,
	}
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == "" || value == 0 || value == false })
	return all
}

// WriteConfig writes a Config.json with these queues and returns its path.
func WriteConfig(t testing.TB, queues ...Queue) string {
	t.Helper()
	type object = map[string]any
	var list []object
	for _, q := range queues {
		list = append(list, object{"Name": q.Name, "Properties": q.properties()})
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
