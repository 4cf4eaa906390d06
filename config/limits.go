package config

import (
	"fmt"
	"strings"
	"time"

	"minibus/emulator"
)

// Limits names a profile of ranges and quotas (DEC-1).
type Limits string

// The profiles.
const (
	LimitsRelaxed  Limits = "relaxed"  // everything that the cloud or Microsoft's emulator accepts; no quotas (DEC-5)
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

// Broker returns the broker's profile of that name.
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

// durationRange is a range with its description in words.
type durationRange struct {
	emulator.DurationRange

	// standard is accepted even above Most: entities made through the API have it, and exports contain it.
	standard time.Duration
}

// takes reports whether a file may have the duration.
func (r durationRange) takes(d time.Duration) bool {
	return r.Contains(d) || r.standard > 0 && d == r.standard
}

func (r durationRange) String() string {
	if r.Most == Forever {
		return FormatDuration(r.Least) + " or more"
	}
	s := FormatDuration(r.Least) + " to " + FormatDuration(r.Most)
	if r.OrForever {
		s += " (or the largest duration, for none)"
	}
	return s
}

// intRange is a range with its description in words.
type intRange struct{ emulator.IntRange }

func (r intRange) String() string {
	if r.Least == r.Most {
		return fmt.Sprint(r.Least)
	}
	s := fmt.Sprintf("a whole number from %d to %d", r.Least, r.Most)
	if r.Step > 1 {
		s += fmt.Sprintf(" in steps of %d", r.Step)
	}
	return s
}

// limits are the ranges and quotas of a profile.
type limits = emulator.Profile

// table returns the ranges and quotas of the profile.
func (l Limits) table() limits { return l.Broker().Profile() }
