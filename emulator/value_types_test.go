package emulator_test

import (
	"testing"

	"minibus/emulator"
)

// Every type that a message may name reads its own example and refuses what is none of its texts.
func TestTypesOfValuesReadTheirExamples(t *testing.T) {
	for _, name := range emulator.ValueTypeNames() {
		vt, known := emulator.ValueTypeOf(name)
		v, ok := vt.Parse(vt.Example)
		if !known || !ok || v == nil {
			t.Errorf("%s does not read %q: %v", name, vt.Example, v)
		}
		if v, ok := vt.Parse("-x"); ok != (name == "string") {
			t.Errorf("%s reads -x as %v", name, v)
		}
		if v, ok := vt.Parse(""); ok != (name == "string") {
			t.Errorf("%s reads an empty text as %v", name, v)
		}
	}
}

// A value that was read selects messages whose property is of the type, and is the same after a restart.
func TestTOP9_ReadValuesSelect(t *testing.T) {
	guid, _ := emulator.ValueTypeOf("guid")
	span, _ := emulator.ValueTypeOf("duration")
	id, _ := guid.Parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	long, _ := span.Parse("P10675199DT2H48M5.4775807S") // more than time.Duration can say
	for name, v := range map[string]any{"guid": id, "span": long} {
		t.Run(name, func(t *testing.T) {
			r := emulator.RuleOptions{Name: "r", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"a": v}}}
			topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", r)}, func(b *broker) {
				for range 2 {
					b.sendProperty("a", v)
					b.sendProperty("a", "other")
					equal(t, "copies", len(b.sub("s").drain()), 1)
					b = b.again()
				}
			})
		})
	}
}
