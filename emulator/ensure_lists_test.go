package emulator_test

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// ensuring runs f with a function that makes one entity of a configuration true and returns the lines that the log got. The
// configuration is made true a second time, after a restart, when it must change nothing.
func ensuring(t *testing.T, f func(b *broker, ensure func(emulator.EntityConfig) string)) {
	var lines bytes.Buffer
	bubbleWith(t, emulator.Options{Logger: slog.New(slog.NewTextHandler(&lines, nil))}, emulator.QueueOptions{}, func(b *broker) {
		f(b, func(c emulator.EntityConfig) string {
			t.Helper()
			lines.Reset()
			if err := b.ns.Configuration().Ensure([]emulator.EntityConfig{c}); err != nil {
				t.Fatalf("ensure: %v", err)
			}
			said := lines.String()
			b.restart()
			before, _ := b.j.seen()
			if err := b.ns.Configuration().Ensure([]emulator.EntityConfig{c}); err != nil {
				t.Fatalf("ensure again: %v", err)
			}
			after, _ := b.j.seen()
			equal(t, "changes of the second start", after-before, 0)
			return said
		})
	})
}

// says wants the lines of a log to be as many as the words, and each to have its words.
func says(t *testing.T, what, lines string, words ...string) {
	t.Helper()
	got := strings.Count(lines, "\n")
	for _, w := range words {
		if !strings.Contains(lines, w) {
			t.Errorf("%s: no line says %s", what, w)
		}
	}
	if got != len(words) {
		t.Errorf("%s: %d lines, want %d:\n%s", what, got, len(words), lines)
	}
}

func TestDEC7_AnAbsentListOfRulesKeepsAndAnEmptyOneClears(t *testing.T) {
	ensuring(t, func(b *broker, ensure func(emulator.EntityConfig) string) {
		with := func(rules []emulator.RuleOptions) emulator.EntityConfig {
			return emulator.EntityConfig{Path: "t", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "s", Rules: rules}}}}
		}
		says(t, "creation", ensure(with([]emulator.RuleOptions{})))
		equalSlices(t, "an empty list at creation", b.on("t/Subscriptions/s").ruleNames(), "$Default")
		says(t, "another rule", ensure(with([]emulator.RuleOptions{sql("r", "a = 1")})), "setting=Rules before=[$Default] now=[r]")
		b.on("t/Subscriptions/s").addRule(sql("later", "1=0"))
		says(t, "no list", ensure(with(nil)))
		equalSlices(t, "no list", b.on("t/Subscriptions/s").ruleNames(), "later", "r")
		b.on("t").sendTexts("lost") // neither rule takes it
		says(t, "an empty list", ensure(with([]emulator.RuleOptions{})), `setting=Rules before="[r later]" now=[$Default]`)
		equalSlices(t, "an empty list", b.on("t/Subscriptions/s").ruleNames(), "$Default")
		b.on("t").sendTexts("taken")
		equal(t, "copies", bodies(b.on("t/Subscriptions/s").peek()), "taken")
		says(t, "an empty list of subscriptions", ensure(emulator.EntityConfig{Path: "t", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{}}}))
		equal(t, "a subscription that the list leaves out", b.ns.Exists("t/Subscriptions/s"), true)
	})
}

func TestDEC7_SupportOrderingIsKeptUnlessTheFileNamesIt(t *testing.T) {
	ensuring(t, func(b *broker, ensure func(emulator.EntityConfig) string) {
		with := func(asked *bool) emulator.EntityConfig { // as package config reads it
			o := emulator.TopicOptions{SupportOrdering: true}
			if o.Admin.SupportOrdering = asked; asked != nil {
				o.SupportOrdering = *asked
			}
			return emulator.EntityConfig{Path: "t", Topic: &o}
		}
		shown := func(what string, want bool) {
			t.Helper()
			o := b.ns.Entities().Topics()[0].Options()
			equal(t, what, o.SupportOrdering, want)
			equal(t, what+", as asked for", o.Admin.SupportOrdering == nil && want || o.Admin.SupportOrdering != nil && *o.Admin.SupportOrdering == want, true)
		}
		says(t, "creation", ensure(with(nil)))
		shown("default", true)
		says(t, "the default, named", ensure(with(new(true))))
		says(t, "false", ensure(with(new(false))), "entity=t setting=SupportOrdering before=default now=false")
		shown("false", false)
		says(t, "absent", ensure(with(nil)))
		shown("kept", false)
		says(t, "true", ensure(with(new(true))), "setting=SupportOrdering before=false now=true")
		shown("true", true)
	})
}

func TestDEC7_EachChangeIsALine(t *testing.T) {
	ensuring(t, func(b *broker, ensure func(emulator.EntityConfig) string) {
		queue := emulator.QueueOptions{LockDuration: 10 * time.Second, UserMetadata: strings.Repeat("ä", 200), EnableBatchedOperations: new(false),
			Admin: emulator.Admin{AuthorizationRules: []emulator.AuthorizationRule{{KeyName: "one", PrimaryKey: "secret", Rights: []string{"Listen"}}}}}
		lines := ensure(emulator.EntityConfig{Path: "q", Queue: &queue})
		says(t, "queue", lines, "entity=q setting=LockDuration before=0s now=10s", "setting=UserMetadata",
			"setting=EnableBatchedOperations before=default now=false", "setting=AuthorizationRules before=[] now=[one]")
		if strings.Contains(lines, "secret") || strings.Contains(lines, strings.Repeat("ä", 101)) {
			t.Errorf("the log shows too much: %s", lines)
		}
		topic := emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "s"}}}
		says(t, "creation", ensure(emulator.EntityConfig{Path: "t", Topic: &topic}))
		topic.Subscriptions[0] = emulator.SubscriptionOptions{Name: "S", Queue: emulator.QueueOptions{MaxDeliveryCount: 3}, DeadLetteringOnFilterErrors: new(false)}
		topic.DefaultMessageTimeToLive = time.Hour
		says(t, "topic", ensure(emulator.EntityConfig{Path: "t", Topic: &topic}), "entity=t setting=DefaultMessageTimeToLive before=0s now=1h0m0s",
			"entity=t/Subscriptions/s setting=MaxDeliveryCount before=0 now=3", "entity=t/Subscriptions/s setting=DeadLetteringOnFilterErrors before=default now=false")
	})
}

// A rule with a value that is not a number is the same rule at the next start, wherever it has the value.
func TestDEC7_NaNIsEqualToItself(t *testing.T) {
	nan := emulator.Values{"@a": math.NaN(), "@b": float32(math.NaN())}
	for what, r := range map[string]emulator.RuleOptions{
		"parameter":           {Name: "r", SQL: "a = @a", Parameters: nan},
		"parameter of action": {Name: "r", SQL: "1=1", Action: "SET a = @a", ActionParameters: nan},
		"property":            {Name: "r", Correlation: &emulator.CorrelationFilter{Properties: nan}},
	} {
		t.Run(what, func(t *testing.T) {
			ensuring(t, func(b *broker, ensure func(emulator.EntityConfig) string) {
				with := func(r emulator.RuleOptions) emulator.EntityConfig {
					return emulator.EntityConfig{Path: "t", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{withRules("s", r)}}}
				}
				says(t, "creation", ensure(with(r)))
				says(t, "the same", ensure(with(r)))
				says(t, "a number", ensure(with(sql("r", "a = 1"))), "setting=Rules")
			})
		})
	}
}
