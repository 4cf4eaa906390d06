package emulator_test

import (
	"math"
	"strings"
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

// What .NET has no value for is refused, and not changed to something near.
func TestTOP9_TextsThatAreNotOfTheirType(t *testing.T) {
	for name, texts := range map[string][2]string{
		"dateTime": {"0001-01-01T00:00:00Z 0001-01-01T01:00:00+01:00 9999-12-31T23:59:59.99999990Z 9999-12-31T23:59:59.9999999 2026-01-02T03:04:05.1-14:00",
			"0000-12-31T23:59:59Z 0001-01-01T00:59:59+01:00 9999-12-31T23:00:00-01:00 0000-01-01T00:00:00 2026-01-02T03:04:05.00000001Z " +
				"2026-01-02T03:04:05,5Z 2026-01-02T3:04:05Z 2026-01-02T03:04:05. 2026-02-30T00:00:00Z 2026-01-02"},
		"duration": {"PT0S P1Y2M3DT4H5M6.7S P10675199DT2H48M5.4775807S -P10675199DT2H48M5.4775808S PT0.12345670S -PT0S",
			"P10675199DT2H48M5.4775808S -P10675199DT2H48M5.4775809S P99999999999999999999Y PT0.00000001S P PT P1DT PT1,5S PT.5S P1W 01:00:00"},
		"double":  {"INF -INF NaN 1.7976931348623157e308 -1 +1. .5E-3", "1e309 -1e309 infinity +INF inf nan 0x1p3 1_0 1,5 ."},
		"float":   {"INF -INF NaN 3.4028234e38", "3.5e38 -1e300 Infinity NAN 0x1p3"},
		"boolean": {"true false 1 0", "True FALSE t yes 2"},
	} {
		vt, _ := emulator.ValueTypeOf(name)
		for _, text := range strings.Fields(texts[0]) {
			if _, ok := vt.Parse(" " + text + "\n"); !ok {
				t.Errorf("%s does not read %s", name, text)
			}
		}
		for _, text := range strings.Fields(texts[1]) {
			if v, ok := vt.Parse(text); ok {
				t.Errorf("%s reads %s as %v", name, text, v)
			}
		}
	}
	span, _ := emulator.ValueTypeOf("duration")
	least, _ := span.Parse("-P10675199DT2H48M5.4775808S")
	if ticks, ok := emulator.SpanOf(least); !ok || ticks != math.MinInt64 {
		t.Errorf("the least duration has %d ticks", ticks)
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
