package emulator_test

import (
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
)

// correlating is a rule with a correlation filter.
func correlating(name string) emulator.RuleOptions {
	return emulator.RuleOptions{Name: name, Correlation: &emulator.CorrelationFilter{Label: new("x")}}
}

// tryUpdateRule replaces a rule and waits.
func (b *broker) tryUpdateRule(o emulator.RuleOptions) error {
	b.t.Helper()
	return b.changeRules(func(s *emulator.Subscription, c emulator.Completion) error { return s.UpdateRule(o, c) })
}

func TestQUO10_LimitsOfStrictProfiles(t *testing.T) {
	topicBubbleWith(t, emulator.Options{Limits: emulator.ProfileEmulator}, emulator.TopicOptions{}, named("s"), func(b *broker) {
		s := b.sub("s")
		for i := range 69 {
			s.addRule(sql(fmt.Sprint("r", i), "1=1"))
		}
		wantCode(t, "SQL filters", s.tryRule(sql("more", "1=1")), emulator.CodeQuotaExceeded)
		s.addRule(correlating("correlation"))
		wantCode(t, "SQL filters, by an update", s.tryUpdateRule(sql("correlation", "1=1")), emulator.CodeQuotaExceeded)
		if err := s.tryUpdateRule(sql("r1", "1=0")); err != nil {
			t.Errorf("an update that adds nothing: %v", err)
		}
		if err := s.tryRemoveRule("r0"); err != nil {
			t.Fatalf("remove rule: %v", err)
		}
		o := s.subscription().Options()
		o.Rules = append(o.Rules, sql("more", "1=1"), sql("and more", "1=1"))
		_, err := b.ns.Entities().UpdateSubscription("t", o)
		wantCode(t, "SQL filters, by an update of the subscription", err, emulator.CodeQuotaExceeded)
		s.addRule(sql("more", "1=1"))
		_, err = b.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: "with default rule"})
		wantCode(t, "SQL filters, by a subscription", err, emulator.CodeQuotaExceeded)
		for i := range 49 {
			b.subscribe(withRules(fmt.Sprint("s", i), correlating("c")))
		}
		_, err = b.ns.Entities().CreateSubscription("t", withRules("more", correlating("c")))
		wantCode(t, "subscriptions", err, emulator.CodeQuotaExceeded)
	})
}

func TestQUO10_RulesOfASubscriptionAreCountedTogether(t *testing.T) {
	many := func(n int) (list []emulator.RuleOptions) {
		for i := range n {
			list = append(list, correlating(fmt.Sprint("c", i)))
		}
		return list
	}
	topicBubbleWith(t, emulator.Options{Limits: emulator.ProfileEmulator}, emulator.TopicOptions{}, nil, func(b *broker) {
		_, err := b.ns.Entities().CreateSubscription("t", withRules("s", many(1001)...))
		wantCode(t, "rules of one subscription", err, emulator.CodeQuotaExceeded)
		b.subscribe(withRules("s", many(999)...))
		b.subscribe(withRules("t", many(1)...))
		wantCode(t, "correlation filters of the topic", b.sub("s").tryRule(correlating("more")), emulator.CodeQuotaExceeded)
		_, err = b.ns.Entities().CreateSubscription("t", withRules("u", many(1)...))
		wantCode(t, "correlation filters, by a subscription", err, emulator.CodeQuotaExceeded)
		b.sub("s").addRule(sql("sql", "1=1"))
		wantCode(t, "rules", b.sub("s").tryRule(sql("more", "1=1")), emulator.CodeQuotaExceeded)
	})
}

func TestQUO10_TextsAndStatements(t *testing.T) {
	long := "a = '" + strings.Repeat("x", 1019) + "'"
	for name, limits := range profiles {
		topicBubbleWith(t, emulator.Options{Limits: limits}, emulator.TopicOptions{}, named("s"), func(b *broker) {
			s := b.sub("s")
			s.addRule(sql("r", long[:5]+long[6:]))
			s.addRule(action("a", strings.Repeat("REMOVE a;", 32)))
			for _, o := range []emulator.RuleOptions{
				sql("r", long), action("r", "SET "+long), action("r", strings.Repeat("REMOVE a;", 33)),
			} {
				wantCode(t, name+": update", s.tryUpdateRule(o), emulator.CodeArgument)
				o.Name = "more"
				wantCode(t, name+": add", s.tryRule(o), emulator.CodeArgument)
				_, err := b.ns.Entities().CreateSubscription("t", withRules("more", o))
				wantCode(t, name+": create", err, emulator.CodeArgument)
			}
			wantText(t, name, s.tryRule(sql("more", long)), "1025 characters")
			wantText(t, name, s.tryRule(action("more", strings.Repeat("REMOVE a;", 33))), "33 statements")
		})
	}
}

// TestQUO10_DEC1_RelaxedTakesWhatIsAskedFor also proves that what one profile took is not lost under another.
func TestQUO10_DEC1_RelaxedTakesWhatIsAskedFor(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s",
		sql("long", "a = '"+strings.Repeat("x", 10_000)+"'"), action("many", strings.Repeat("SET b = 1;", 100)))}, func(b *broker) {
		for i := range 80 {
			b.sub("s").addRule(sql(fmt.Sprint("r", i), "1=0"))
		}
		wantCode(t, "beyond the language's bound", b.sub("s").tryRule(sql("more", "a = '"+strings.Repeat("x", 17_000)+"'")), emulator.CodeArgument)
		b.options.Limits = emulator.ProfileEmulator
		b = b.again()
		equal(t, "rules", len(b.sub("s").ruleNames()), 82)
		b.sendTexts("x")
		b.sub("s").wantCounts(1, 0, 0, 0)
		if err := b.sub("s").tryUpdateRule(sql("r1", "1=1")); err != nil {
			t.Errorf("an update of one of too many: %v", err)
		}
		if err := b.sub("s").tryRemoveRule("r2"); err != nil {
			t.Errorf("a removal of one of too many: %v", err)
		}
	})
}
