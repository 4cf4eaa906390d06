package compat

import (
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// rows returns the entities and messages in a database. No server may be running on it.
func rows(t *testing.T, data string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.Query("SELECT id || ' ' || kind || ' ' || path || ' ' || deleted || ' ' || coalesce(options, '') FROM entity" +
		" UNION ALL SELECT row || ' ' || entity || ' ' || seq || ' ' || state FROM message")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var line string
		if err := found.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A start that is refused for something at the end of the file leaves the database unchanged, although the file has new entities,
// changed settings and other rules before that.
func TestDEC7_ARefusedStartChangesNothing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "minibus.db")
	queues, subscriptions := []harness.Queue{{Name: "q"}, {Name: "last"}}, []harness.Subscription{subscription("s", harness.Rule{Name: "r", SQL: "1=1"})}
	for i := range 69 {
		subscriptions[0].Rules = append(subscriptions[0].Rules, harness.Rule{Name: fmt.Sprint("r", i), SQL: "1=0"})
	}
	b := startServer(t, harness.Options{Config: harness.WriteTopology(t, queues, []harness.Topic{{Name: "t", Subscriptions: subscriptions}}), Data: data, Alone: true})
	sender, err := b.client.NewSender("q", nil)
	b.must("make a sender", err)
	b.must("send", sender.SendMessage(b.ctx, message("kept"), nil))
	b.server.Stop(t)
	before := rows(t, data)
	if len(before) != 5 {
		t.Fatalf("the database has %v", before)
	}
	changed := []harness.Queue{{Name: "q", MaxDeliveryCount: 7}, {Name: "new"}}
	other := harness.Topic{Name: "t", Subscriptions: []harness.Subscription{subscription("s", harness.Rule{Name: "other", SQL: "1=0"}), subscription("new")}}
	for name, tt := range map[string]struct {
		queue  harness.Queue // after valid entries
		topic  harness.Topic
		limits string
		want   string
	}{
		"a fixed setting":                   {harness.Queue{Name: "last", RequiresSession: true}, harness.Topic{}, "relaxed", "exists with another RequiresSession"},
		"a queue that is a topic":           {harness.Queue{Name: "T"}, harness.Topic{}, "relaxed", "a topic has that name"},
		"a topic that is a queue":           {harness.Queue{}, harness.Topic{Name: "LAST"}, "relaxed", "a queue has that name"},
		"a fixed setting of a topic":        {harness.Queue{}, harness.Topic{Name: "t", DetectDuplicates: true}, "relaxed", "exists with another RequiresDuplicateDetection"},
		"filters with those that are there": {harness.Queue{}, harness.Topic{Name: "t", Subscriptions: []harness.Subscription{subscription("one-more")}}, "emulator", "SQL filters"},
		"a rule":                            {harness.Queue{}, harness.Topic{Name: "z", Subscriptions: []harness.Subscription{subscription("z", harness.Rule{Name: "r", SQL: "=="})}}, "relaxed", "SqlExpression"},
		"a target":                          {harness.Queue{Name: "z", ForwardTo: "nowhere"}, harness.Topic{}, "relaxed", "nowhere"},
	} {
		list, topics := changed, []harness.Topic{other}
		if tt.queue.Name != "" {
			list = append(list[:len(list):len(list)], tt.queue)
		}
		if tt.queue.Name == "T" || tt.topic.Name == "t" {
			topics = nil // a file may have the name only once
		}
		if tt.topic.Name != "" {
			topics = append(topics, tt.topic)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, err := exec.CommandContext(ctx, harness.Binary(t), "--config", harness.WriteTopology(t, list, topics), "--data", data, "--limits", tt.limits,
			"--host", "127.0.0.1", "--amqp-port", "0", "--tls-port", "0", "--http-port", "0").CombinedOutput()
		cancel()
		if err == nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: the start ended with %v and says %s", name, err, out)
		}
		if now := rows(t, data); !reflect.DeepEqual(now, before) {
			t.Errorf("%s: the database has %v\nand had %v", name, now, before)
		}
	}
}
