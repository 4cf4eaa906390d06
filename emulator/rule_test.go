package emulator_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/emulator/filter"
	"minibus/internal/amqp"
)

func TestTOP4_NewSubscriptionHasTheDefaultRule(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		{Name: "default"}, withRules("own", sql("mine", "1=0")),
	}, func(b *broker) {
		created := now().UnixMilli()
		for range 2 {
			rules, err := b.sub("default").subscription().Rules(0, 10)
			want := emulator.DefaultRule()
			want.CreatedAt = created
			if err != nil || len(rules) != 1 || !reflect.DeepEqual(rules[0], want) {
				t.Errorf("rules %+v, %v", rules, err)
			}
			equalSlices(t, "own", b.sub("own").ruleNames(), "mine")
			wait(time.Minute)
			b = b.again()
		}
		b.sendTexts("x")
		b.sub("default").wantCounts(1, 0, 0, 0)
		b.sub("own").wantCounts(0, 0, 0, 0)
	})
}

func TestRule_SQLFilterOfAConstantsTextIsNoConstant(t *testing.T) {
	for _, x := range []struct {
		o               emulator.RuleOptions
		isTrue, isFalse bool
	}{
		{emulator.RuleOptions{SQL: filter.TrueText, Constant: true}, true, false},
		{emulator.RuleOptions{SQL: filter.FalseText, Constant: true}, false, true},
		{emulator.RuleOptions{SQL: filter.TrueText}, false, false},
		{emulator.RuleOptions{SQL: filter.FalseText}, false, false},
	} {
		equal(t, x.o.SQL+" is the true filter", x.o.IsTrue(), x.isTrue)
		equal(t, x.o.SQL+" is the false filter", x.o.IsFalse(), x.isFalse)
	}
}

func TestTOP7_SubscriptionWithoutRulesGetsNothing(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		if err := b.sub("s").tryRemoveRule("$DEFAULT"); err != nil {
			t.Fatalf("remove: %v", err)
		}
		for range 2 {
			b.sendTexts("x")
			b.sub("s").wantCounts(0, 0, 0, 0)
			equalSlices(t, "rules", b.sub("s").ruleNames())
			b = b.again()
		}
		b.sub("s").addRule(sql("r", "1=1"))
		b.sendTexts("x")
		b.sub("s").wantCounts(1, 0, 0, 0)
	})
}

func TestTOP5_TOP11_OnePlainCopyAndOnePerRuleWithAction(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s",
		action("z-first", "SET who = 'first'"), sql("p1", "1=1"), sql("p2", "n = 1"),
		action("a-second", "SET who = 'second'; REMOVE n"), sql("p3", "n < 5"), sql("no", "n = 2"),
		emulator.RuleOptions{Name: "unused", SQL: "n = 2", Action: "SET n = 3"},
	)}, func(b *broker) {
		b.send(props("x", "n", int32(1)))
		b = b.again()
		gs := b.sub("s").receive(10)
		equal(t, "messages", len(gs), 3)
		equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3)
		equalSlices(t, "topic's numbers", mapped(gs, (*got).firstSeq), 1, 1, 1)
		for i, want := range []map[string]any{
			{"n": int32(1)}, {"n": int32(1), "who": "first", "RuleName": "z-first"}, {"who": "second", "RuleName": "a-second"},
		} {
			if !reflect.DeepEqual(gs[i].ApplicationProperties, want) {
				t.Errorf("copy %d has %v, want %v", i, gs[i].ApplicationProperties, want)
			}
			equal(t, "body", gs[i].body(), "x")
		}
		equal(t, "message id is shared", gs[0].Properties.MessageID, gs[2].Properties.MessageID)
		b.wantStored(3, 1)
	})
}

func TestTOP5_RuleNameMayBeRemovedByTheAction(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", action("r", "REMOVE RuleName"))}, func(b *broker) {
		b.send(props("with", "a", "b"))
		b.sendTexts("without")
		gs := b.sub("s").receive(5)
		equal(t, "properties of a message with some", len(gs[0].ApplicationProperties), 1)
		equal(t, "properties of a message without", len(gs[1].ApplicationProperties), 0)
	})
}

func TestTOP6_TOP1_ActionsArePrivateToTheCopy(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{{Name: "a"}, withRules("b", action("r",
		"SET color = 'green'; SET sys.Label = 'new'; SET sys.MessageId = 'id2'; SET sys.CorrelationId = 'c'; SET sys.To = 'to'; "+
			"SET sys.ReplyTo = 'rt'; SET sys.ReplyToSessionId = 'rts'; SET sys.ContentType = 'ct'; SET sys.SessionId = 's2'; "+
			"SET sys.PartitionKey = 's2'; SET sys.TimeToLive = '00:01:00'"),
	)}, func(b *broker) {
		m := props("x", "color", "red")
		m.Properties = labelled("", "old").Properties
		m.Properties.MessageID = "id"
		b.send(m)
		a := b.sub("a").one()
		equal(t, "untouched property", a.property("color"), any("red"))
		equal(t, "untouched label", *a.Properties.Subject, "old")
		equal(t, "untouched id", a.Properties.MessageID, any("id"))
		b = b.again()
		g := b.sub("b").one()
		equal(t, "color", g.property("color"), any("green"))
		p := g.Properties
		equal(t, "id", p.MessageID, any("id2"))
		equal(t, "correlation id", p.CorrelationID, any("c"))
		for what, s := range map[string]*string{"new": p.Subject, "to": p.To, "rt": p.ReplyTo, "rts": p.ReplyToGroupID, "ct": p.ContentType, "s2": p.GroupID} {
			if s == nil || *s != what {
				t.Errorf("property %v, want %s", s, what)
			}
		}
		equal(t, "partition key", annotation[string](g, "x-opt-partition-key"), "s2")
		equal(t, "ttl", g.Header.TTL, time.Minute)
		b.sub("b").settleWith(emulator.DeadLetterOutcome, b.properties("color", "black"), g)
		g = b.sub("b").oneFrom(emulator.DeadLetter)
		equal(t, "color in the dead-letter queue", g.property("color"), any("black"))
		equal(t, "label in the dead-letter queue", *g.Properties.Subject, "new")
		equal(t, "rule in the dead-letter queue", g.property("RuleName"), any("r"))
	})
}

func TestTOP6_LaterStatementsSeeEarlierOnes(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		withRules("s", action("r", "SET sys.Label = 'l'; SET copy = sys.Label; SET id = sys.MessageId; SET COPY = copy + '!'; REMOVE nothing; SET size = sys.Size; "+
			"SET sys.ForcePersistence = TRUE; SET missing = nope + 1")),
		withRules("bad", action("r", "SET sys.TimeToLive = '-00:01:00'")),
	}, func(b *broker) {
		m := text("x")
		m.Properties = properties("m")
		b.send(m)
		g := b.sub("s").one()
		want := map[string]any{"copy": "l!", "id": "m", "size": g.property("size"), "RuleName": "r"}
		if !reflect.DeepEqual(g.ApplicationProperties, want) || g.property("size").(int64) <= 0 {
			t.Errorf("properties %v, want %v", g.ApplicationProperties, want)
		}
		b.sub("bad").wantCounts(0, 1, 0, 0)
	})
}

func TestTOP6_SessionIDAfterTheActionCounts(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		{Name: "s", Queue: emulator.QueueOptions{RequiresSession: true}, Rules: []emulator.RuleOptions{action("r", "SET sys.SessionId = kind")}},
		{Name: "lost", Queue: emulator.QueueOptions{RequiresSession: true}, Rules: []emulator.RuleOptions{action("r", "SET sys.SessionId = NULL")}},
	}, func(b *broker) {
		m := inSession("old", "x")
		m.ApplicationProperties = map[string]any{"kind": "new"}
		b.send(m)
		for range 2 {
			s := b.sub("s")
			c, err := s.q.Sessions().Accept("new", emulator.Accept{Notify: func() {}})
			if err != nil {
				t.Fatalf("accept: %v", err)
			}
			gs := (&receiver{b: s, c: c}).take(5)
			if len(gs) != 1 || *gs[0].Properties.GroupID != "new" {
				t.Fatalf("got %v", gs)
			}
			c.Close()
			b = b.again()
		}
		b.sub("lost").wantCounts(0, 1, 0, 0)
	})
}

func TestTOP8_RuleNamesAndErrors(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		s := b.sub("s")
		s.addRule(sql("Rule", "n = 1"))
		err := s.tryRule(sql("rULE", "1=1"))
		wantCode(t, "name twice", err, emulator.CodeAlreadyExists)
		equal(t, "text", err.Error(), "The messaging entity 'sbemulatorns:Topic:t|s|rULE' already exists.")
		err = s.tryRemoveRule("nope")
		wantCode(t, "missing", err, emulator.CodeNotFound)
		equal(t, "text", err.Error(), "The messaging entity 'sbemulatorns:Topic:t|s|nope' could not be found.")
		for _, o := range []emulator.RuleOptions{
			sql("bad", "n = = 1"), action("bad", "UPDATE a = 1"), {Name: "bad"}, sql("", "1=1"),
			{Name: "bad", SQL: "1=1", Correlation: &emulator.CorrelationFilter{}},
			{Name: "bad", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"x": []byte("binary")}}},
			{Name: "bad", SQL: "n = @p"}, {Name: "bad", SQL: "1=1", Parameters: emulator.Values{"p": struct{}{}}},
		} {
			wantCode(t, "rule "+o.SQL+o.Action, s.tryRule(o), emulator.CodeArgument)
		}
		err = s.tryRule(sql("bad", "n = = 1"))
		if !strings.HasPrefix(err.Error(), "There was an error parsing the SQL expression. [Token line=1, column=4, Token in error= =,") {
			t.Errorf("text %q", err)
		}
		wantCode(t, "rule of a topic", b.tryRule(sql("r", "1=1")), emulator.CodeNotAllowed)
		wantCode(t, "rule of a queue", b.on("q").tryRemoveRule("r"), emulator.CodeNotAllowed)
		_, err = b.q.Subscription()
		wantCode(t, "rules of a topic", err, emulator.CodeNotAllowed)
		equalSlices(t, "rules", s.ruleNames(), "$Default", "Rule")
	})
}

func TestTOP8_RuleChangesConcernLaterMessagesOnly(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", sql("one", "n = 1"))}, func(b *broker) {
		b.send(props("a", "n", int32(1)), props("b", "n", int32(2)))
		b.sub("s").addRule(sql("two", "n = 2"))
		if err := b.sub("s").tryRemoveRule("one"); err != nil {
			t.Fatalf("remove: %v", err)
		}
		b.send(props("c", "n", int32(1)), props("d", "n", int32(2)))
		equal(t, "got", bodies(b.sub("s").peek()), "a d")
	})
}

func TestTOP8_FailedRuleChangesAreUndone(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s",
		action("one", "SET r = 1"), action("two", "SET r = 2"), action("three", "SET r = 3"))}, func(b *broker) {
		s := b.sub("s")
		failOnce := func() {
			synctest.Wait()
			b.failOnce()
		}
		failOnce()
		if err := s.tryRule(sql("four", "1=1")); err == nil {
			t.Error("a rule that could not be written was added")
		}
		failOnce()
		if err := s.tryRemoveRule("two"); err == nil {
			t.Error("a removal that could not be written succeeded")
		}
		failOnce()
		o := s.subscription().Options()
		o.Rules = []emulator.RuleOptions{sql("other", "1=0")}
		o.Queue.MaxDeliveryCount = 3
		if _, err := b.ns.Entities().UpdateSubscription("t", o); err == nil {
			t.Error("an update that could not be written succeeded")
		}
		equal(t, "setting", s.subscription().Options().Queue.MaxDeliveryCount, 0)
		synctest.Wait() // until then the failure takes along what is appended behind it
		b.sendTexts("x")
		gs := s.drain()
		equalSlices(t, "copies", mapped(gs, func(g *got) any { return g.property("r") }), any(int64(1)), any(int64(2)), any(int64(3)))
		equalSlices(t, "rules", s.ruleNames(), "one", "three", "two")
		s.addRule(sql("two-plus", "1=1"))
	})
}

func TestTOP8_RulesChangeWhileTheyAreWritten(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		s := b.sub("s")
		b.j.Pause()
		var done []outcome
		for _, name := range []string{"a", "b", "c"} {
			o := newOutcome()
			if err := s.subscription().AddRule(sql(name, "1=0"), o); err != nil {
				t.Fatalf("add: %v", err)
			}
			done = append(done, o)
		}
		wantCode(t, "the same name meanwhile", s.subscription().AddRule(sql("B", "1=0"), newOutcome()), emulator.CodeAlreadyExists)
		o := newOutcome()
		if err := s.subscription().RemoveRule("b", o); err != nil {
			t.Fatalf("remove: %v", err)
		}
		b.j.Resume()
		for _, o := range append(done, o) {
			if err := <-o; err != nil {
				t.Errorf("a change of rules: %v", err)
			}
		}
		b = b.again()
		equalSlices(t, "rules", b.sub("s").ruleNames(), "$Default", "a", "c")
	})
}

func TestTOP8_UpdatedRuleKeepsItsPlace(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", action("a", "SET r = 1"), action("b", "SET r = 2"))}, func(b *broker) {
		s := b.sub("s")
		update := func(o emulator.RuleOptions) error {
			done := newOutcome()
			if err := s.subscription().UpdateRule(o, done); err != nil {
				return err
			}
			return <-done
		}
		b.failOnce()
		if err := update(action("a", "SET r = 3")); err == nil {
			t.Error("an update that could not be written succeeded")
		}
		wantCode(t, "missing", update(action("c", "SET r = 3")), emulator.CodeNotFound)
		wantCode(t, "bad", update(action("b", "SET")), emulator.CodeArgument)
		wait(time.Minute)
		if err := update(action("A", "SET r = 4")); err != nil {
			t.Fatalf("update: %v", err)
		}
		b = b.again()
		b.sendTexts("x")
		gs := b.sub("s").drain()
		equalSlices(t, "copies", mapped(gs, func(g *got) any { return g.property("r") }), any(int64(4)), any(int64(2)))
		equal(t, "name", gs[0].property("RuleName"), any("a"))
		rules, err := b.sub("s").subscription().Rules(0, 1)
		if err != nil || rules[0].CreatedAt != now().Add(-time.Minute).UnixMilli() {
			t.Errorf("rules %+v, %v", rules, err)
		}
	})
}

// unzoned is a time, in milliseconds since the Unix epoch, that was given without a zone.
func unzoned(ms int64) amqp.Described {
	return amqp.Described{Descriptor: emulator.DescriptorUnzoned, Value: amqp.Timestamp(ms)}
}

func TestTOP9_CorrelationFilters(t *testing.T) {
	is := func(f emulator.CorrelationFilter) emulator.RuleOptions {
		return emulator.RuleOptions{Name: "r", Correlation: &f}
	}
	for name, c := range map[string]struct {
		rule emulator.RuleOptions
		want bool
	}{
		"label":              {is(emulator.CorrelationFilter{Label: new("Order")}), true},
		"label, other case":  {is(emulator.CorrelationFilter{Label: new("order")}), false},
		"all must hold":      {is(emulator.CorrelationFilter{Label: new("Order"), To: new("x")}), false},
		"message id":         {is(emulator.CorrelationFilter{MessageID: new("m1")}), true},
		"session id":         {is(emulator.CorrelationFilter{SessionID: new("s1")}), true},
		"property":           {is(emulator.CorrelationFilter{Properties: emulator.Values{"Color": "blue"}}), true},
		"int as long":        {is(emulator.CorrelationFilter{Properties: emulator.Values{"n": int64(10)}}), true},
		"number as text":     {is(emulator.CorrelationFilter{Properties: emulator.Values{"n": "10"}}), false},
		"time":               {is(emulator.CorrelationFilter{Properties: emulator.Values{"at": amqp.Timestamp(1_700_000_000_000)}}), true},
		"time without zone":  {is(emulator.CorrelationFilter{Properties: emulator.Values{"at": unzoned(1_700_000_000_000)}}), true},
		"another time":       {is(emulator.CorrelationFilter{Properties: emulator.Values{"at": unzoned(1_700_000_000_001)}}), false},
		"missing property":   {is(emulator.CorrelationFilter{Properties: emulator.Values{"nope": "x"}}), false},
		"nothing is tested":  {is(emulator.CorrelationFilter{}), true},
		"empty text":         {is(emulator.CorrelationFilter{Label: new("")}), false},
		"empty, not set":     {is(emulator.CorrelationFilter{ReplyTo: new("")}), false},
		"empty property":     {is(emulator.CorrelationFilter{ContentType: new(""), Properties: emulator.Values{"none": ""}}), true},
		"two of three":       {is(emulator.CorrelationFilter{Label: new("Order"), MessageID: new("m1"), Properties: emulator.Values{"color": "red"}}), false},
		"the body is no one": {sql("r", "body = 'x' OR EXISTS(body)"), false},
	} {
		t.Run(name, func(t *testing.T) {
			topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", c.rule)}, func(b *broker) {
				for range 2 {
					m := props("x", "color", "blue", "n", int32(10), "none", "", "at", time.UnixMilli(1_700_000_000_000))
					m.Properties = inSession("s1", "").Properties
					label := "Order"
					m.Properties.Subject, m.Properties.MessageID, m.Properties.ContentType = &label, "m1", new("")
					b.send(m)
					equal(t, "selected", len(b.sub("s").drain()) == 1, c.want)
					b = b.again() // with the rule as it was stored
				}
			})
		})
	}
}

func TestTOP10_DLQR6_FilterErrors(t *testing.T) {
	no := false
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		withRules("fails", sql("r", "sys.Nope = 1")),
		withRules("acts", action("r", "SET sys.SequenceNumber = 1")),
		{Name: "off", DeadLetteringOnFilterErrors: &no, Rules: []emulator.RuleOptions{sql("r", "n / 0 = 1")}},
		withRules("both", sql("r1", "n / 0 = 1"), sql("r2", "n % 0 = 1"), sql("good", "n = 1"), action("r3", "SET n = 'text'"), action("r4", "SET ok = 1")),
		{Name: "plain"},
	}, func(b *broker) {
		b.send(props("x", "n", int32(1)))
		for name, want := range map[string][2]int64{"fails": {0, 1}, "acts": {0, 1}, "off": {0, 0}, "both": {2, 1}, "plain": {1, 0}} {
			c := b.sub(name).q.Counts()
			equal(t, name+": active and dead-lettered", [2]int64{c.Active, c.DeadLetter}, want)
		}
		b = b.again()
		for name, reason := range map[string]string{"fails": "FilterException", "acts": "RuleActionException", "both": "FilterException"} {
			g := b.sub(name).oneFrom(emulator.DeadLetter)
			equal(t, name+": reason", g.property(emulator.DeadLetterReason), any(reason))
			if text, _ := g.property(emulator.DeadLetterErrorDescription).(string); text == "" {
				t.Errorf("%s: no description", name)
			}
			equal(t, name+": property", g.property("n"), any(int32(1)))
			equal(t, name+": no rule changed it", g.property("RuleName"), any(nil))
		}
		equal(t, "number of the dead-letter copy", b.sub("both").peekFrom(emulator.DeadLetter, 0, 1)[0].seq(), 3) // SEQ-21
		b.wantStored(6, 1)
	})
}

func TestDLQR3_ActionThatBlowsUpTheHeader(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", action("r",
		"SET a1 = a + a; SET a2 = a1 + a1; SET a3 = a2 + a2"))}, func(b *broker) {
		b.send(props("x", "a", strings.Repeat("x", 8000)))
		g := b.sub("s").oneFrom(emulator.DeadLetter)
		equal(t, "reason", g.property(emulator.DeadLetterReason), any("HeaderSizeExceeded"))
		equal(t, "properties", len(g.ApplicationProperties), 3)
	})
}

func TestDLQR3_ActionOnALargeHeader(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{
		withRules("adds", action("r", "SET b = a")), withRules("replaces", action("r", "SET a2 = 'x'; SET a3 = a1")),
		withRules("removes", action("r", "REMOVE a2")), withRules("system", action("r", "SET sys.Label = a")),
	}, func(b *broker) {
		large := strings.Repeat("x", 20_000)
		b.send(props("x", "a", large, "a1", large[1:], "a2", large, "a3", "y"))
		for name, want := range map[string][2]int64{"adds": {0, 1}, "replaces": {1, 0}, "removes": {1, 0}, "system": {0, 1}} {
			c := b.sub(name).q.Counts()
			equal(t, name+": active and dead-lettered", [2]int64{c.Active, c.DeadLetter}, want)
		}
		equal(t, "properties of the dead letter", len(b.sub("adds").oneFrom(emulator.DeadLetter).ApplicationProperties), 6)
	})
}

func TestTOP16_RulesAreListedInOrdinalOrderWithPaging(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		s := b.sub("s")
		for _, name := range []string{"b", "B", "a", "~", "1"} {
			if name == "B" {
				name = "Z"
			}
			s.addRule(sql(name, "1=1"))
		}
		want := []string{"$Default", "1", "Z", "a", "b", "~"}
		equalSlices(t, "all", s.ruleNames(), want...)
		for i := range want {
			page, err := s.subscription().Rules(i, 1)
			if err != nil || len(page) != 1 || page[0].Name != want[i] {
				t.Errorf("page %d: %v %v", i, page, err)
			}
		}
		page, err := s.subscription().Rules(6, 1)
		equal(t, "page behind the end", len(page), 0)
		if err != nil {
			t.Errorf("page behind the end: %v", err)
		}
	})
}

func TestTOP8_ValuesKeepTheirTypesThroughTheJournal(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	values := emulator.Values{
		"string": "text", "bool": true, "int": int32(5), "long": int64(1 << 60), "double": 2.5, "float": float32(1.5), "byte": uint8(1),
		"sbyte": int8(-1), "short": int16(-2), "ushort": uint16(2), "uint": uint32(3), "ulong": uint64(1 << 63), "char": amqp.Char('x'),
		"guid": amqp.UUID{1, 2, 3}, "date": at, "span": 90 * time.Second,
		"unzoned": unzoned(at.UnixMilli()),
	}
	want := emulator.Values{}
	for k, v := range values {
		want[k] = v
	}
	want["date"] = amqp.TimestampOf(at)
	want["span"] = amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: int64(900_000_000)}
	topicBubble(t, emulator.TopicOptions{}, named("s"), func(b *broker) {
		b.sub("s").addRule(emulator.RuleOptions{Name: "correlation", Correlation: &emulator.CorrelationFilter{Properties: values}})
		b.sub("s").addRule(emulator.RuleOptions{Name: "sql", SQL: "a = @int AND d < @date", Parameters: values, Action: "SET x = @span", ActionParameters: values})
		for range 2 {
			rules, err := b.sub("s").subscription().Rules(1, 2)
			if err != nil {
				t.Fatalf("list: %v", err)
			}
			for what, v := range map[string]emulator.Values{"correlation": rules[0].Correlation.Properties, "filter": rules[1].Parameters, "action": rules[1].ActionParameters} {
				if !reflect.DeepEqual(v, want) {
					t.Errorf("%s has %#v, want %#v", what, v, want)
				}
			}
			b = b.again()
		}
	})
	if text, err := json.Marshal(emulator.Values{"s": "x", "n": int32(5)}); err != nil || !strings.Contains(string(text), `"type":"int","text":"5"`) {
		t.Errorf("JSON %s, %v: people should be able to read it", text, err)
	}
}
