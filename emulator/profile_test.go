package emulator_test

import (
	"fmt"
	"testing"
	"time"

	"minibus/emulator"
)

var everyProfile = []emulator.Profile{emulator.ProfileRelaxed, emulator.ProfileStandard, emulator.ProfilePremium, emulator.ProfileEmulator}

// TestQUO1_PART1_OnlyPartitionedEntitiesHoldMore: a profile without partitioned entities multiplies no size.
func TestQUO1_PART1_OnlyPartitionedEntitiesHoldMore(t *testing.T) {
	for _, l := range everyProfile {
		p := l.Limits()
		equal(t, fmt.Sprintf("profile %d: partitions", l), p.Partitions, map[bool]int64{true: 16, false: 1}[p.Partitioning])
	}
}

// TestDEC1_RelaxedTakesWhatAnyOtherProfileTakes and counts nothing.
func TestDEC1_RelaxedTakesWhatAnyOtherProfileTakes(t *testing.T) {
	relaxed := emulator.ProfileRelaxed.Limits()
	durations := func(p emulator.Limits) []emulator.DurationRange {
		return []emulator.DurationRange{p.Lock, p.TimeToLive, p.Window, p.AutoDelete}
	}
	numbers := func(p emulator.Limits) []emulator.IntRange {
		return []emulator.IntRange{p.Deliveries, p.Megabytes, p.Kilobytes}
	}
	for _, l := range everyProfile {
		p := l.Limits()
		for i, r := range durations(p) {
			for _, d := range []time.Duration{r.Least, r.Most} {
				if !r.Contains(d) || !durations(relaxed)[i].Contains(d) {
					t.Errorf("profile %d, duration %d: %v", l, i, d)
				}
			}
			equal(t, "an instant below the range", r.Contains(r.Least-1), false)
		}
		for i, r := range numbers(p) {
			for _, v := range []int64{r.Least, r.Most} {
				if !r.Contains(v) || !numbers(relaxed)[i].Contains(v) {
					t.Errorf("profile %d, number %d: %v", l, i, v)
				}
			}
			equal(t, "a number outside the range", r.Contains(r.Least-1) || r.Contains(r.Most+1), false)
		}
	}
	for _, n := range []int{relaxed.Entities, relaxed.Partitioned, relaxed.Subscriptions, relaxed.SQLFilters, relaxed.Correlations, relaxed.Rules,
		relaxed.Connections, relaxed.Receivers, relaxed.ID, relaxed.Property, relaxed.Batch, relaxed.Expression, relaxed.Statements, relaxed.Metadata} {
		equal(t, "a quota of relaxed", n, 0)
	}
}
