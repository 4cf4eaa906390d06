package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// The instant that the rules of these tests have, and its ticks since the year 1.
var tickTime = time.Date(2026, 1, 2, 3, 4, 5, 123_456_700, time.UTC)

const tickTicks = int64(639_029_198_451_234_567)

// sendProperty sends a message with one application property, of any type of AMQP.
func (b *broker) sendProperty(name string, value any) {
	b.t.Helper()
	raw, err := amqp.AppendValue([]byte{0x00, 0x53, 0x74}, amqp.Map{{Key: name, Value: value}}) // [AMQP 3.2.5]
	if err != nil {
		b.t.Fatal(err)
	}
	m, err := message.Scan(append(raw, 0x00, 0x53, 0x75, 0xa0, 0x01, 'x')) // [AMQP 3.2.6]
	if err != nil {
		b.t.Fatal(err)
	}
	done := newOutcome()
	if err = b.q.Send([]message.Message{m}, done); err == nil {
		err = <-done
	}
	if err != nil {
		b.t.Fatalf("send: %v", err)
	}
}

// scalar returns an application property as it is on the wire.
func (g *got) scalar(name string) message.Scalar {
	g.t.Helper()
	m, err := message.Scan(g.raw)
	if err != nil {
		g.t.Fatal(err)
	}
	for e := m.UserProperties(); e.Next(); {
		if string(e.Key()) == name {
			return message.DecodeScalar(e.Encoded())
		}
	}
	return message.Scalar{}
}

// A comparison that differs by one tick comes out otherwise, with each type that has ticks. AMQP's own timestamp has
// milliseconds, so that it lies before a parameter with a few ticks more.
func TestTOP9_OneTickDecides(t *testing.T) {
	offset := func(ticks int64) amqp.Described {
		return amqp.Described{Descriptor: amqp.Symbol("com.microsoft:datetime-offset"), Value: ticks}
	}
	span := func(ticks int64) amqp.Described {
		return amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: ticks}
	}
	stamp := amqp.Timestamp(tickTime.UnixMilli())
	for name, c := range map[string]struct {
		property  any
		parameter any
		matches   map[string]bool
	}{
		"an offset, the same":      {offset(tickTicks), tickTime, map[string]bool{"a = @p": true, "a < @p": false}},
		"an offset, a tick before": {offset(tickTicks - 1), tickTime, map[string]bool{"a = @p": false, "a < @p": true}},
		"an offset, a tick after":  {offset(tickTicks + 1), tickTime, map[string]bool{"a = @p": false, "a > @p": true}},
		"without a zone":           {offset(tickTicks), emulator.UnzonedTime(tickTime), map[string]bool{"a = @p": true, "a >= @p": true}},
		"without a zone, after":    {offset(tickTicks + 1), emulator.UnzonedTime(tickTime), map[string]bool{"a <= @p": false}},
		"a timestamp is before":    {stamp, tickTime, map[string]bool{"a = @p": false, "a < @p": true}},
		"a timestamp is the same":  {stamp, tickTime.Truncate(time.Millisecond), map[string]bool{"a = @p": true, "a < @p": false}},
		"a span, the same":         {span(15_000_001), 1500*time.Millisecond + 100, map[string]bool{"a = @p": true}},
		"a span, a tick before":    {span(15_000_000), 1500*time.Millisecond + 100, map[string]bool{"a = @p": false, "a < @p": true}},
		"a difference":             {stamp, tickTime, map[string]bool{"@p - a > @milli": false, "@p - a = @ticks": true}},
	} {
		t.Run(name, func(t *testing.T) {
			var subs []emulator.SubscriptionOptions
			for sqlText := range c.matches {
				r := sql("r", sqlText)
				r.Parameters = emulator.Values{"@p": c.parameter, "@milli": time.Millisecond, "@ticks": 456_700 * time.Nanosecond}
				subs = append(subs, withRules("s"+string(rune('a'+len(subs))), r))
			}
			topicBubble(t, emulator.TopicOptions{}, subs, func(b *broker) {
				for range 2 {
					b.sendProperty("a", c.property)
					for _, s := range subs {
						want := c.matches[s.Rules[0].SQL]
						if got := len(b.sub(s.Name).drain()) == 1; got != want {
							t.Errorf("%s is %t, want %t", s.Rules[0].SQL, got, want)
						}
					}
					b = b.again()
				}
			})
		})
	}
}

// A correlation filter selects by ticks too.
func TestTOP9_CorrelationComparesTicks(t *testing.T) {
	r := emulator.RuleOptions{Name: "r", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"a": tickTime}}}
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", r)}, func(b *broker) {
		for _, ticks := range []int64{tickTicks - 1, tickTicks, tickTicks + 1} {
			b.sendProperty("a", amqp.Described{Descriptor: amqp.Symbol("com.microsoft:datetime-offset"), Value: ticks})
		}
		equal(t, "copies", len(b.sub("s").drain()), 1)
	})
}

// An action computes with ticks. What it leaves in the message has those that the property's type has: a TimeSpan all of
// them, a timestamp milliseconds.
func TestTOP5_ActionsKeepTicks(t *testing.T) {
	r := sql("r", "1=1")
	r.Action = "SET t = @t SET d = @u - t SET s = @s"
	r.ActionParameters = emulator.Values{"@t": tickTime, "@u": tickTime.Add(time.Second + 300), "@s": 100 * time.Nanosecond}
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", r)}, func(b *broker) {
		b.sendTexts("x")
		g := b.sub("s").one()
		equal(t, "t", g.scalar("t"), message.Scalar{Type: message.TypeTimestamp, Bits: uint64(tickTime.UnixMilli())})
		for name, want := range map[string]uint64{"d": 10_000_003, "s": 1} {
			equal(t, name, g.scalar(name), message.Scalar{Type: message.TypeTimeSpan, Bits: want})
		}
	})
}
