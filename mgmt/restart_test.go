package mgmt

import (
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// TestEntitiesMadeOverHTTPSurviveARestart, with the settings that only the administration uses.
func TestEntitiesMadeOverHTTPSurviveARestart(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	const all = twoRules + "<ForwardTo>sb://host:1/X</ForwardTo><UserMetadata>m</UserMetadata><EnableExpress>true</EnableExpress>"
	wants(t, b.do("PUT", "/x", queueEntry("<DefaultMessageTimeToLive>P10675199DT2H48M5.477S</DefaultMessageTimeToLive>")), 201)
	wants(t, b.do("PUT", "/q", queueEntry(all)), 201)
	wants(t, b.do("PUT", "/gone", queueEntry("")), 201)
	wants(t, b.do("DELETE", "/gone", ""), 200)
	before := b.do("GET", "/q", "").Body.String()
	namespace := b.do("GET", "/$namespaceinfo", "").Body.String()
	b.clock.advance(48 * time.Hour)
	b.restart()
	if after := b.do("GET", "/$namespaceinfo", "").Body.String(); between(after, "<CreatedTime>", "</CreatedTime>") != between(namespace, "<CreatedTime>", "</CreatedTime>") {
		t.Errorf("the namespace was created at another time:\n%s\n%s", namespace, after)
	}
	if after := b.do("GET", "/q", "").Body.String(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	wants(t, b.do("GET", "/x", ""), 200, "<DefaultMessageTimeToLive>P10675199DT2H48M5.477S<")
	wants(t, b.do("GET", "/gone", ""), 200, "Publicly Listed Services")
}

// TestDEC7_FilesTakeNothingAway: settings that a file does not have stay as they were set over the API.
func TestDEC7_FilesTakeNothingAway(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/q", queueEntry(twoRules)), 201)
	o := emulator.QueueOptions{MaxDeliveryCount: 3}
	for range 2 {
		if err := b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "q", Queue: &o}}); err != nil {
			t.Fatal(err)
		}
		wants(t, b.do("GET", "/q", ""), 200, twoRules, "<MaxDeliveryCount>3<")
		b.restart()
	}
}

// between returns the text between two texts.
func between(s, begin, end string) string {
	_, s, _ = strings.Cut(s, begin)
	s, _, _ = strings.Cut(s, end)
	return s
}
