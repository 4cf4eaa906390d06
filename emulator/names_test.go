package emulator_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"minibus/emulator"
	"minibus/store/storetest"
)

// topology has queues and a topic whose names have capitals, and forward to each other.
func topology() []emulator.EntityConfig {
	return []emulator.EntityConfig{
		{Path: "Work/Orders", Queue: &emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "ERRORS"}},
		{Path: "Errors", Queue: &emulator.QueueOptions{}},
		{Path: "Events", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{
			{Name: "All", Queue: emulator.QueueOptions{ForwardTo: "Work/orders"}, Rules: []emulator.RuleOptions{{Name: "Every", SQL: "1=1"}}},
		}}},
	}
}

// wantListed checks the lists of queues and topics.
func (b *broker) wantListed(want string) {
	b.t.Helper()
	var paths []string
	for _, kind := range []emulator.EntityKind{emulator.KindQueue, emulator.KindTopic} {
		page, _ := b.ns.Entities().Page(kind, 0, math.MaxInt)
		for _, q := range page {
			paths = append(paths, q.Path())
		}
	}
	equal(b.t, "listed", strings.Join(paths, " "), want)
}

// wantSame checks that a configuration finds nothing to do.
func (b *broker) wantSame(list []emulator.EntityConfig) {
	b.t.Helper()
	for _, p := range b.mustApply(list, false) {
		if p.Action != emulator.ActionKeep && p.Action != emulator.ActionLeave {
			b.t.Errorf("%s: action %d", p.Path, p.Action)
		}
	}
}

// wantLower checks how everything of the topology is named.
func (b *broker) wantLower() {
	b.t.Helper()
	b.wantListed("errors q work/orders events")
	equal(b.t, "dead letters", b.on("WORK/Orders").q.Options().ForwardDeadLetteredMessagesTo, "errors")
	s, err := b.on("EVENTS/subscriptions/ALL").q.Subscription()
	if err != nil {
		b.t.Fatal(err)
	}
	o := s.Options()
	equal(b.t, "subscription", s.Path()+" "+o.Name+" "+o.Rules[0].Name+" "+o.Queue.ForwardTo, "events/Subscriptions/All All Every work/orders")
	for _, e := range b.ns.Configuration().Current() {
		equal(b.t, "configuration", e.Path, strings.ToLower(e.Path))
	}
	for _, source := range b.ns.Entities().Sources("Errors") {
		equal(b.t, "source", source.Entity.Path(), "work/orders")
	}
	b.on("events").send(text("m"))
	synctest.Wait()
	work := b.on("work/ORDERS")
	work.settle(emulator.DeadLetterOutcome, work.one())
	synctest.Wait()
	letter := b.on("errors").one()
	equal(b.t, "dead-letter source", annotation[string](letter, "x-opt-deadletter-source"), "work/orders")
	b.on("errors").settle(emulator.Complete, letter)
}

// Every way to make a queue or topic names it in lower case. Subscriptions and rules keep their case.
func TestDEC9_QueuesAndTopicsAreInLowerCase(t *testing.T) {
	for name, create := range map[string]func(b *broker) error{
		"one by one": func(b *broker) error {
			list := topology()
			if _, err := b.ns.Entities().CreateQueue(list[1].Path, *list[1].Queue); err != nil {
				return err
			}
			if _, err := b.ns.Entities().CreateQueue(list[0].Path, *list[0].Queue); err != nil {
				return err
			}
			_, err := b.ns.Entities().CreateTopic(list[2].Path, *list[2].Topic)
			return err
		},
		"a configuration": func(b *broker) error { return b.ns.Configuration().Ensure(topology()) },
		"a reset": func(b *broker) error {
			return b.ns.Reset(append(topology(), emulator.EntityConfig{Path: "Q", Queue: &emulator.QueueOptions{}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{}, func(b *broker) {
				if err := create(b); err != nil {
					t.Fatal(err)
				}
				b.wantLower()
				b.restart()
				b.wantLower()
				b.wantSame(topology())
			})
		})
	}
}

// TestDEC9_ErrorsNameTheEntity as the lists do, whatever case the client wrote.
func TestDEC9_ErrorsNameTheEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		if err := b.ns.Configuration().Ensure(topology()); err != nil {
			t.Fatal(err)
		}
		_, taken := b.ns.Entities().CreateQueue("EVENTS", emulator.QueueOptions{})
		_, fixed := b.ns.Entities().UpdateTopic("EVENTS", emulator.TopicOptions{RequiresDuplicateDetection: true})
		_, there := b.ns.Entities().CreateSubscription("EVENTS", emulator.SubscriptionOptions{Name: "ALL"})
		_, kind := b.on("EVENTS").q.Subscription()
		_, differs := b.ns.Configuration().Apply([]emulator.EntityConfig{{Path: "ERRORS", Queue: &emulator.QueueOptions{RequiresSession: true}}}, false)
		_, fault := b.ns.Faults().Inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, Entity: "EVENTS/Nothing"})
		for what, err := range map[string]error{"taken": taken, "fixed": fixed, "there": there, "kind": kind, "differs": differs} {
			if err == nil || strings.Contains(err.Error(), "EVENTS") || strings.Contains(err.Error(), "ERRORS") {
				t.Errorf("%s: %v", what, err)
			}
		}
		wantCode(t, "fault", fault, emulator.CodeNotFound)
		f, err := b.ns.Faults().Inject(emulator.FaultOptions{Kind: emulator.FaultThrottle, Entity: "ERRORS/$deadletterqueue"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "fault", f.Options().Entity, "errors/$DeadLetterQueue")
	})
}

// oldJournal has what an older Minibus kept: names in the case of their creation.
type oldJournal struct {
	*journal
	entities []emulator.EntityRecord
}

func (j *oldJournal) Load(l emulator.Loader) error {
	for _, e := range j.entities {
		if err := l.LoadEntity(e); err != nil {
			return err
		}
	}
	return nil
}

// TestDEC9_AnOlderDatabaseIsTakenOver with all that is in it.
func TestDEC9_AnOlderDatabaseIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := &oldJournal{journal: &journal{Memory: storetest.NewMemory()}}
		put := func(id int64, kind emulator.EntityKind, path string, options any) {
			encoded, err := json.Marshal(options)
			if err != nil {
				t.Fatal(err)
			}
			old.entities = append(old.entities, emulator.EntityRecord{ID: id, Kind: kind, Path: path, Options: encoded})
		}
		list := topology()
		put(1, emulator.KindQueue, "Errors", list[1].Queue)
		put(2, emulator.KindQueue, "Work/Orders", list[0].Queue)
		put(3, emulator.KindSubscription, "Events/Subscriptions/All", list[2].Topic.Subscriptions[0])
		put(4, emulator.KindTopic, "Events", emulator.TopicOptions{})
		put(5, emulator.KindQueue, "Q", emulator.QueueOptions{})
		ns, err := emulator.Open(old, emulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { ns.Close(); old.Close() }()
		b := &broker{t: t, j: old.journal, ns: ns}
		b.wantListed("errors q work/orders events")
		equal(t, "subscription", b.on("Events/Subscriptions/all").q.Path(), "events/Subscriptions/All")
		equal(t, "target", b.on("work/orders").q.Options().ForwardDeadLetteredMessagesTo, "errors")
		b.wantSame(topology())
	})
}
