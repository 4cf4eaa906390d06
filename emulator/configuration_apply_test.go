package emulator_test

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// beforeAndAfter is a namespace with a queue q, and a topic t with the subscriptions a and b, and what it is to become: q changed, t with b changed and
// another rule for it, c made, a left out, and a new topic u with a subscription that forwards to the new queue n.
func beforeAndAfter() (before, after []emulator.EntityConfig) {
	rule := func(name, text string) []emulator.RuleOptions { return []emulator.RuleOptions{sql(name, text)} }
	before = []emulator.EntityConfig{
		{Path: "q", Queue: &emulator.QueueOptions{}}, {Path: "extra", Queue: &emulator.QueueOptions{}},
		{Path: "t", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "a"}, {Name: "b", Rules: rule("r", "x = 1")}}}},
	}
	after = []emulator.EntityConfig{
		{Path: "Q", Queue: &emulator.QueueOptions{MaxDeliveryCount: 3}},
		{Path: "n", Queue: &emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "u"}},
		{Path: "t", Topic: &emulator.TopicOptions{DefaultMessageTimeToLive: time.Hour, Subscriptions: []emulator.SubscriptionOptions{
			{Name: "c"}, {Name: "b", Queue: emulator.QueueOptions{MaxDeliveryCount: 2}, Rules: rule("s", "x = 2")}}}},
		{Path: "u", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "s", Queue: emulator.QueueOptions{ForwardTo: "n"}}}}},
	}
	return before, after
}

func (b *broker) mustApply(list []emulator.EntityConfig, prune bool) []emulator.Planned {
	b.t.Helper()
	plan, err := b.ns.Configuration().Apply(list, prune)
	if err != nil {
		b.t.Fatalf("apply: %v", err)
	}
	return plan
}

// actions returns what a plan does, by path.
func actions(plan []emulator.Planned) map[string]emulator.Action {
	m := map[string]emulator.Action{}
	for _, p := range plan {
		m[p.Path] = p.Action
	}
	return m
}

// TestApply_ChangesEverythingByOneChange of the journal, keeps the messages, and is as it was foreseen, also after a restart.
func TestApply_ChangesEverythingByOneChange(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		before, after := beforeAndAfter()
		b.mustApply(before, false)
		b.on("q").sendTexts("kept")
		b.on("t").sendTexts("no rule of b takes it")
		foreseen, err := b.ns.Configuration().Preview(after, true)
		if err != nil {
			t.Fatal(err)
		}
		was := b.entitiesOf()
		changes, _ := b.j.seen()
		plan := b.mustApply(after, true)
		more, _ := b.j.seen()
		equal(t, "changes of the journal", more-changes, 1)
		if reflect.DeepEqual(was, b.entitiesOf()) {
			t.Error("nothing changed")
		}
		want := map[string]emulator.Action{"q": emulator.ActionChange, "n": emulator.ActionCreate, "t": emulator.ActionChange, "t/Subscriptions/c": emulator.ActionCreate,
			"t/Subscriptions/b": emulator.ActionChange, "u": emulator.ActionCreate, "u/Subscriptions/s": emulator.ActionCreate,
			"t/Subscriptions/a": emulator.ActionDelete, "extra": emulator.ActionDelete}
		for what, got := range map[string]map[string]emulator.Action{"foreseen": actions(foreseen), "done": actions(plan)} {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		for range 2 {
			equal(t, "left out", b.ns.Exists("t/Subscriptions/a") && b.ns.Exists("extra"), false)
			equalSlices(t, "rules of b", b.on("t/Subscriptions/b").ruleNames(), "s")
			equal(t, "messages", bodies(b.on("q").peek()), "kept")
			equal(t, "a setting", b.on("q").q.Options().MaxDeliveryCount, 3)
			b.on("u").sendTexts("forwarded")
			b.restart()
		}
		wait(time.Second)
		equal(t, "forwarded", len(b.on("n").peek()), 2)
		for path, action := range actions(b.mustApply(after, true)) {
			equal(t, path, action, emulator.ActionKeep)
		}
		b.verify(true)
	})
}

// TestApply_AFailedCommitChangesNothing: rules, settings and entities are what they were, deleted ones live on, and it can be tried again.
func TestApply_AFailedCommitChangesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		before, after := beforeAndAfter()
		b.mustApply(before, false)
		was := b.entitiesOf()
		b.failOnce()
		if _, err := b.ns.Configuration().Apply(after, true); err == nil {
			t.Fatal("it does not fail")
		}
		synctest.Wait()
		if got := b.entitiesOf(); !reflect.DeepEqual(got, was) {
			t.Errorf("entities\n%v\nwant\n%v", got, was)
		}
		b.on("extra").sendTexts("x")
		equal(t, "lives on", len(b.on("extra").receive(1)), 1)
		b.on("t").sendTexts("to a")
		equal(t, "the subscription that was to go gets copies", len(b.on("t/Subscriptions/a").peek()), 1)
		b.restart()
		if got := b.entitiesOf(); fmt.Sprint(got) != fmt.Sprint(was) {
			t.Errorf("after a restart\n%v\nwant\n%v", got, was)
		}
		b.mustApply(after, true)
		equalSlices(t, "rules of b", b.on("t/Subscriptions/b").ruleNames(), "s")
	})
}

// TestApply_SaysWhatItCanNotChange, all of it, and changes nothing.
func TestApply_SaysWhatItCanNotChange(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		before, _ := beforeAndAfter()
		b.mustApply(before, false)
		was := b.entitiesOf()
		list := []emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{RequiresSession: true, EnablePartitioning: true}}, {Path: "t", Queue: &emulator.QueueOptions{}},
			{Path: "new", Queue: &emulator.QueueOptions{}}}
		plan, err := b.ns.Configuration().Preview(list, false)
		wantCode(t, "refused", err, emulator.CodeArgument)
		equalSlices(t, "fixed", plan[0].Fixed, "RequiresSession", "EnablePartitioning")
		equal(t, "the queue", plan[0].Action, emulator.ActionRefuse)
		equal(t, "a queue where a topic is", plan[1].Action, emulator.ActionRefuse)
		equal(t, "not in the list", plan[len(plan)-1].Action, emulator.ActionLeave)
		_, err = b.ns.Configuration().Apply(list, true)
		wantCode(t, "apply", err, emulator.CodeArgument)
		_, err = b.ns.Configuration().Apply([]emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{ForwardTo: "extra"}}}, true)
		wantCode(t, "a target that is deleted", err, emulator.CodeArgument)
		if got := b.entitiesOf(); !reflect.DeepEqual(got, was) {
			t.Errorf("entities\n%v\nwant\n%v", got, was)
		}
	})
}

// TestFacts_OldestBehindManyThatAreScheduled is found.
func TestFacts_OldestBehindManyThatAreScheduled(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for range 200 {
			b.schedule(at("later", soon(time.Hour)))
		}
		b.sendTexts("first", "second")
		equal(t, "oldest", b.q.Facts().Oldest, 201)
	})
}

// TestFacts_OfAnEntity: its oldest message, its sessions, when it deletes itself, and what forwards to it.
func TestFacts_OfAnEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{AutoDeleteOnIdle: time.Hour, RequiresSession: true}, func(b *broker) {
		f := b.q.Facts()
		equal(t, "oldest of none", f.Oldest, 0)
		equal(t, "idle at", f.IdleAt, now().Add(time.Hour).UnixMilli())
		equal(t, "in use", f.InUse, false)
		later := inSession("s", "later")
		later.Annotations = at("", now().Add(time.Hour)).Annotations
		b.send(later)
		wait(time.Minute)
		b.send(inSession("s", "first"))
		sent := now().UnixMilli()
		wait(time.Minute)
		b.send(inSession("z", "second"))
		f = b.q.Facts()
		equal(t, "oldest", f.Oldest, 2)
		equal(t, "enqueued", f.OldestEnqueued, sent)
		equal(t, "sessions", f.Sessions, 2)
		equal(t, "in use", f.InUse, true)
		b.create("from", emulator.QueueOptions{ForwardTo: "q", ForwardDeadLetteredMessagesTo: "Q"})
		list := b.ns.Entities().Sources("q")
		equal(t, "sources", len(list), 2)
		equal(t, "dead letters", list[1].DeadLetters && list[1].Entity.Path() == "from", true)
	})
}
