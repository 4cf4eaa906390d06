package mgmt

import (
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
)

// TestDEC1_ValuesByProfile: the values that each profile refuses, and the texts.
func TestDEC1_ValuesByProfile(t *testing.T) {
	all := []emulator.Profile{emulator.ProfileRelaxed, emulator.ProfileStandard, emulator.ProfilePremium, emulator.ProfileEmulator}
	relaxed, standard, premium, ms := all[:1], all[1:2], all[2:3], all[3:]
	strict := all[1:]
	value := func(name, v string) string { return "<" + name + ">" + v + "</" + name + ">" }
	for _, tt := range []struct {
		in     []emulator.Profile
		body   string
		refuse string // "" is accepted
	}{
		{all, value("LockDuration", "PT5M"), ""},
		{all, value("LockDuration", "P25D"), "SubCode=40000. The supplied lock time exceeds the allowed maximum of '5' minutes. To know more visit " +
			"https://aka.ms/sbResourceMgrExceptions. . &#xD;\nParameter name: LockDuration&#xD;\nActual value was 25.00:00:00. TrackingId:"},
		{all, value("LockDuration", "PT0S"), "Parameter name: LockDuration"},
		{all, value("LockDuration", "-PT1M"), "Actual value was -00:01:00. "},
		{all, value("LockDuration", "one"), "The value is not a duration, such as PT30S."},
		{all, value("LockDuration", ""), "The element LockDuration has no value."},
		{all[:3], value("LockDuration", "PT0.5S"), ""},
		{all, value("DuplicateDetectionHistoryTimeWindow", "P25D"), "Parameter name: DuplicateDetectionHistoryTimeWindow&#xD;\nActual value was 25.00:00:00. "},
		{standard, value("DuplicateDetectionHistoryTimeWindow", "P25D"), "SubCode=40000. The value supplied must be between 00:00:20 and 7.00:00:00.&#xD;\n"},
		{relaxed, value("DuplicateDetectionHistoryTimeWindow", "PT5S"), ""},
		{standard, value("DuplicateDetectionHistoryTimeWindow", "PT5S"), "must be between"},
		{relaxed, value("DefaultMessageTimeToLive", "PT0.001S"), ""},
		{relaxed, value("DefaultMessageTimeToLive", "PT0.0009999S"), "The value supplied must be between 00:00:00.0010000 and 10675199.02:48:05.4775807."},
		{relaxed, value("DefaultMessageTimeToLive", "PT0.0000001S"), "Parameter name: DefaultMessageTimeToLive&#xD;\nActual value was 00:00:00.0000001. "},
		{all, value("LockDuration", "PT0.0009999S"), "Parameter name: LockDuration"},
		{standard, value("DefaultMessageTimeToLive", "PT0.5S"), "Parameter name: DefaultMessageTimeToLive"},
		{all, value("DefaultMessageTimeToLive", "PT0S"), "Parameter name: DefaultMessageTimeToLive"},
		{ms, value("DefaultMessageTimeToLive", "P1D"), "must be between 00:05:00 and 01:00:00"},
		{all, value("AutoDeleteOnIdle", "PT4M"), "Parameter name: AutoDeleteOnIdle"},
		{all, value("AutoDeleteOnIdle", "PT5M"), ""},
		{all, value("MaxSizeInMegabytes", "5120"), ""},
		{all, value("MaxDeliveryCount", "0"), "Parameter name: MaxDeliveryCount"},
		{all, value("MaxDeliveryCount", "99999999999999999999"), "The value is not a whole number."},
		{all[:3], value("MaxDeliveryCount", "2147483647"), ""},
		{ms, value("MaxDeliveryCount", "11"), "must be between 1 and 10"},
		{standard, value("MaxSizeInMegabytes", "16384"), "SubCode=40000. The specified value 16384 is invalid. The property 'MaxSizeInMegabytes', " +
			"must be one of the following values: 1024;2048;3072;4096;5120. "},
		{standard, value("MaxSizeInMegabytes", "16384") + value("EnablePartitioning", "true"), ""},
		{standard, value("MaxSizeInMegabytes", "1000"), "is invalid"},
		{premium, value("MaxSizeInMegabytes", "81920"), ""},
		{relaxed, value("MaxSizeInMegabytes", "16384"), ""},
		{standard, value("MaxMessageSizeInKilobytes", "1024"), "Parameter name: MaxMessageSizeInKilobytes"},
		{premium, value("MaxMessageSizeInKilobytes", "256"), "SubCode=40000. The property value for 'MaxMessageSizeInKilobytes' must be between 1024 and 102400.&#xD;\n"},
		{[]emulator.Profile{all[0], all[2]}, value("MaxMessageSizeInKilobytes", "102400"), ""},
		{all, value("MaxMessageSizeInKilobytes", "102401"), "Parameter name: MaxMessageSizeInKilobytes"},
		{relaxed, value("UserMetadata", strings.Repeat("ü", 2000)), ""},
		{strict, value("UserMetadata", strings.Repeat("ü", 1024)), ""},
		{strict, value("UserMetadata", strings.Repeat("ü", 1025)), "Parameter name: UserMetadata. "},
		{all, value("Status", "Renaming"), "The status must be"},
		{all, value("Status", "receivedisabled"), ""},
		{all, value("RequiresSession", "maybe"), "neither true nor false"},
		{all, value("IsAnonymousAccessible", "true"), "Anonymous access"},
		{premium, value("EnablePartitioning", "true"), "Partitioning of single entities"},
		{all[:2], value("EnableExpress", "true") + value("RequiresDuplicateDetection", "true"),
			"SubCode=40000. Both DelayedPersistence and RequiresDuplicateDetection property can't be enabled together."},
		{premium, value("EnableExpress", "true"), "SubCode=40000. "},
		{all[:2], value("EnableExpress", "true"), ""},
		{all, "<Unknown>1</Unknown><MessageCount>x</MessageCount><CreatedAt/>", ""}, // unknown elements are ignored
		{all, "<ForwardTo></ForwardTo><UserMetadata/>", ""},
	} {
		for _, l := range tt.in {
			w := newBus(t, l).do("PUT", "/q", queueEntry(tt.body))
			if tt.refuse == "" {
				wants(t, w, 201)
			} else {
				wants(t, w, 400, tt.refuse)
			}
			if t.Failed() {
				t.Fatalf("profile %d: %s", l, tt.body)
			}
		}
	}
}

// TestTIME7_TopicsAndSubscriptionsLiveForAMillisecond: a shorter time to live is refused at creation and update, as for queues.
func TestTIME7_TopicsAndSubscriptionsLiveForAMillisecond(t *testing.T) {
	b := newTopicBus(t)
	const less, least = "<DefaultMessageTimeToLive>PT0.0009S</DefaultMessageTimeToLive>", "<DefaultMessageTimeToLive>PT0.001S</DefaultMessageTimeToLive>"
	for path, entry := range map[string]func(string) string{"/t": topicEntry, "/t/Subscriptions/s": subscriptionEntry} {
		wants(t, b.do("PUT", path, entry(less), ifMatch, "*"), 400, "must be between 00:00:00.0010000 and")
		wants(t, b.do("PUT", path+"2", entry(less)), 400, "must be between 00:00:00.0010000 and")
		wants(t, b.do("PUT", path, entry(least), ifMatch, "*"), 200, least)
		wants(t, b.do("PUT", path+"2", entry(least)), 201, least)
	}
}

// TestQUO10_EntitiesByProfile: only the strict profiles count.
func TestQUO10_EntitiesByProfile(t *testing.T) {
	b := newBus(t, emulator.ProfileEmulator)
	for i := range 50 {
		wants(t, b.do("PUT", fmt.Sprintf("/q%d", i), queueEntry("")), 201)
	}
	wants(t, b.do("PUT", "/more", queueEntry("")), 403, "SubCode=40300. The maximum number of resources of type `Queue` has been reached or exceeded. Actual: 50, Max allowed: 50. ")
	wants(t, b.do("PUT", "/q1", queueEntry("")), 409)
	wants(t, b.do("PUT", "/q1", queueEntry(""), ifMatch, "*"), 200)
}

// TestDEC2_MessageSizes: the broker enforces the size that it shows.
func TestDEC2_MessageSizes(t *testing.T) {
	for l, want := range map[emulator.Profile]int64{emulator.ProfileStandard: 256 << 10, emulator.ProfilePremium: 1 << 20} {
		b := newBus(t, l)
		wants(t, b.do("PUT", "/q", queueEntry("")), 201, fmt.Sprintf("<MaxMessageSizeInKilobytes>%d<", want>>10))
		if got := b.queue("q").MaxMessageSize(); got != want {
			t.Errorf("profile %d: %d", l, got)
		}
	}
}

// TestDEC4_DefaultsOfTheAPI are Azure's, and the broker has the settings that it shows.
func TestDEC4_DefaultsOfTheAPI(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/q", queueEntry("")), 201)
	o := b.queue("q").Options()
	if o.MaxDeliveryCount != 10 || o.DefaultMessageTimeToLive != 0 || o.DuplicateDetectionWindow != emulator.DefaultDedupWindow || o.LockDuration != emulator.DefaultLockDuration {
		t.Errorf("settings are %+v", o)
	}
	if _, err := b.ns.Entities().CreateQueue("file", emulator.QueueOptions{}); err != nil {
		t.Fatal(err)
	}
	wants(t, b.do("GET", "/file", ""), 200, "<MaxDeliveryCount>10<", "<DuplicateDetectionHistoryTimeWindow>PT10M<", "<Status>Active<", "<LockDuration>PT1M<",
		"<DefaultMessageTimeToLive>P10675199DT2H48M5.4775807S<", "<EnableBatchedOperations>true<")
}
