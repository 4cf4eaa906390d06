package config

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse feeds the parser with anything: it must not panic or hang, must bound what it reports, must put every
// finding inside the file, and must either give a topology or an error, never both and never neither.
func FuzzParse(f *testing.F) {
	for _, text := range quirks {
		f.Add([]byte(text), byte(0))
	}
	f.Add(defaultJSON, byte(3))
	for _, file := range []string{"testdata/azure.arm.json", "testdata/symbolic.arm.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, byte(0))
	}
	for i, text := range []string{"", "{", "[", `{"UserConfig":`, queueProps(`"LockDuration": "PT1H", "Status": 1, "MaxDeliveryCount": 1e400`),
		wrap(`"Queues": [{"Name": "a"}, {"Name": "A", "Properties": {"ForwardTo": "x"}}]`), rule(`"FilterType": 9`), typedProperty(`{"Type": "dateTime", "Value": "2026"}`), "\xFF\xFE{\x00", "/*", "// x",
		strings.Repeat(`{"a":`, 80)} {
		f.Add([]byte(text), byte(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, profile byte) {
		profiles := []Profile{ProfileRelaxed, ProfileStandard, ProfilePremium, ProfileEmulator}
		topology, report := Parse("f", data, profiles[int(profile)%len(profiles)])
		if (topology == nil) != (report.Err() != nil) {
			t.Fatalf("topology %v with error %v", topology, report.Err())
		}
		if len(report.Findings) > 3*maxFindings {
			t.Fatalf("%d findings", len(report.Findings))
		}
		lines := len(strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' || r == '\r' })) + len(data)
		for _, finding := range report.Findings {
			if finding.Line < 0 || finding.Line > lines+1 {
				t.Fatalf("line %d of %d", finding.Line, lines)
			}
			if s := finding.String(); strings.Contains(s, "\n") || utf8.ValidString(string(data)) && !utf8.ValidString(s) {
				t.Fatalf("finding %q", s)
			}
		}
		if topology == nil {
			return
		}
		for _, e := range topology.Entities {
			if e.Path == "" || (e.Queue == nil) == (e.Topic == nil) {
				t.Fatalf("entity %+v", e)
			}
		}
	})
}

// FuzzParseDuration checks that FormatDuration writes a parsed duration in a form that parses to the same.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"PT1M", "P1Y2M3W4DT5H6M7.8S", "P10675199DT2H48M5.4775807S", "pt0,5s", "PT.", "-PT1S", "00:01:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			_ = suggestDuration(s)
			return
		}
		if d < 0 {
			t.Fatalf("%q is negative: %v", s, d)
		}
		if again, err := ParseDuration(FormatDuration(d)); err != nil || again != d {
			t.Fatalf("%q: %v is written %s and read %v, %v", s, d, FormatDuration(d), again, err)
		}
	})
}
