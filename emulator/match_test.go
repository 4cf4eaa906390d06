package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/filter"
)

// match asks the rules of the topic about a message.
func (b *broker) match(m *goamqp.Message, ask emulator.MatchQuestion) *emulator.Matching {
	b.t.Helper()
	found, err := b.tryMatch(m, ask)
	if err != nil {
		b.t.Fatalf("match: %v", err)
	}
	return found
}

func (b *broker) tryMatch(m *goamqp.Message, ask emulator.MatchQuestion) (*emulator.Matching, error) {
	b.t.Helper()
	ask.Message = encode(b.t, m)
	return b.q.Match(ask)
}

// shape returns what can be compared of a copy: its place, and its properties but for what dead-lettering adds.
func shape(dead bool, users map[string]any, subject string) string {
	var parts []string
	for name, v := range users {
		if name != emulator.DeadLetterErrorDescription {
			parts = append(parts, fmt.Sprintf("%s=%v", name, v))
		}
	}
	slices.Sort(parts)
	return fmt.Sprintf("dead %v, subject %s, %s", dead, subject, strings.Join(parts, " "))
}

// applied returns the shape that a copy has according to its changes.
func applied(m *plainMessage, c emulator.MatchedCopy) string {
	users, subject := map[string]any{}, m.label.String()
	for name, v := range m.users {
		users[name] = v
	}
	for _, x := range c.Changes {
		switch {
		case x.Name == "sys.Label":
			subject = x.After.String()
		case x.After.Kind() == filter.KindMissing:
			delete(users, x.Name)
		default:
			users[x.Name] = x.After
		}
	}
	return shape(c.Sub == emulator.DeadLetter, users, subject)
}

// TestMatchSaysWhatSendingDoes: what the rules are asked without sending is what happens when the message is sent, copy by copy.
func TestMatchSaysWhatSendingDoes(t *testing.T) {
	r := topicMaker{emulator.NewRandom(t)}
	names := []string{"a", "b", "c", "d"}
	total := 0
	topicBubble(t, emulator.TopicOptions{}, named(names...), func(b *broker) {
		off := false
		b.subscribe(emulator.SubscriptionOptions{Name: "e", DeadLetteringOnFilterErrors: &off, Rules: []emulator.RuleOptions{sql("x", "1 / a = 1")}})
		names = append(names, "e")
		for i := range 150 {
			sub := b.sub(names[r.IntN(len(names))])
			sub.addRule(r.rule(i))
			if i == 20 {
				for _, name := range names {
					_ = b.sub(name).tryRemoveRule(emulator.DefaultRuleName) // a random rule may have taken its place
				}
			}
			m, p := r.message()
			before := copiesNow(b, names)
			found := b.match(m, emulator.MatchQuestion{})
			if now := copiesNow(b, names); !slices.EqualFunc(before, now, slices.Equal) {
				t.Fatal("asking changed the subscriptions")
			}
			b.send(m)
			for k, after := range copiesNow(b, names) {
				got := added(before[k], after)
				var want []string
				for _, c := range found.Subscriptions[k].Copies {
					want = append(want, applied(p, c))
				}
				slices.Sort(want)
				total += len(want)
				if !slices.Equal(got, want) {
					t.Fatalf("%s got\n%s\nwant\n%s\nrules %+v", names[k], strings.Join(got, "\n"), strings.Join(want, "\n"), found.Subscriptions[k].Rules)
				}
			}
			for _, name := range names { // keep it short
				drain(b.sub(name))
			}
		}
	})
	if total < 100 {
		t.Errorf("only %d copies were compared", total)
	}
}

// copiesNow returns the shapes of all copies, subscription by subscription.
func copiesNow(b *broker, names []string) [][]string {
	b.t.Helper()
	all := make([][]string, len(names))
	for i, name := range names {
		for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter} {
			for _, g := range b.sub(name).peekFrom(sub, 0, 250) {
				users, subject := map[string]any{}, ""
				for key, v := range g.ApplicationProperties {
					if users[key] = v; v == nil {
						users[key] = filter.Null()
					}
					if yes, ok := v.(bool); ok {
						users[key] = filter.Bool(yes)
					}
				}
				if g.Properties != nil && g.Properties.Subject != nil {
					subject = *g.Properties.Subject
				}
				all[i] = append(all[i], shape(sub == emulator.DeadLetter, users, subject))
			}
		}
		slices.Sort(all[i])
	}
	return all
}

// added returns what is in the second of two sorted lists and not in the first.
func added(before, after []string) (list []string) {
	for _, s := range after {
		if i := slices.Index(before, s); i >= 0 {
			before = slices.Delete(slices.Clone(before), i, i+1)
			continue
		}
		list = append(list, s)
	}
	return list
}

func drain(b *broker) {
	b.t.Helper()
	for _, sub := range []emulator.SubQueue{emulator.Main, emulator.DeadLetter} {
		b.receiveFrom(sub, emulator.ReceiveAndDelete, 250)
	}
}

func TestMatchExplains(t *testing.T) {
	subs := []emulator.SubscriptionOptions{
		withRules("red", sql("color", "color = 'red'"), sql("amount", "amount > 5")),
		withRules("all", action("mark", "SET sys.Label = 'marked'; SET color = 'green'; REMOVE old"), sql("plain", "1=1"), sql("second", "color = 'blue'")),
		{Name: "sessions", Queue: emulator.QueueOptions{RequiresSession: true}},
		{Name: "off", Queue: emulator.QueueOptions{Status: emulator.StatusDisabled}},
		withRules("broken", action("a", "SET sys.SequenceNumber = 1"), sql("b", "sys.Nope = 1")),
	}
	topicBubble(t, emulator.TopicOptions{}, subs, func(b *broker) {
		m := props("x", "color", "blue", "old", int32(1))
		byName := map[string]*emulator.SubscriptionMatching{}
		found := b.match(m, emulator.MatchQuestion{})
		for i := range found.Subscriptions {
			byName[found.Subscriptions[i].Name] = &found.Subscriptions[i]
		}
		equal(t, "refused, duplicate, scheduled", fmt.Sprint(found.Refused, found.Duplicate, found.Scheduled, found.Unexplained), "<nil> false 0 0")
		red := byName["red"]
		equal(t, "red is reached", red.Reached(), false)
		equal(t, "its first rule", fmt.Sprint(red.Rules[0].Name, red.Rules[0].Outcome, red.Rules[0].Reasons[0].Seen[0].Value), "colorfalse blue")
		equal(t, "its second rule", fmt.Sprint(red.Rules[1].Outcome, red.Rules[1].Reasons[0].Seen[0].Value.Kind()), "unknown missing")
		all := byName["all"]
		equal(t, "copies of all", len(all.Copies), 2)
		equal(t, "the plain one", fmt.Sprint(all.Copies[0].Rule, all.Copies[0].Changes), "plain[]")
		equal(t, "what the action changes", fmt.Sprint(all.Copies[1].Changes), "[{sys.Label  marked} {RuleName  mark} {color blue green} {old 1 }]")
		equal(t, "sessions", deadReason(byName["sessions"]), "Session id is null.")
		equal(t, "off", fmt.Sprint(byName["off"].Status, byName["off"].Reached()), "Disabledtrue")
		broken := byName["broken"]
		equal(t, "broken", deadReason(broken), "FilterException")
		equal(t, "why the action fails", fmt.Sprint(broken.Rules[0].ActionError), "The system property 'SequenceNumber' is read-only.")
		equal(t, "why the filter fails", fmt.Sprint(broken.Rules[1].Err), "The system property 'Nope' does not exist.")
	})
}

// deadReason returns the reason of the only copy, which is dead-lettered.
func deadReason(s *emulator.SubscriptionMatching) string {
	if len(s.Copies) != 1 || s.Copies[0].Sub != emulator.DeadLetter || s.Copies[0].Description == "" {
		return fmt.Sprintf("copies %+v", s.Copies)
	}
	return s.Copies[0].Reason
}

func TestMatchTriesARuleThatIsNotStored(t *testing.T) {
	sessions := withRules("s", sql("none", "1=0"))
	sessions.Queue.RequiresSession = true
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{sessions}, func(b *broker) {
		m := props("x", "size", int64(5))
		rule := emulator.RuleOptions{SQL: "size = 5", Action: "SET size = 6"}
		found := b.match(m, emulator.MatchQuestion{Rule: &rule}).Subscriptions
		equal(t, "a new subscription", fmt.Sprint(len(found), found[0].Name, found[0].Copies[0].Sub, found[0].Copies[0].Changes[1]), fmt.Sprint(1, "", emulator.Main, " {size 5 6}"))
		found = b.sub("s").match(m, emulator.MatchQuestion{Rule: &rule}).Subscriptions
		equal(t, "in place of the rules of s", deadReason(&found[0]), "Session id is null.")
		_, err := b.tryMatch(m, emulator.MatchQuestion{Rule: &emulator.RuleOptions{SQL: "size = = 5"}})
		wantCode(t, "a text that does not parse", err, emulator.CodeArgument)
		if !strings.Contains(err.Error(), "line=1, column=7") {
			t.Errorf("the error %v does not say where", err)
		}
		_, err = b.on("q").tryMatch(m, emulator.MatchQuestion{})
		wantCode(t, "a queue", err, emulator.CodeNotAllowed)
		equal(t, "rules of s", fmt.Sprint(b.sub("s").ruleNames()), "[none]")
	})
}

func TestMatchFollowsForwards(t *testing.T) {
	to := func(name, target string) emulator.SubscriptionOptions {
		return emulator.SubscriptionOptions{Name: name, Queue: emulator.QueueOptions{ForwardTo: target}}
	}
	topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
		b.create("end", emulator.QueueOptions{})
		b.create("middle", emulator.QueueOptions{ForwardTo: "end"})
		b.create("held", emulator.QueueOptions{RequiresSession: true})
		b.create("closed", emulator.QueueOptions{Status: emulator.StatusDisabled})
		b.subscribe(to("a", "middle"))
		b.subscribe(to("b", "held"))
		b.subscribe(to("c", "closed"))
		var got []string
		for _, s := range b.on("t").match(text("x"), emulator.MatchQuestion{}).Subscriptions {
			got = append(got, fmt.Sprint(s.Copies[0].Forwards, s.Copies[0].Stopped != nil))
		}
		equal(t, "forwards", strings.Join(got, " "), "[middle end] false [] true [] true")
		equal(t, "messages at the end", b.on("end").q.Counts().Active, 0)
	})
}

// TestMatchFollowsNoMoreForwardsThanAMessageSurvives: it ends where the message itself would (FWD-8).
func TestMatchFollowsNoMoreForwardsThanAMessageSurvives(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
		next := ""
		for _, name := range []string{"q5", "q4", "q3", "q2", "q1"} {
			b.create(name, emulator.QueueOptions{ForwardTo: next})
			next = name
		}
		b.subscribe(emulator.SubscriptionOptions{Name: "s", Queue: emulator.QueueOptions{ForwardTo: "q1"}})
		c := b.on("t").match(text("x"), emulator.MatchQuestion{}).Subscriptions[0].Copies[0]
		equalSlices(t, "forwards", c.Forwards, "q1", "q2", "q3", "q4")
		if c.Stopped == nil {
			t.Error("nothing says why it goes no further")
		}
		b.on("t").sendTexts("x")
		wait(time.Second)
		equal(t, "dead letters where it ended", b.on("q4").q.Counts().DeadLetter, 1)
	})
}

// TestMatchLeavesNoTrace: no number is drawn, no id is remembered, nothing is written, and the topic was not used.
func TestMatchLeavesNoTrace(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{RequiresDuplicateDetection: true, AutoDeleteOnIdle: 10 * time.Minute}, named("s"), func(b *broker) {
		m := text("x")
		m.Properties = &goamqp.MessageProperties{MessageID: "7"}
		wait(9 * time.Minute)
		changes, _ := b.j.seen()
		found := b.match(m, emulator.MatchQuestion{})
		equal(t, "a duplicate", found.Duplicate, false)
		if now, _ := b.j.seen(); now != changes {
			t.Errorf("%d changes were written", now-changes)
		}
		equal(t, "messages", b.sub("s").q.Counts().Active, 0)
		b.send(m)
		equal(t, "the number", b.sub("s").peek()[0].firstSeq(), 1)
		equal(t, "a duplicate now", b.match(m, emulator.MatchQuestion{}).Duplicate, true)
		wait(9 * time.Minute)
		b.match(m, emulator.MatchQuestion{})
		wait(2 * time.Minute)
		if _, ok := b.ns.Kind("t"); ok {
			t.Error("asking was a use of the topic: it is still there")
		}
	})
}

func TestMatchSaysWhyTheTopicRefuses(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{Status: emulator.StatusSendDisabled}, named("s"), func(b *broker) {
		later := soon(time.Hour)
		found := b.match(at("x", later), emulator.MatchQuestion{})
		wantCode(t, "refused", found.Refused, emulator.CodeEntityDisabled)
		equal(t, "scheduled", found.Scheduled, later.UnixMilli())
		equal(t, "reached all the same", found.Subscriptions[0].Reached(), true)
	})
}
