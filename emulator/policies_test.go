package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

// TestAuthorizationRulesHaveTimes that a configuration which says the same does not change, and a restart neither.
func TestAuthorizationRulesHaveTimes(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		rule := func(key string) []emulator.AuthorizationRule {
			return []emulator.AuthorizationRule{{KeyName: "sends", Rights: []string{"Send"}, PrimaryKey: key, SecondaryKey: "s"}}
		}
		apply := func(key string) {
			t.Helper()
			admin := emulator.Admin{AuthorizationRules: rule(key)}
			if err := b.ns.Configuration().Ensure([]emulator.EntityConfig{
				{Path: "declared", Queue: &emulator.QueueOptions{Admin: admin}},
				{Path: "topic", Topic: &emulator.TopicOptions{Admin: admin}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(what string, created, modified int64) {
			t.Helper()
			for _, path := range []string{"declared", "topic"} {
				admin := b.on(path).q.Options().Admin
				if path == "topic" {
					topic, err := b.on(path).q.Topic()
					if err != nil {
						t.Fatal(err)
					}
					admin = topic.Options().Admin
				}
				r := admin.AuthorizationRules[0]
				equal(t, path+" "+what+": created", r.CreatedAt, created)
				equal(t, path+" "+what+": modified", r.ModifiedAt, modified)
			}
		}
		start := time.Now().UnixMilli()
		apply("one")
		want("made", start, start)
		wait(time.Second)
		apply("one")
		want("the same", start, start)
		b.restart()
		apply("one")
		want("after a restart", start, start)
		apply("two")
		want("changed", start, start+1000)
	})
}
