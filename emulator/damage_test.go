package emulator_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// harms are ways in which the body of message 2 can be had no more.
var harms = map[string]struct {
	do   func(b *broker)
	rest string // what its substitute has as body
}{
	"damaged": {func(b *broker) { b.j.harm(b.bodyOf(2)) }, "rest"},
	"missing": {func(b *broker) { b.j.setReads(nil, b.bodyOf(2)) }, ""},
}

// eachHarm runs f with a queue that keeps no body in memory.
func eachHarm(t *testing.T, o emulator.QueueOptions, f func(t *testing.T, b *broker, harm func(), rest string)) {
	for name, h := range harms {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, small, o, func(b *broker) { f(t, b, func() { h.do(b) }, h.rest) })
		})
	}
}

// wantDamagedDead checks the dead-letter queue: message 2 is there, says so, and can be received and completed.
func (b *broker) wantDamagedDead(rest string) {
	b.t.Helper()
	g := b.oneFrom(emulator.DeadLetter)
	equal(b.t, "number", g.seq(), 2)
	equal(b.t, "reason", g.property(emulator.DeadLetterReason), any("BodyDamaged"))
	equal(b.t, "what is left", g.body(), rest)
	b.settle(emulator.Complete, g)
	equal(b.t, "dead letters left", b.q.Counts().DeadLetter, 0)
}

func TestDamage_ReceivedMessageGoesToTheDeadLetterQueueAndHoldsUpNone(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		eachHarm(t, emulator.QueueOptions{}, func(t *testing.T, b *broker, harm func(), rest string) {
			b.sendTexts("a", "b", "c")
			harm()
			gs, pokes := b.reading(mode, 2)
			equal(t, "received", bodies(gs), "a")
			equal(t, "pokes", pokes > 0, true)
			gs, _ = b.reading(mode, 2)
			equal(t, "received next", bodies(gs), "c")
			b.wantDamagedDead(rest)
		})
	}
}

func TestDamage_TheOnlyMessageOfATake(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		eachHarm(t, emulator.QueueOptions{}, func(t *testing.T, b *broker, harm func(), rest string) {
			b.sendTexts("a", "b", "c")
			harm()
			b.reading(mode, 1)
			gs, pokes := b.reading(mode, 1)
			equal(t, "received", bodies(gs), "")
			equal(t, "pokes", pokes > 0, true)
			gs, _ = b.reading(mode, 1)
			equal(t, "received next", bodies(gs), "c")
			b.wantDamagedDead(rest)
		})
	}
}

func TestDamage_InASession(t *testing.T) {
	eachHarm(t, sessionful, func(t *testing.T, b *broker, harm func(), rest string) {
		b.sendSession("s:1", "s:2", "s:3")
		harm()
		h := b.accept("s")
		equal(t, "received", bodies(h.take(2)), "s:1")
		equal(t, "received next", bodies(h.take(2)), "s:3")
		b.wantDamagedDead(rest)
	})
}

func TestDamage_ReceivedByNumber(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		eachHarm(t, emulator.QueueOptions{}, func(t *testing.T, b *broker, harm func(), rest string) {
			b.deferOne(text("a"))
			b.deferOne(text("b"))
			harm()
			_, err := b.byNumber(emulator.Main, mode, 1, 2)
			wantCode(t, "both", err, emulator.CodeMessageNotFound)
			synctest.Wait()
			gs, err := b.byNumber(emulator.Main, mode, 1)
			if err != nil || bodies(gs) != "a" {
				t.Errorf("the other one: %q, %v", bodies(gs), err)
			}
			b.wantDamagedDead(rest)
		})
	}
}

// TestDamage_InTheDeadLetterQueue, where a message can't be dead-lettered: all ways of reading show the substitute.
func TestDamage_InTheDeadLetterQueue(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		b.settle(emulator.DeadLetterOutcome, b.receive(2)...)
		b.j.harm(b.bodyOf(2))
		equal(t, "peeked", bodies(b.peekFrom(emulator.DeadLetter, 0, 9)), "a rest")
		gs := b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 2)
		equal(t, "received", bodies(gs), "a rest")
		b.settle(emulator.Defer, gs...)
		gs, err := b.byNumber(emulator.DeadLetter, emulator.PeekLock, 2)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "received by number", bodies(gs), "rest")
		equal(t, "reason", gs[0].property(emulator.DeadLetterReason), any("BodyDamaged"))
	})
}

func TestDamage_PeekShowsWhatIsLeft(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		b.j.harm(b.bodyOf(2))
		equal(t, "peeked", bodies(b.peek()), "a rest c")
		equal(t, "reason", b.peek()[1].property(emulator.DeadLetterReason), any("BodyDamaged"))
		b.wantCounts(3, 0, 0, 0)
	})
}

func TestDamage_FailedDeadLetteringIsTriedAgainAfterAPause(t *testing.T) {
	eachHarm(t, emulator.QueueOptions{}, func(t *testing.T, b *broker, harm func(), rest string) {
		b.sendTexts("a", "b")
		harm()
		b.j.FailNext(1<<30, errDisk)
		r := b.receiver(emulator.Main, emulator.PeekLock)
		equal(t, "received", bodies(r.take(2)), "a")
		changes, _ := b.j.seen()
		time.Sleep(10 * time.Second)
		r.take(1)
		if after, _ := b.j.seen(); after-changes > 20 {
			t.Errorf("%d tries in ten seconds", after-changes)
		}
		b.j.FailNext(0, nil)
		time.Sleep(10 * time.Second)
		r.take(1)
		b.wantDamagedDead(rest)
	})
}

func TestDamage_ForwardLeavesItBehind(t *testing.T) {
	eachHarm(t, emulator.QueueOptions{}, func(t *testing.T, b *broker, harm func(), rest string) {
		target := b.create("target", emulator.QueueOptions{})
		b.sendTexts("a", "b", "c")
		harm()
		b.set(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
		equal(t, "forwarded", bodies(target.receive(3)), "a c")
		b.wantDamagedDead(rest)
	})
}

func TestDamage_OfATopicsMessageConcernsEachCopy(t *testing.T) {
	topicBubbleWith(t, small, emulator.TopicOptions{}, named("x", "y"), func(b *broker) {
		b.sendTexts("a")
		var body int64
		for _, op := range b.j.since(0) {
			if op.Kind == emulator.OpInsert {
				body = op.Record.Body
			}
		}
		b.j.harm(body)
		for _, name := range []string{"x", "y"} {
			s := b.sub(name)
			equal(t, "received by "+name, len(s.receive(1)), 0)
			equalSlices(t, "dead letters of "+name, s.deadReasons(emulator.DeadLetter), "rest=BodyDamaged")
		}
	})
}

// TestDamage_ScheduledInATopicStaysThere: the rules can't say where it belongs. The others become due.
func TestDamage_ScheduledInATopicStaysThere(t *testing.T) {
	for name, h := range harms {
		t.Run(name, func(t *testing.T) {
			topicBubbleWith(t, small, emulator.TopicOptions{}, named("x"), func(b *broker) {
				b.schedule(at("1", soon(time.Minute)), at("2", soon(time.Minute)), at("3", soon(time.Minute)))
				h.do(b)
				wait(time.Hour)
				equal(t, "due", bodies(b.sub("x").peek()), "1 3")
				equal(t, "in the topic", bodies(b.peek()), h.rest)
				b.j.harm(0)
				b.j.setReads(nil, 0)
				wait(time.Minute)
				equal(t, "due when it is well", bodies(b.sub("x").peek()), "1 3 2")
			})
		})
	}
}

// TestDamage_ScheduledInATopicIsTriedAgainIfItCannotBeUnderstood holds up none either.
func TestDamage_ScheduledInATopicIsTriedAgainIfItCannotBeUnderstood(t *testing.T) {
	topicBubbleWith(t, small, emulator.TopicOptions{}, named("x"), func(b *broker) {
		b.schedule(at("1", soon(time.Minute)), at("2", soon(time.Minute)))
		b.j.garble(b.bodyOf(1))
		wait(time.Hour)
		equal(t, "due", bodies(b.sub("x").peek()), "2")
		b.j.garble(0)
		wait(time.Minute)
		equal(t, "due when it is well", bodies(b.sub("x").peek()), "2 1")
	})
}

// TestDamage_IsToldOnce for each body, with the entity and the number.
func TestDamage_IsToldOnce(t *testing.T) {
	var lines bytes.Buffer
	options := small
	options.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	bubbleWith(t, options, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		b.j.harm(b.bodyOf(2))
		b.peek()
		b.peek()
		b.receive(2)
		got := lines.String()
		for _, part := range []string{"level=ERROR", "entity=q", "sequenceNumber=2", "a bit turned"} {
			if strings.Count(got, part) != 1 {
				t.Errorf("%s is not there once in\n%s", part, got)
			}
		}
	})
}
