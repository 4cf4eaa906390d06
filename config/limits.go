package config

import (
	"fmt"
	"strings"
	"time"

	"minibus/emulator"
)

// Limits is a profile of ranges and quotas (DEC-1): what a configuration may ask for.
type Limits string

// The profiles.
const (
	LimitsRelaxed  Limits = "relaxed"  // everything that either the cloud or Microsoft's emulator takes; no quotas (DEC-5)
	LimitsStandard Limits = "standard" // Azure's Standard tier
	LimitsPremium  Limits = "premium"  // Azure's Premium tier
	LimitsEmulator Limits = "emulator" // Microsoft's emulator
)

// ParseLimits reads the name of a profile. The empty string is [LimitsRelaxed].
func ParseLimits(s string) (Limits, error) {
	switch l := Limits(strings.ToLower(s)); l {
	case "":
		return LimitsRelaxed, nil
	case LimitsRelaxed, LimitsStandard, LimitsPremium, LimitsEmulator:
		return l, nil
	}
	return "", fmt.Errorf("no profile of limits is called %q; there are relaxed, standard, premium and emulator", s)
}

// Broker is the profile as the broker has it.
func (l Limits) Broker() emulator.Limits {
	switch l {
	case LimitsStandard:
		return emulator.LimitsStandard
	case LimitsPremium:
		return emulator.LimitsPremium
	case LimitsEmulator:
		return emulator.LimitsEmulator
	}
	return emulator.LimitsRelaxed
}

// durationRange is what a duration property may be, ends included.
type durationRange struct {
	least, most time.Duration
	orForever   bool // Forever is allowed although it is above most

	// standard is taken although it is above most: entities that were made through the API have it, and are exported with it.
	standard time.Duration
}

// takes reports whether a file may have the duration.
func (r durationRange) takes(d time.Duration) bool {
	return r.contains(d) || r.standard > 0 && d == r.standard
}

func (r durationRange) contains(d time.Duration) bool {
	return d >= r.least && d <= r.most || r.orForever && d == Forever
}

func (r durationRange) String() string {
	if r.most == Forever {
		return FormatDuration(r.least) + " or more"
	}
	s := FormatDuration(r.least) + " to " + FormatDuration(r.most)
	if r.orForever {
		s += " (or the largest duration, for none)"
	}
	return s
}

// intRange is what a number may be, ends included. With step above 1 only its multiples are allowed.
type intRange struct{ least, most, step int64 }

func (r intRange) contains(v int64) bool {
	return v >= r.least && v <= r.most && (r.step <= 1 || v%r.step == 0)
}

func (r intRange) String() string {
	if r.least == r.most {
		return fmt.Sprint(r.least)
	}
	s := fmt.Sprintf("a whole number from %d to %d", r.least, r.most)
	if r.step > 1 {
		s += fmt.Sprintf(" in steps of %d", r.step)
	}
	return s
}

// limits are the numbers of a profile: ranges of values and, where above zero, quotas.
type limits struct {
	lock, ttl, window, autoDelete durationRange
	deliveries, sizeMB, messageKB intRange

	entities         int // queues and topics
	subscriptions    int // per topic
	rules            int // per subscription
	sqlFilters       int // per topic (QUO-10)
	correlations     int // per topic (QUO-10)
	userMetadata     int // characters
	partitioning     bool
	partitionedTimes int64 // factor by which a partitioned entity may be larger (QUO-1)
}

// table returns the numbers of the profile.
func (l Limits) table() limits {
	t := limits{
		lock:       durationRange{least: emulator.Resolution, most: 5 * time.Minute},
		ttl:        durationRange{least: time.Second, most: Forever},
		window:     durationRange{least: 20 * time.Second, most: 7 * 24 * time.Hour},
		autoDelete: durationRange{least: 5 * time.Minute, most: Forever},
		deliveries: intRange{1, 1<<31 - 1, 1},
		sizeMB:     intRange{1024, 5120, 1024},
		messageKB:  intRange{256, 256, 1},
		entities:   10_000, subscriptions: 2_000, sqlFilters: 2_000, correlations: 100_000,
		userMetadata: 1024,
		partitioning: true, partitionedTimes: 16,
	}
	switch l {
	case LimitsPremium:
		t.sizeMB = intRange{1024, 81_920, 1024}
		t.messageKB = intRange{1024, 102_400, 1}
		t.partitioning, t.partitionedTimes = false, 1
	case LimitsEmulator:
		t.lock.least = 5 * time.Second
		t.ttl = durationRange{least: 5 * time.Minute, most: time.Hour, orForever: true}
		t.window = durationRange{least: 5 * time.Second, most: 5 * time.Minute, standard: emulator.DefaultDedupWindow}
		t.autoDelete = durationRange{least: 5 * time.Minute, most: time.Hour, orForever: true}
		t.deliveries.most = 10
		t.sizeMB = intRange{100, 1024, 1}
		t.entities, t.subscriptions, t.rules, t.sqlFilters, t.correlations = 50, 50, 1000, 70, 1000
		t.partitioning = false
	case LimitsStandard:
	default: // relaxed: the union of both
		t.ttl.least = emulator.Resolution
		t.window.least = 5 * time.Second
		t.sizeMB = intRange{1, 1 << 31, 1}
		t.messageKB = intRange{1, 102_400, 1}
		t.entities, t.subscriptions, t.sqlFilters, t.correlations = 0, 0, 0, 0
		t.userMetadata = 0
	}
	return t
}
