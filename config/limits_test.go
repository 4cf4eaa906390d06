package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// accepted reports whether a text has no errors in a profile.
func accepted(text string, profile Profile) bool {
	_, report := Parse("Config.json", []byte(text), profile)
	return report.Err() == nil
}

func TestDEC1_DEC5_QUO9_QUO10_ProfilesHaveTheirRanges(t *testing.T) {
	tests := []struct {
		name, text string
		in         string // initials of the profiles that accept it: relaxed, standard, premium, emulator
	}{
		{"lock 1 s", queueProps(`"LockDuration": "PT1S"`), "rsp"},
		{"lock 5 s", queueProps(`"LockDuration": "PT5S"`), "rspe"},
		{"lock 5 min", queueProps(`"LockDuration": "PT5M"`), "rspe"},
		{"lock 0", queueProps(`"LockDuration": "PT0S"`), ""},
		{"window 5 s", queueProps(`"DuplicateDetectionHistoryTimeWindow": "PT5S"`), "re"},
		{"window 4 s", queueProps(`"DuplicateDetectionHistoryTimeWindow": "PT4S"`), ""},
		{"window 5 min", queueProps(`"DuplicateDetectionHistoryTimeWindow": "PT5M"`), "rspe"},
		{"window 7 d", queueProps(`"DuplicateDetectionHistoryTimeWindow": "P7D"`), "rsp"},
		{"TTL 1 ms", queueProps(`"DefaultMessageTimeToLive": "PT0.001S"`), "r"},
		{"TTL 1 s", queueProps(`"DefaultMessageTimeToLive": "PT1S"`), "rsp"},
		{"TTL 5 min", queueProps(`"DefaultMessageTimeToLive": "PT5M"`), "rspe"},
		{"TTL 14 d", queueProps(`"DefaultMessageTimeToLive": "P14D"`), "rsp"},
		{"deliveries 10", queueProps(`"MaxDeliveryCount": 10`), "rspe"},
		{"deliveries 11", queueProps(`"MaxDeliveryCount": 11`), "rsp"},
		{"deliveries 2^31-1", queueProps(`"MaxDeliveryCount": 2147483647`), "rsp"},
		{"deliveries 2^31", queueProps(`"MaxDeliveryCount": 2147483648`), ""},
		{"idle 5 min", queueProps(`"AutoDeleteOnIdle": "PT5M"`), "rspe"},
		{"idle 4 min", queueProps(`"AutoDeleteOnIdle": "PT4M"`), "r"}, // as PT5M
		{"idle 1 d", queueProps(`"AutoDeleteOnIdle": "P1D"`), "rsp"},
		{"size 5120", queueProps(`"MaxSizeInMegabytes": 5120`), "rspe"},
		{"size 1500", queueProps(`"MaxSizeInMegabytes": 1500`), "re"},
		{"size 5121", queueProps(`"MaxSizeInMegabytes": 5121`), "r"},
		{"size 10240", queueProps(`"MaxSizeInMegabytes": 10240`), "rp"},
		{"size 81920 partitioned", queueProps(`"MaxSizeInMegabytes": 81920, "EnablePartitioning": true`), "rs"},
		{"message 256", queueProps(`"MaxMessageSizeInKilobytes": 256`), "rse"},
		{"message 2048", queueProps(`"MaxMessageSizeInKilobytes": 2048`), "rp"},
		{"partitioned", queueProps(`"EnablePartitioning": true`), "rs"},
		{"metadata", queueProps(`"UserMetadata": "` + strings.Repeat("x", 1025) + `"`), "r"},
		{"expression", sqlRule("a = '" + strings.Repeat("x", 1018) + "'"), "rspe"},
		{"too long expression", sqlRule("a = '" + strings.Repeat("x", 1019) + "'"), "r"},
		{"expression beyond the basic plane", sqlRule("a = '" + strings.Repeat("😀", 509) + "'"), "rspe"},
		{"too long beyond the basic plane", sqlRule("a = '" + strings.Repeat("😀", 509) + "x'"), "r"},
		{"too long action", rule(`"FilterType": "True", "Action": {"SqlExpression": "REMOVE a` + strings.Repeat(" ", 1017) + `"}`), "r"},
		{"32 statements", rule(`"FilterType": "True", "Action": {"SqlExpression": "` + strings.Repeat("REMOVE a;", 32) + `"}`), "rspe"},
		{"33 statements", rule(`"FilterType": "True", "Action": {"SqlExpression": "` + strings.Repeat("REMOVE a;", 33) + `"}`), "r"},
		{"51 queues", wrap(`"Queues": [` + many(51, `{"Name": "q%d"}`) + `]`), "rsp"},
		{"1,001 queues", wrap(`"Queues": [` + many(1_001, `{"Name": "q%d"}`) + `]`), "rs"},
		{"10,001 queues", wrap(`"Queues": [` + many(10_001, `{"Name": "q%d"}`) + `]`), "r"},
		{"51 subscriptions", wrap(`"Topics": [{"Name": "t", "Subscriptions": [` + many(51, `{"Name": "s%d"}`) + `]}]`), "rsp"},
		{"2,001 subscriptions", wrap(`"Topics": [{"Name": "t", "Subscriptions": [` + many(2_001, `{"Name": "s%d"}`) + `]}]`), "r"},
		{"71 SQL filters", wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [` +
			many(71, `{"Name": "r%d", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"}}}`) + `]}]}]`), "rsp"},
		{"1,001 rules", wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [` +
			many(1_001, `{"Name": "r%d", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"To": "x"}}}`) + `]}]}]`), "rsp"},
	}
	for _, tt := range tests {
		got := ""
		for _, profile := range []Profile{ProfileRelaxed, ProfileStandard, ProfilePremium, ProfileEmulator} {
			if accepted(tt.text, profile) {
				got += string(profile[0])
			}
		}
		if got != tt.in {
			t.Errorf("%s: accepted by %q, want %q", tt.name, got, tt.in)
		}
	}
}

// sqlRule returns a document with one rule with that SQL filter.
func sqlRule(text string) string {
	return rule(`"FilterType": "Sql", "SqlFilter": {"SqlExpression": "` + text + `"}`)
}

// many joins n copies of a format that has one number.
func many(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

func TestDEC5_ValuesBeyondTheEmulatorAreOneNote(t *testing.T) {
	_, report := parse(t, queueProps(`"LockDuration": "PT1S", "MaxDeliveryCount": 100, "DefaultMessageTimeToLive": "P1D", "AutoDeleteOnIdle": "P1D"`), ProfileRelaxed)
	if report.Count(Note) != 1 || !strings.Contains(report.Findings[0].String(), "accepted 4 values that Microsoft's emulator does not take ($.UserConfig") {
		t.Errorf("findings %v", report.Findings)
	}
}

func TestDEC5_OtherProfilesPointToRelaxed(t *testing.T) {
	_, report := Parse("Config.json", []byte(queueProps(`"LockDuration": "PT1S"`)), ProfileEmulator)
	if err := report.Err(); err == nil || !strings.HasSuffix(err.Error(), `found "PT1S"; allowed: PT5S to PT5M; change it, or start with --limits relaxed`) {
		t.Errorf("error %v", err)
	}
}

func TestDEC9_Names(t *testing.T) {
	for _, tt := range []struct{ name, in string }{
		{"a", "rse"}, {"A9", "rse"}, {"a/b/c", "rse"}, {"a.b-c_d", "rse"}, {"orders.v2", "rse"},
		{"a-", "rs"}, {"MassTransit/Fault--Shop/Order--", "rs"}, {"--", ""},
		{"_a", "r"}, {"a_", "r"}, {"a~b", "r"}, {"~a", "r"}, {"fault~queue_", "r"},
		{"-a", ""}, {"a.", ""}, {"/a", ""}, {"a/", ""}, {"a//b", ""}, {".", ""}, {"..", ""}, {"a/../b", ""}, {"a/./b", ""},
		{"a b", ""}, {"a\\tb", ""}, {`a\\b`, ""}, {"$a", ""}, {"a/$b", ""}, {"ä", ""}, {"a@b", ""}, {"a?b", ""}, {"a#b", ""}, {"a*b", ""},
		{strings.Repeat("a", 260), "rse"}, {strings.Repeat("a", 261), ""}, {"", ""},
	} {
		text, got := wrap(`"Queues": [{"Name": "`+tt.name+`"}]`), ""
		for _, profile := range []Profile{ProfileRelaxed, ProfileStandard, ProfileEmulator} {
			if accepted(text, profile) {
				got += string(profile[0])
			}
		}
		if got != tt.in {
			t.Errorf("%q: accepted by %q, want %q", tt.name, got, tt.in)
		}
	}
	for _, name := range []string{"a/b", strings.Repeat("a", 51), "$Default"} {
		if accepted(wrap(`"Topics": [{"Name": "t", "Subscriptions": [{"Name": "`+name+`"}]}]`), ProfileRelaxed) {
			t.Errorf("subscription %q was accepted", name)
		}
	}
}

func TestParseProfile(t *testing.T) {
	for in, want := range map[string]Profile{"": ProfileRelaxed, "Standard": ProfileStandard, "PREMIUM": ProfilePremium, "emulator": ProfileEmulator} {
		if got, err := ParseProfile(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := ParseProfile("basic"); err == nil {
		t.Error("basic was accepted")
	}
}

func TestParseDuration(t *testing.T) {
	day := 24 * time.Hour
	for in, want := range map[string]time.Duration{
		"PT1M": time.Minute, "pt1m": time.Minute, " PT1M ": time.Minute, "PT5S": 5 * time.Second, "PT1H30M": 90 * time.Minute,
		"P1D": day, "P1DT1S": day + time.Second, "P1W": 7 * day, "P1M": 30 * day, "P1Y": 365 * day, "P1Y2M3DT4H5M6S": 365*day + 60*day + 3*day + 4*time.Hour + 5*time.Minute + 6*time.Second,
		"PT0.5S": 500 * time.Millisecond, "PT0,5S": 500 * time.Millisecond, "PT.5S": 500 * time.Millisecond, "PT1.S": time.Second, "PT1.5H": 90 * time.Minute,
		"PT0S": 0, "P0D": 0, "PT00005S": 5 * time.Second, "PT0.0000001S": 100 * time.Nanosecond, "PT4.4775807S": 4477580700 * time.Nanosecond,
		"P10675199DT2H48M5.4775807S": Forever, "P300Y": Forever, "PT99999999999999999999999S": Forever, "P106751DT23H47M16.9S": Forever,
		"P106751D": 106751 * day,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "P", "PT", "P1DT", "1M", "PT1", "P1S", "PT1D", "PT1M1H", "PT1S1S", "-PT1S", "PT-1S", "PT1 M", "PT1..5S", "PT.S", "P1H", "00:01:00", "PTS", "PT1ä"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("%q was read as %v", in, got)
		}
	}
}

func TestFormatDurationIsReadBack(t *testing.T) {
	for _, d := range []time.Duration{0, 1, time.Millisecond, time.Second, 90 * time.Second, time.Hour, 25 * time.Hour, 7 * 24 * time.Hour, 1500 * time.Millisecond, Forever} {
		if got, err := ParseDuration(FormatDuration(d)); err != nil || got != d {
			t.Errorf("%v: %q is read as %v, %v", d, FormatDuration(d), got, err)
		}
	}
	if got := FormatDuration(26*time.Hour + 61*time.Second + 500*time.Millisecond); got != "P1DT2H1M1.5S" {
		t.Errorf("got %s", got)
	}
}

// Durations keep their ticks of 100 ns, seven digits, as an export writes them.
func TestDurationsKeepTheirTicks(t *testing.T) {
	for ticks := time.Duration(1); ticks < 1<<55; ticks = ticks*3 + 1 {
		for _, d := range []time.Duration{ticks * 100, ticks*100 + time.Hour - 100} {
			if got, err := ParseDuration(FormatDuration(d)); err != nil || got != d {
				t.Errorf("%d ns is written %s and read %d, %v", d, FormatDuration(d), got, err)
			}
		}
	}
}
