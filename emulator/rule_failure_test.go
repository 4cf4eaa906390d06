package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/synctest"

	"minibus/emulator"
)

// writing is a change of rules that is on its way.
type writing struct {
	what string
	done outcome
}

// start begins a change of rules without waiting for it.
func start(t *testing.T, what string, f func(c emulator.Completion) error) writing {
	t.Helper()
	w := writing{what, newOutcome()}
	if err := f(w.done); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return w
}

func TestTOP8_SeveralChangesOfARuleFailTogether(t *testing.T) {
	add := func(o emulator.RuleOptions) func(s *broker, c emulator.Completion) error {
		return func(s *broker, c emulator.Completion) error { return s.subscription().AddRule(o, c) }
	}
	update := func(o emulator.RuleOptions) func(s *broker, c emulator.Completion) error {
		return func(s *broker, c emulator.Completion) error { return s.subscription().UpdateRule(o, c) }
	}
	remove := func(s *broker, c emulator.Completion) error { return s.subscription().RemoveRule("r", c) }
	for name, changes := range map[string][]func(s *broker, c emulator.Completion) error{
		"update, remove":      {update(action("r", "SET x = 2")), remove},
		"remove, add":         {remove, add(action("r", "SET x = 2"))},
		"update twice":        {update(action("r", "SET x = 2")), update(action("r", "SET x = 3"))},
		"remove, add, remove": {remove, add(action("r", "SET x = 2")), remove},
		"add, update, remove": {add(sql("other", "1=1")), update(sql("other", "1=0")), remove},
	} {
		t.Run(name, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", action("r", "SET x = 1"), sql("no", "1=0"))}, func(b *broker) {
				s := b.sub("s")
				before := s.subscription().Options()
				b.j.Pause()
				var all []writing
				for i, change := range changes {
					all = append(all, start(t, fmt.Sprint("change ", i), func(c emulator.Completion) error { return change(s, c) }))
				}
				b.failOnce()
				b.j.Resume()
				for _, w := range all {
					if err := <-w.done; err == nil {
						t.Errorf("%s succeeded", w.what)
					}
				}
				if now := s.subscription().Options(); !reflect.DeepEqual(now, before) {
					t.Errorf("rules %+v\nwant  %+v", now.Rules, before.Rules)
				}
				synctest.Wait()
				b.sendTexts("x")
				equal(t, "what the one rule set", s.one().property("x"), any(int64(1)))
				s.wantCounts(1, 0, 0, 0) // locked
				b = b.again()
				if now := b.sub("s").subscription().Options(); !reflect.DeepEqual(now, before) {
					t.Errorf("rules after a restart %+v\nwant  %+v", now.Rules, before.Rules)
				}
			})
		})
	}
}

// TestTOP8_RandomChangesAgreeWithTheJournal makes changes of rules and settings at random, several at once, with commits that
// fail. Whenever nothing is being written, the rules in force equal those of the journal, and they select messages.
func TestTOP8_RandomChangesAgreeWithTheJournal(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
			for range 20 {
				changeAtRandom(b, r)
				inForce := b.sub("s").subscription().Options()
				before := b.sub("s").q.Counts()
				b.sendTexts("x")
				after := b.sub("s").q.Counts()
				if got, want := after.Active-before.Active, copiesOf(inForce.Rules); got != want {
					t.Fatalf("seed %d: %d copies, want %d by the rules %+v", seed, got, want, inForce.Rules)
				}
				b = b.again()
				if stored := b.sub("s").subscription().Options(); !reflect.DeepEqual(stored, inForce) {
					t.Fatalf("seed %d: in force %+v\nstored   %+v", seed, inForce, stored)
				}
			}
		})
	}
}

// changeAtRandom makes up to five changes at once, one of which may fail with all behind it.
func changeAtRandom(b *broker, r *rand.Rand) {
	s := b.sub("s").subscription()
	b.j.Pause()
	if r.IntN(2) == 0 {
		b.failOnce()
	}
	var all []outcome
	for i, most := 0, 1+r.IntN(5); i < most; i++ {
		o := sql(fmt.Sprint("r", r.IntN(4)), []string{"1=1", "1=0"}[r.IntN(2)])
		if r.IntN(2) == 0 {
			o.Action = "SET x = 1"
		}
		done := newOutcome()
		var err error
		switch r.IntN(4) {
		case 0:
			err = s.AddRule(o, done)
		case 1:
			err = s.UpdateRule(o, done)
		case 2:
			err = s.RemoveRule(o.Name, done)
		default:
			i = most // it waits; no second one could begin
			options := s.Options()
			options.Rules = []emulator.RuleOptions{o}
			options.Queue.MaxDeliveryCount = 1 + r.IntN(9)
			go func() {
				_, err := b.ns.Entities().UpdateSubscription("t", options)
				done.Completed(err)
			}()
		}
		if err == nil {
			all = append(all, done)
		}
	}
	wait(1)
	b.j.Resume()
	for _, done := range all {
		<-done
	}
	wait(1) // a journal that fails takes with it what comes before it has told everybody
	b.j.FailNext(0, nil)
}

// copiesOf is how many copies a subscription with such rules gets of a message (TOP-5).
func copiesOf(rules []emulator.RuleOptions) (n int64) {
	plain := int64(0)
	for _, o := range rules {
		switch {
		case o.SQL == "1=0":
		case o.Action == "":
			plain = 1
		default:
			n++
		}
	}
	return n + plain
}
