package server

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"minibus/config"
	"minibus/internal/seed"
)

// seeded starts a server with the lines of a seed, and returns its log too.
func seeded(t *testing.T, s config.Settings, text string) (*Server, string, error) {
	t.Helper()
	lines, err := seed.Read([]string{"-"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	topology, report := config.Parse("Config.json", []byte(`{"UserConfig": {"Namespaces": [
		{"Name": "sbemulatorns", "Queues": [{"Name": "q"}, {"Name": "s", "Properties": {"RequiresSession": true}}],
			"Topics": [{"Name": "t", "Subscriptions": [{"Name": "none", "Rules": [{"Name": "r", "Properties": {"FilterType": "False"}}]}, {"Name": "all"}]}]},
		{"Name": "others", "Queues": [{"Name": "q"}]}]}}`), config.ProfileRelaxed)
	if report.Err() != nil {
		t.Fatal(report.Err())
	}
	var log bytes.Buffer
	s.NamespacePorts = "off"
	a, err := start(t, Config{Settings: s, NoNetwork: true, Topology: topology, Seed: lines, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	return a, log.String(), err
}

// counts returns the active, scheduled and dead-lettered messages of an entity.
func counts(t *testing.T, a *Server, namespace, entity string) [3]int64 {
	t.Helper()
	ns, err := a.Broker().Namespace(namespace)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ns.Entity(entity)
	if err != nil {
		t.Fatal(err)
	}
	c := e.Counts()
	return [3]int64{c.Active, c.Scheduled, c.DeadLetter}
}

const wholeSeed = `{"entity":"q","body":"1"}
{"entity":"q","scheduledEnqueueTime":"{{now+1h}}"}
{"entity":"s/$DeadLetterQueue","applicationProperties":{"DeadLetterReason":"poison"}}
{"entity":"t","body":"to all"}
{"entity":"t/Subscriptions/none","body":"whatever the rules say"}
{"entity":"t/Subscriptions/none/$DeadLetterQueue"}
{"entity":"q","namespace":"others"}
`

// TestSeedIsThereAtTheStart and is not sent again into the same database.
func TestSeedIsThereAtTheStart(t *testing.T) {
	s := config.Settings{Data: filepath.Join(t.TempDir(), "minibus.db")}
	for round := range 2 {
		a, log, err := seeded(t, s, wholeSeed)
		if err != nil {
			t.Fatal(err)
		}
		for entity, want := range map[string][3]int64{"q": {1, 1, 0}, "s": {0, 0, 1}, "t/Subscriptions/all": {1, 0, 0}, "t/Subscriptions/none": {1, 0, 1}} {
			if got := counts(t, a, "sbemulatorns", entity); got != want {
				t.Errorf("round %d: %s has %v, want %v", round, entity, got, want)
			}
		}
		if got := counts(t, a, "others", "q"); got != [3]int64{1, 0, 0} {
			t.Errorf("round %d: q of others has %v", round, got)
		}
		if want := []string{"seeded\" messages=7", "the seed is not sent"}[round]; !strings.Contains(strings.ReplaceAll(log, "msg=seeded", `msg=seeded"`), want) {
			t.Errorf("round %d: the log lacks %q:\n%s", round, want, log)
		}
		if err := a.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeedWithAMistakeSendsNothing, so that the next start can send it.
func TestSeedWithAMistakeSendsNothing(t *testing.T) {
	s := config.Settings{Data: filepath.Join(t.TempDir(), "minibus.db")}
	for text, want := range map[string]string{
		`{"entity":"qq"}`:                    "standard input:2: send the seed to qq: The messaging entity 'qq' could not be found. Did you mean q? Add the entity to the configuration, or correct the line",
		`{"entity":"s"}`:                     "standard input:2: send the seed to s: The SessionId was not set",
		`{"entity":"q","namespace":"third"}`: "standard input:2: send the seed to q in the namespace third: The namespace 'third' could not be found. Add the namespace to the configuration, or correct the line",
		`{"entity":"t/$DeadLetterQueue"}`:    "standard input:2: send the seed to t/$DeadLetterQueue: A message can be placed in",
		`{"entity":"t/all"}`:                 "Did you mean t/Subscriptions/all",
	} {
		_, _, err := seeded(t, s, "{\"entity\":\"q\"}\n"+text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	a, _, err := seeded(t, s, `{"entity":"q"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := counts(t, a, "sbemulatorns", "q"); got != [3]int64{1, 0, 0} {
		t.Errorf("after the mistakes q has %v", got)
	}
	_ = a.Close(context.Background())
}
