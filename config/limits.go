package config

import (
	"fmt"
	"strings"
	"time"

	"minibus/emulator"
)

// Profile names a profile of ranges and quotas (DEC-1).
type Profile string

// The profiles.
const (
	ProfileRelaxed  Profile = "relaxed"  // everything that the cloud or Microsoft's emulator accepts; no quotas (DEC-5)
	ProfileStandard Profile = "standard" // Azure's Standard tier
	ProfilePremium  Profile = "premium"  // Azure's Premium tier
	ProfileEmulator Profile = "emulator" // Microsoft's emulator
)

// ParseProfile reads the name of a profile. The empty string is [ProfileRelaxed].
func ParseProfile(s string) (Profile, error) {
	switch l := Profile(strings.ToLower(s)); l {
	case "":
		return ProfileRelaxed, nil
	case ProfileRelaxed, ProfileStandard, ProfilePremium, ProfileEmulator:
		return l, nil
	}
	return "", fmt.Errorf("no profile of limits is called %q; there are relaxed, standard, premium and emulator", s)
}

// Broker returns the broker's profile of that name.
func (l Profile) Broker() emulator.Profile {
	switch l {
	case ProfileStandard:
		return emulator.ProfileStandard
	case ProfilePremium:
		return emulator.ProfilePremium
	case ProfileEmulator:
		return emulator.ProfileEmulator
	}
	return emulator.ProfileRelaxed
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
type limits = emulator.Limits

// table returns the ranges and quotas of the profile.
func (l Profile) table() limits { return l.Broker().Limits() }
