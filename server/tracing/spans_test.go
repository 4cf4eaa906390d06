package tracing

import (
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"minibus/emulator"
)

func newTestSpans() *spans {
	return newSpans(noop.NewTracerProvider().Tracer(""), func(int64) string { return "shop" })
}

// TestWhatIsRememberedHasABound: messages may wait for years.
func TestWhatIsRememberedHasABound(t *testing.T) {
	s := newTestSpans()
	for i := range int64(mostFollowed) {
		s.follow(&emulator.Event{Kind: emulator.EventSent, Entity: "orders", Sequence: i, Body: i})
	}
	if n := len(s.messages) + len(s.positions); n > mostFollowed || len(s.messages) != s.order.Len() || len(s.messages) < mostFollowed/3 {
		t.Errorf("it remembers %d messages in %d positions, a list of %d", len(s.messages), len(s.positions), s.order.Len())
	}
	if lost := s.forgotten(); lost != int64(mostFollowed-len(s.messages)) || s.forgotten() != 0 {
		t.Errorf("it has forgotten %d", lost)
	}
	// One that is forgotten has a trace of its own, and one that is known is gone in the end.
	for _, i := range []int64{0, mostFollowed - 1} {
		before := len(s.messages)
		s.follow(&emulator.Event{Kind: emulator.EventDelivered, Entity: "orders", Sequence: i, Body: i})
		s.follow(&emulator.Event{Kind: emulator.EventCompleted, Entity: "orders", Sequence: i, Body: i})
		if len(s.messages) > before {
			t.Errorf("number %d is still remembered", i)
		}
	}
}

// TestAMessageThatIsGoneIsForgotten, however it went.
func TestAMessageThatIsGoneIsForgotten(t *testing.T) {
	at := func(kind emulator.EventKind, entity string, more ...func(*emulator.Event)) emulator.Event {
		e := emulator.Event{Kind: kind, Entity: entity, Sequence: 1, Body: 7}
		for _, change := range more {
			change(&e)
		}
		return e
	}
	topic := func(copies int) func(*emulator.Event) {
		return func(e *emulator.Event) { e.Topic, e.Copies = true, copies }
	}
	inDeadLetters := func(e *emulator.Event) { e.Sub = emulator.DeadLetter }
	reason := func(e *emulator.Event) { e.Text = "why" }
	for name, events := range map[string][]emulator.Event{
		"completed":   {at(emulator.EventSent, "q"), at(emulator.EventDelivered, "q"), at(emulator.EventRenewed, "q"), at(emulator.EventCompleted, "q")},
		"deleted":     {at(emulator.EventSent, "q"), at(emulator.EventDeliveredDeleted, "q")},
		"to nobody":   {at(emulator.EventSent, "t", topic(0))},
		"expired":     {at(emulator.EventSent, "q"), at(emulator.EventExpired, "q")},
		"cancelled":   {at(emulator.EventScheduled, "q"), at(emulator.EventCancelled, "q")},
		"duplicate":   {at(emulator.EventDuplicate, "q")},
		"lock lost":   {at(emulator.EventSent, "q"), at(emulator.EventDelivered, "q"), at(emulator.EventLockExpired, "q"), at(emulator.EventPurged, "q")},
		"deferred":    {at(emulator.EventSent, "q"), at(emulator.EventDelivered, "q"), at(emulator.EventDeferred, "q"), at(emulator.EventDelivered, "q"), at(emulator.EventCompleted, "q")},
		"dead":        {at(emulator.EventSent, "q"), at(emulator.EventDelivered, "q"), at(emulator.EventDeadLettered, "q", reason), at(emulator.EventPurged, "q", inDeadLetters)},
		"two copies":  {at(emulator.EventSent, "t", topic(2)), at(emulator.EventCopied, "a"), at(emulator.EventDeliveredDeleted, "a"), at(emulator.EventCopied, "b"), at(emulator.EventDeliveredDeleted, "b")},
		"forwarded":   {at(emulator.EventSent, "a"), at(emulator.EventForwarded, "a"), at(emulator.EventForwardedHere, "b"), at(emulator.EventDeliveredDeleted, "b")},
		"other order": {at(emulator.EventSent, "a"), at(emulator.EventForwardedHere, "b"), at(emulator.EventForwarded, "a"), at(emulator.EventDeliveredDeleted, "b")},
		"twice":       {at(emulator.EventSent, "q"), at(emulator.EventSent, "q"), at(emulator.EventDeliveredDeleted, "q")},
	} {
		s := newTestSpans()
		for _, e := range events {
			s.follow(&e)
		}
		if len(s.messages)+len(s.positions)+s.order.Len() != 0 {
			t.Errorf("%s: %d messages in %d places are left", name, len(s.messages), len(s.positions))
		}
	}
}
