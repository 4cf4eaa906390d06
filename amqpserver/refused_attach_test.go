package amqpserver_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// TestLink_WhatIsNotServedIsRefusedWithAFix: the server ignores no terminus field silently, and the refusal says
// what to do instead.
func TestLink_WhatIsNotServedIsRefusedWithAFix(t *testing.T) { // [AMQP 3.5.3], JMS-3
	receiver := func(change func(*frames.Attach)) *frames.Attach {
		a := amqptest.ReceiverAttach(0, "q")
		change(a)
		return a
	}
	sender := func(change func(*frames.Attach)) *frames.Attach {
		a := amqptest.SenderAttach(0, "q")
		change(a)
		return a
	}
	filter := func(key string, value any) *frames.Attach {
		return receiver(func(a *frames.Attach) { a.Source.Filter = amqp.Map{{Key: amqp.Symbol(key), Value: value}} })
	}
	for name, c := range map[string]struct {
		attach *frames.Attach
		fix    []string
	}{
		"selector, by number": {filter("jms-selector",
			amqp.Described{Descriptor: uint64(0x0000468C00000004), Value: "color = 'red'"}),
			[]string{"jms-selector", "subscription", "rule"}},
		"selector, by name": {filter("x",
			amqp.Described{Descriptor: amqp.Symbol("apache.org:selector-filter:string"), Value: "a = 1"}),
			[]string{"x (apache", "apache.org:selector-filter:string", "rule"}},
		"no source": {receiver(func(a *frames.Attach) { a.Source = nil }),
			[]string{"source", "queue", "subscription"}},
		"no address": {receiver(func(a *frames.Attach) { a.Source = &frames.Source{} }),
			[]string{"source", "queue", "subscription"}},
		"dynamic source": {receiver(func(a *frames.Attach) { a.Source.Dynamic = true }),
			[]string{"dynamic", "AutoDeleteOnIdle"}},
		"copy": {receiver(func(a *frames.Attach) { a.Source.DistributionMode = "copy" }),
			[]string{"copy", "peek", "q/$management"}},
		"no target": {sender(func(a *frames.Attach) { a.Target = nil }), []string{"target", "queue", "topic"}},
		"null address": {sender(func(a *frames.Attach) { a.Target = &frames.Target{} }),
			[]string{"anonymous", "sender for each"}},
		"dynamic target": {sender(func(a *frames.Attach) { a.Target.Dynamic = true }),
			[]string{"dynamic", "AutoDeleteOnIdle"}},
	} {
		t.Run(name, func(t *testing.T) {
			limitedTo(t, emulator.ProfileStandard, func(t *testing.T, b *bench) {
				text := wantRefused(t, b.opened(t), c.attach, "amqp:not-implemented")
				for _, want := range c.fix {
					if !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
						t.Errorf("%q does not say %q", text, want)
					}
				}
			})
		})
	}
}

// TestLink_OtherFiltersAreRefusedInTheServicesWords: .NET's client looks for them after the last quotation mark, and
// then says that there are no non-exclusive sessions.
func TestLink_OtherFiltersAreRefusedInTheServicesWords(t *testing.T) { // amqp-data-plane 4.3
	for key, value := range map[string]any{
		"com.microsoft:non-exclusive-session-filter": amqp.Described{Descriptor: uint64(0x137000000E),
			Value: amqp.List{"o'brien", nil}},
		"com.microsoft:non-exclusive-session-filter:list": amqp.Described{
			Descriptor: amqp.Symbol("com.microsoft:non-exclusive-session-filter:list"),
			Value:      amqp.List{nil, amqp.UUID{1}}},
		"mine": "x",
	} {
		t.Run(key, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				a := amqptest.ReceiverAttach(0, "q")
				a.LinkName = "q:session-id:o'brien"
				a.Source.Filter = amqp.Map{{Key: amqp.Symbol(key), Value: value}}
				text := wantRefused(t, b.opened(t), a, "amqp:not-allowed")
				const want = "The link 'q:session-id:o'brien' contains invalid filter type. System only support Jms or Apache selector filter type."
				if !strings.HasPrefix(text, want) || strings.LastIndex(text, "'") > strings.Index(text, " contains") {
					t.Errorf("%q", text)
				}
			})
		})
	}
}

func TestLink_NullFilterIsNone(t *testing.T) { // [AMQP 3.5.8]
	bubble(t, func(t *testing.T, b *bench) {
		a := amqptest.ReceiverAttach(0, "q")
		a.Source.Filter = amqp.Map{{Key: amqp.Symbol("jms-selector"), Value: nil}}
		if got := b.opened(t).AttachReceiver(0, a); len(got.Source.Filter) > 0 {
			t.Errorf("the answer has the filter %v", got.Source.Filter)
		}
	})
}

// TestTOP1_ReceivingFromATopicNamesTheSubscription: the error says that a topic can't be received from, and how to
// write the address of a subscription.
func TestTOP1_ReceivingFromATopicNamesTheSubscription(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		if _, err := b.ns.Entities().CreateTopic("news", emulator.TopicOptions{}); err != nil {
			t.Fatal(err)
		}
		p := b.opened(t)
		for _, address := range []string{"news", "news/$DeadLetterQueue"} {
			text := wantRefused(t, p, amqptest.ReceiverAttach(0, address), "amqp:not-found")
			for _, want := range []string{"The messaging entity 'news' could not be found", "topic",
				"'news/Subscriptions/"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q does not say %q", address, text, want)
				}
			}
		}
	})
}

// TestSESS5_SessionReceiverOfAPlainQueue: the client gets the service's text.
func TestSESS5_SessionReceiverOfAPlainQueue(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for _, session := range []any{"s", nil} {
			a := amqptest.ReceiverAttach(0, "q")
			a.Source.Filter = amqp.Map{{Key: amqp.Symbol("com.microsoft:session-filter"), Value: session}}
			text := wantRefused(t, p, a, "amqp:not-allowed")
			const want = "A sessionful message receiver cannot be created on an entity that does not require sessions. " +
				"Ensure RequiresSession is set to true when creating a Queue or Subscription to enable sessionful behavior."
			if !strings.HasPrefix(text, want) {
				t.Errorf("session %v: %q", session, text)
			}
		}
	})
}

// TestLog_RefusedAttachNamesTheAddress, even if the error names no entity.
func TestLog_RefusedAttachNamesTheAddress(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		a := amqptest.ReceiverAttach(0, "amqp://host/q/$management/x")
		wantRefused(t, p, a, "amqp:not-found")
		wantRefused(t, p, amqptest.SenderAttach(0, "amqp://host"), "amqp:invalid-field")
		wantRefused(t, p, amqptest.ReceiverAttach(0, strings.Repeat("n", 9000)), "amqp:invalid-field")
		log := b.log.String()
		for _, want := range []string{"address=amqp://host/q/$management/x", "address=amqp://host\n", "address=nnnn"} {
			if !strings.Contains(log, want) {
				t.Errorf("the log has no %q:\n%s", want, log)
			}
		}
		if strings.Contains(log, strings.Repeat("n", 1000)) {
			t.Error("the log has an address as long as a book")
		}
	})
}

// TestERR9_DescriptionsAreCutBetweenCharacters: clients can't decode a frame with half a character.
func TestERR9_DescriptionsAreCutBetweenCharacters(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for pad := range 4 {
			name := strings.Repeat("x", pad) + strings.Repeat("\U0001F600", 1000)
			text := wantRefused(t, p, amqptest.ReceiverAttach(0, name), "amqp:not-found")
			if !utf8.ValidString(text) || len(text) > 1024 {
				t.Errorf("%d bytes: %q", len(text), text)
			}
		}
	})
}

// TestLink_RefusalOfAnEndedLinkIsNotAnswered: rhea writes an attach without source and target for each that it gets
// after its detach, so an answer would bring the next one, without end [AMQP 2.6.3].
func TestLink_RefusalOfAnEndedLinkIsNotAnswered(t *testing.T) {
	for _, a := range []*frames.Attach{amqptest.ReceiverAttach(0, "q"), amqptest.SenderAttach(0, "q")} {
		t.Run(a.LinkName, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.Send(0, a)
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
				for answered := false; !answered; {
					_, answered = p.Next().Body.(*frames.Detach)
				}
				echo := &frames.Attach{LinkName: a.LinkName, Handle: 0, Role: a.Role,
					HasInitialDeliveryCount: bool(!a.Role)}
				p.Send(0, echo)
				p.Send(0, amqptest.Flow(0, 0, 1000))
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
				p.WantSilence(time.Minute)
				echo.LinkName = "another"
				wantRefused(t, p, echo, "amqp:not-implemented")
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q")) // the handle is free
			})
		})
	}
}
