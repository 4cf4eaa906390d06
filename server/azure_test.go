package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"minibus/config"
	"minibus/emulator"
)

// TestSettingsThatAzureRefuses show in lists of entities and in what why says, if no tier takes them, and only there
// where everything is taken.
func TestSettingsThatAzureRefuses(t *testing.T) {
	const file = `{"UserConfig": {"Namespaces": [{"Name": "ns", "Queues": [
		{"Name": "usual", "Properties": {}},
		{"Name": "large", "Properties": {"MaxMessageSizeInKilobytes": 2048}},
		{"Name": "quick", "Properties": {"RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "PT5S"}}],
		"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Properties": {"DefaultMessageTimeToLive": "PT0.5S"},
			"Rules": [{"Name": "long", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "a = '%s'"}}}]}]}]}]}}`
	text := fmt.Sprintf(file, strings.Repeat("x", 2000))
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff}, Topology: topologyOf(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range a.AzureRefusals(a.broker.Default()) {
		got = append(got, fmt.Sprint(r.Entity, " ", r.Setting, " ", r.Tiers))
	}
	want := []string{"large MaxMessageSizeInKilobytes [standard]", "quick DuplicateDetectionHistoryTimeWindow [standard premium]",
		"t/Subscriptions/s DefaultMessageTimeToLive [standard premium]", "t/Subscriptions/s long.SqlExpression [standard premium]"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the tiers refuse\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	shown := func(path string, parts ...string) {
		t.Helper()
		status, text := get(t, local(a.ports.AMQP, "/$minibus/v1/namespaces/$default/"+path))
		for _, part := range parts {
			if status != http.StatusOK || !strings.Contains(text, part) {
				t.Errorf("%s: %d, %s; want %s in it", path, status, text, part)
			}
		}
		if strings.Contains(path, "large") && strings.Contains(text, "refuse") {
			t.Errorf("%s: %s, though a tier takes it", path, text)
		}
	}
	shown("entities", `"rule":"DuplicateDetectionHistoryTimeWindow","text":"DuplicateDetectionHistoryTimeWindow: found`)
	shown("tree", `"rule":"DefaultMessageTimeToLive"`, `"text":"rule long: SqlExpression: `)
	shown("entities/quick", `"beyondAzure":[{`)
	shown("entities/quick/why", `"code":"beyond-azure","blocks":false,"text":"Azure refuses a setting: DuplicateDetectionHistoryTimeWindow: found`)
	shown("entities/t%2FSubscriptions%2Fs/why", `rule long`)
	shown("entities/large/why", "large")
	if _, err := a.broker.Default().Entities().UpdateQueue("quick", emulator.QueueOptions{RequiresDuplicateDetection: true}); err != nil {
		t.Fatal(err)
	}
	if all := a.AzureRefusals(a.broker.Default()); len(all) != len(want)-1 {
		t.Errorf("after the change the tiers refuse %v", all)
	}
	strict := emulator.ProfileStandard
	other, err := a.CreateNamespace("other-one", emulator.NamespaceOptions{Limits: &strict})
	if err != nil {
		t.Fatal(err)
	}
	if all := a.AzureRefusals(other); len(all) != 0 {
		t.Errorf("where the limits hold, the tiers refuse %v", all)
	}
}

// TestManyEntitiesAreNotReadForEveryAnswer, only when all are asked for.
func TestManyEntitiesAreNotReadForEveryAnswer(t *testing.T) {
	var queues []string
	for i := range maxRead + 1 {
		queues = append(queues, fmt.Sprintf(`{"Name": "q%d", "Properties": {"DefaultMessageTimeToLive": "PT0.5S"}}`, i))
	}
	text := `{"UserConfig": {"Namespaces": [{"Name": "ns", "Queues": [` + strings.Join(queues, ",") + `]}]}}`
	a, err := start(t, Config{Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff}, Topology: topologyOf(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	ns := a.broker.Default()
	if some, all := a.AzureRefusals(ns), a.AllAzureRefusals(ns); len(some) != 0 || len(all) == 0 {
		t.Errorf("%d and %v", len(some), all)
	}
}
