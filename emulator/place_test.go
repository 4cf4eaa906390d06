package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// place places a message and waits for the outcome.
func (b *broker) place(sub emulator.SubQueue, m *goamqp.Message, properties []byte) (int64, error) {
	b.t.Helper()
	in := encode(b.t, m)
	can := b.q.Messages().CanTake(sub, in)
	done := newOutcome()
	seq, err := b.q.Messages().Place(sub, in, properties, done)
	if (can == nil) != (err == nil) {
		b.t.Errorf("CanTake says %v, Place %v", can, err)
	}
	if err == nil {
		err = <-done
	}
	synctest.Wait()
	return seq, err
}

// TestPlaceMakesDeadLetters as if they had been dead-lettered, which a restart does not change.
func TestPlaceMakesDeadLetters(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		m := inSession("s", "x")
		m.Annotations = at("", now().Add(time.Hour)).Annotations
		seq, err := b.place(emulator.DeadLetter, m, b.properties(emulator.DeadLetterReason, "poison", emulator.DeadLetterErrorDescription, "it is bad"))
		if err != nil || seq != 1 {
			t.Fatalf("number %d, %v", seq, err)
		}
		if _, err := b.place(emulator.DeadLetter, text("plain"), nil); err != nil {
			t.Fatal(err)
		}
		equal(t, "sessions that are known", b.q.InMemory().Sessions(), 0)
		b.wantCounts(0, 2, 0, 0)
		b.verify(true)
		b.restart()
		b.wantCounts(0, 2, 0, 0)
		b.verify(true)
		wait(2 * time.Hour) // nothing is scheduled
		g := b.oneFrom(emulator.DeadLetter)
		equal(t, "reason", g.property(emulator.DeadLetterReason), any("poison"))
		equal(t, "description", g.property(emulator.DeadLetterErrorDescription), any("it is bad"))
		equal(t, "number", g.seq(), 1)
		b.settle(emulator.Complete, g)
		b.wantCounts(0, 1, 0, 0)
		b.verify(true)
	})
}

// TestPlaceIsTakenBackIfItCannotBeWritten and its number with it.
func TestPlaceIsTakenBackIfItCannotBeWritten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.failOnce()
		if _, err := b.place(emulator.DeadLetter, text("lost"), nil); err == nil {
			t.Error("it did not fail")
		}
		b.wantCounts(0, 0, 0, 0)
		seq, err := b.place(emulator.DeadLetter, text("kept"), nil)
		if err != nil || seq != 1 {
			t.Errorf("number %d, %v", seq, err)
		}
		b.verify(true)
	})
}

// TestPlaceAsksNoRules of a subscription, and its size counts with the topic's.
func TestPlaceAsksNoRules(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, []emulator.SubscriptionOptions{withRules("s", sql("none", "1=0"))}, func(b *broker) {
		s := b.sub("s")
		m := text("here")
		m.Annotations = at("", now().Add(time.Hour)).Annotations
		for _, m := range []*goamqp.Message{text("now"), m} {
			if _, err := s.place(emulator.Main, m, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.place(emulator.DeadLetter, text("dead"), nil); err != nil {
			t.Fatal(err)
		}
		s.wantCounts(1, 1, 1, 0)
		if b.q.Counts().SizeBytes != s.q.Counts().SizeBytes {
			t.Errorf("the topic has %d bytes, its subscription %d", b.q.Counts().SizeBytes, s.q.Counts().SizeBytes)
		}
		b.verify(true)
		b = b.again()
		s = b.sub("s")
		wait(2 * time.Hour)
		equal(t, "received", bodies(s.receive(9)), "now here")
		b.verify(true)
		_, err := b.q.Messages().Place(emulator.Main, encode(t, text("x")), nil, newOutcome())
		wantCode(t, "place in a topic", err, emulator.CodeNotAllowed)
	})
}

// TestPlaceIsRefused where messages can be sent, and where no sends would be taken either.
func TestPlaceIsRefused(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxMessageSizeInKilobytes: 1}, func(b *broker) {
		_, err := b.place(emulator.TransferDeadLetter, text("x"), nil)
		wantCode(t, "place", err, emulator.CodeNotAllowed)
		_, err = b.q.Messages().Place(emulator.Main, encode(t, text("x")), nil, newOutcome())
		wantCode(t, "place in a queue", err, emulator.CodeNotAllowed)
		_, err = b.place(emulator.DeadLetter, text(string(make([]byte, 2000))), nil)
		wantCode(t, "place a large one", err, emulator.CodeMessageTooLarge)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusSendDisabled })
		_, err = b.place(emulator.DeadLetter, text("x"), nil)
		wantCode(t, "place in a disabled queue", err, emulator.CodeEntityDisabled)
	})
}

// TestBroker_UntouchedUntilTheFirstMessage, also after it has gone and after a restart.
func TestBroker_UntouchedUntilTheFirstMessage(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		equal(t, "untouched", h.Untouched(), true)
		b := h.in("orders")
		b.sendTexts("a")
		b.drain()
		equal(t, "untouched after a message", h.Untouched(), false)
		h.restart()
		equal(t, "untouched after a restart", h.Untouched(), false)
	})
}
