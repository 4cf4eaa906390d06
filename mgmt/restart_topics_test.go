package mgmt

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"minibus/emulator"
)

// TestCNT8_TimesSurviveARestart, and so do topics, subscriptions and rules.
func TestCNT8_TimesSurviveARestart(t *testing.T) {
	b := newTopicBus(t)
	wants(t, b.do("PUT", "/q", queueEntry("")), 201)
	wants(t, b.do("PUT", "/t/Subscriptions/s/Rules/r", ruleBody(`<Filter i:type="SqlFilter"><SqlExpression>a = @d</SqlExpression><Parameters>`+
		typed("@d", "duration", "P1DT2H", "l28", "http://www.w3.org/2001/XMLSchema")+
		typed("@local", "dateTime", "2020-07-05T11:12:13.5", "l28", "http://www.w3.org/2001/XMLSchema")+`</Parameters></Filter>`)), 201)
	b.clock.advance(time.Minute)
	wants(t, b.do("PUT", "/q", queueEntry("<UserMetadata>x</UserMetadata>"), ifMatch, "*"), 200)
	wants(t, b.do("PUT", "/t", topicEntry(twoRules), ifMatch, "*"), 200)
	wants(t, b.do("PUT", "/t/Subscriptions/s", subscriptionEntry("<UserMetadata>y</UserMetadata>"), ifMatch, "*"), 200)
	paths := []string{"/q", "/t", "/t/Subscriptions/s", "/t/Subscriptions/s/Rules/r", "/t/Subscriptions/s/Rules/$Default"}
	before := map[string]string{}
	for _, p := range paths {
		before[p] = b.do("GET", p, "").Body.String()
	}
	wants(t, b.do("GET", "/q", ""), 200, "<CreatedAt>2026-03-01T10:00:00Z<", "<UpdatedAt>2026-03-01T10:01:00Z<")
	b.clock.advance(time.Hour)
	b.restart()
	for _, p := range paths {
		after := b.do("GET", p, "")
		if p == "/t/Subscriptions/s" || p == "/t" { // the time of their last use is not stored
			wants(t, after, 200, "<CreatedAt>2026-03-01T10:00:00Z<", "<UpdatedAt>2026-03-01T10:01:00Z<")
			continue
		}
		if after.Body.String() != before[p] {
			t.Errorf("before\n%s\nafter\n%s", before[p], after.Body)
		}
	}
}

// TestDEC7_FilesTakeNothingAwayFromTopics is TestDEC7_FilesTakeNothingAway for topics and subscriptions.
func TestDEC7_FilesTakeNothingAwayFromTopics(t *testing.T) {
	b := newTopicBus(t)
	const forward = "<ForwardTo>sb://host:1/target</ForwardTo>"
	wants(t, b.do("PUT", "/target", queueEntry("")), 201)
	wants(t, b.do("PUT", "/t", topicEntry(twoRules), ifMatch, "*"), 200)
	wants(t, b.do("PUT", "/t/Subscriptions/s", subscriptionEntry(forward), ifMatch, "*"), 200)
	o := emulator.TopicOptions{UserMetadata: "file", Subscriptions: []emulator.SubscriptionOptions{
		{Name: "s", Queue: emulator.QueueOptions{MaxDeliveryCount: 3, ForwardTo: "target"}},
	}}
	for range 2 {
		if err := b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "t", Topic: &o}}); err != nil {
			t.Fatalf("ensure: %v", err)
		}
		wants(t, b.do("GET", "/t", ""), 200, twoRules, "<UserMetadata>file<")
		wants(t, b.do("GET", "/t/Subscriptions/s", ""), 200, forward, "<MaxDeliveryCount>3<")
		b.restart()
	}
}

// TestIDLE1_IdleClocksRestartWithTheProcess although the times of the entity are older (DEC-21).
func TestIDLE1_IdleClocksRestartWithTheProcess(t *testing.T) {
	b := newBus(t, emulator.ProfileRelaxed)
	wants(t, b.do("PUT", "/q", queueEntry("<AutoDeleteOnIdle>PT5M</AutoDeleteOnIdle>")), 201)
	b.clock.advance(time.Hour)
	b.restart()
	wants(t, b.do("GET", "/q", ""), 200, "<CreatedAt>2026-03-01T10:00:00Z<")
}

// TestListsCostTheSameHoweverManyEntitiesThereAre measures allocated bytes, which do not depend on the machine.
func TestListsCostTheSameHoweverManyEntitiesThereAre(t *testing.T) {
	b := newBus(t, emulator.ProfileStandard)
	n := 0
	create := func(upTo int) {
		for ; n < upTo; n++ {
			if _, err := b.ns.Entities().CreateQueue(fmt.Sprintf("q%05d", (n*7919)%10_007), emulator.QueueOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cost := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 50 {
			wants(t, b.do("GET", "/$Resources/queues?$skip=3&$top=5", ""), 200, `rel="next"`)
			wants(t, b.do("GET", "/q00000", ""), 200, "QueueDescription")
			wants(t, b.do("PUT", "/q00000", queueEntry("")), 409)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	create(10)
	cost()
	few := cost()
	create(2000)
	if many := cost(); many > few*12/10 {
		t.Errorf("with ten entities %d bytes, with two thousand %d", few, many)
	}
}
