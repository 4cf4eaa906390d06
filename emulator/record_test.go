package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// recorded are options with a record that forgets nothing in a test.
func recorded() emulator.Options { return emulator.Options{Record: emulator.NewRecord(16 << 20)} }

// told writes events as a test reads them: what happened, where, to which number, with what else.
func told(events []emulator.Event) (lines []string) {
	for _, e := range events {
		line := fmt.Sprintf("%s %s%s %d", e.Kind, e.Entity, []string{"", "/dlq", "/transfer-dlq"}[e.Sub], e.Sequence)
		if e.NextSequence != 0 {
			line += fmt.Sprintf(" next %d", e.NextSequence)
		}
		if e.Topic {
			line += fmt.Sprintf(" copies %d", e.Copies)
		}
		if e.DeliveryCount != 0 {
			line += fmt.Sprintf(" count %d", e.DeliveryCount)
		}
		if e.Text != "" {
			line += " " + e.Text
		}
		lines = append(lines, line)
	}
	return lines
}

// life returns what happened to the messages with an id.
func (b *broker) life(id string) []string {
	b.t.Helper()
	return told(b.ns.History().Life(emulator.EventFilter{MessageID: id}))
}

func TestRecordTellsTheLifeOfAMessageToItsEnd(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{MaxDeliveryCount: 3, LockDuration: 10 * time.Second}, func(b *broker) {
		m := text("a")
		m.Properties = properties("first")
		b.send(m)
		g := b.one()
		b.settle(emulator.Abandon, g)
		g = b.one()
		wait(time.Second)
		if _, err := b.q.Renew([]emulator.LockToken{g.token()}, nil); err != nil {
			t.Fatal(err)
		}
		wait(10 * time.Second) // the lock ends
		b.settle(emulator.Abandon, b.one())
		b.settle(emulator.Complete, b.oneFrom(emulator.DeadLetter))
		if err := b.trySettle(emulator.Complete, nil, g.token()); err == nil {
			t.Fatal("a lock that is over settles")
		}
		equalSlices(t, "life", b.life("first"),
			"sent q 1", "delivered q 1", "abandoned q 1 count 1", "delivered q 1 count 1", "lock renewed q 1 count 1", "lock expired q 1 count 2",
			"delivered q 1 count 2", "abandoned q 1 count 3", "dead-lettered q 1 count 3 MaxDeliveryCountExceeded", "delivered q/dlq 1 count 3", "completed q/dlq 1 count 3")
		events, _ := b.ns.History().Events(0, emulator.EventFilter{Kinds: []emulator.EventKind{emulator.EventDelivered}})
		for e := range events {
			if e.Until != e.At+10_000 {
				t.Errorf("delivered at %d, locked until %d", e.At, e.Until)
			}
		}
	})
}

// TestRecordTellsHowTheLastDeliveryEnded, before it says what became of the message.
func TestRecordTellsHowTheLastDeliveryEnded(t *testing.T) {
	o := emulator.QueueOptions{MaxDeliveryCount: 1, LockDuration: 10 * time.Second}
	bubbleWith(t, recorded(), o, func(b *broker) {
		for _, id := range []string{"abandoned", "locked", "late"} {
			m := text("a")
			if id == "late" {
				m = withTTL("a", 3*time.Second)
			}
			m.Properties = properties(id)
			b.send(m)
		}
		got := b.receive(3)
		b.settle(emulator.Abandon, got[0])
		wait(5 * time.Second)
		b.settle(emulator.Abandon, got[2]) // its time to live is over
		wait(5 * time.Second)              // the lock of the second one ends
		equalSlices(t, "abandoned", b.life("abandoned"), "sent q 1", "delivered q 1", "abandoned q 1 count 1", "dead-lettered q 1 count 1 MaxDeliveryCountExceeded")
		equalSlices(t, "locked", b.life("locked"), "sent q 2", "delivered q 2", "lock expired q 2 count 1", "dead-lettered q 2 count 1 MaxDeliveryCountExceeded")
		equalSlices(t, "late", b.life("late"), "sent q 3", "delivered q 3", "abandoned q 3 count 1", "expired q 3")
		equal(t, "abandoned and available again", b.q.Traffic().Abandoned, 0)
	})
}

func TestRecordFollowsAMessageThroughATopicAndForwards(t *testing.T) {
	subs := []emulator.SubscriptionOptions{withRules("red", sql("is red", "colour = 'red'")), withRules("all", sql("any", "1=1"))}
	topicBubbleWith(t, recorded(), emulator.TopicOptions{}, subs, func(b *broker) {
		end := b.create("end", emulator.QueueOptions{})
		source := b.create("source", emulator.QueueOptions{ForwardTo: "t"})
		b.subscribe(emulator.SubscriptionOptions{Name: "on", Queue: emulator.QueueOptions{ForwardTo: "end"}})
		m := text("a")
		m.Properties = properties("through")
		m.ApplicationProperties = map[string]any{"colour": "red"}
		source.send(m)
		wait(time.Second)
		end.settle(emulator.Complete, end.one())
		got := b.life("through")
		for _, want := range []string{"sent source 1", "forwarded source 1 t", "forwarded here t 1 copies 3", "copied t/Subscriptions/red 1 is red",
			"copied t/Subscriptions/all 1 any", "copied t/Subscriptions/on 1 $Default", "forwarded t/Subscriptions/on 1 end",
			"forwarded here end 1 t/Subscriptions/on", "delivered end 1", "completed end 1"} {
			if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+want+"\n") {
				t.Errorf("the life is %q, without %q", got, want)
			}
		}
		if len(got) != 10 {
			t.Errorf("the life is %q", got)
		}
	})
}

// TestRecordNamesLaterEvents by the first one of their message, however far back that is, before and after a reset, after which numbers come again.
func TestRecordNamesLaterEvents(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{}, func(b *broker) {
		send := func(id string) { m := text("x"); m.Properties = properties(id); b.send(m) }
		named := func() (lines []string) {
			events := slices.Collect(b.ns.History().EventsBack(0, emulator.EventFilter{Kinds: []emulator.EventKind{emulator.EventDelivered, emulator.EventCompleted}}))
			b.ns.History().Name(events)
			for _, e := range events {
				lines = append(lines, fmt.Sprintf("%s %d %s", e.Kind, e.Sequence, e.MessageID))
			}
			return lines
		}
		send("first")
		g := b.one()
		for range 8000 { // more than a chunk has
			send("between")
		}
		b.settle(emulator.Complete, g)
		equalSlices(t, "events", named(), "completed 1 first", "delivered 1 first")
		b.reset(b.ns.Configuration().Current())
		send("second")
		b.settle(emulator.Complete, b.one())
		equalSlices(t, "after a reset", named(), "completed 1 second", "delivered 1 second", "completed 1 first", "delivered 1 first")
	})
}

func TestRecordHasWhatIsScheduledCancelledDroppedPurgedAndRefused(t *testing.T) {
	o := emulator.QueueOptions{RequiresDuplicateDetection: true, DuplicateDetectionWindow: time.Minute}
	bubbleWith(t, recorded(), o, func(b *broker) {
		message := func(id string) { m := text("x"); m.Properties = properties(id); b.send(m) }
		later := at("later", time.Now().Add(time.Minute))
		later.Properties = properties("due")
		number := b.schedule(later)
		gone := at("never", time.Now().Add(time.Hour))
		gone.Properties = properties("cancelled")
		if err := b.cancel(b.schedule(gone)...); err != nil {
			t.Fatal(err)
		}
		wait(time.Minute)
		message("twice")
		message("twice")
		deleted := make(chan int, 1)
		if err := b.q.DeleteBatch(emulator.Main, 10, time.Now().UnixMilli(), nil, nil, func(n int, err error) { deleted <- n }); err != nil || <-deleted != 2 {
			t.Fatalf("delete: %v", err)
		}
		equalSlices(t, "due", b.life("due"), fmt.Sprintf("scheduled q %d", number[0]), fmt.Sprintf("activated q %d next 3", number[0]), "purged q 3")
		equalSlices(t, "cancelled", b.life("cancelled"), "scheduled q 2", "cancelled q 2")
		equalSlices(t, "twice", b.life("twice"), "sent q 4", "duplicate q 0", "purged q 4")
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusSendDisabled })
		m := text("x")
		m.Properties = properties("refused")
		if err := b.trySend(m); err == nil {
			t.Fatal("a disabled queue takes a message")
		}
		if got := b.life("refused"); len(got) != 1 || !strings.HasPrefix(got[0], "send refused q 0 The messaging entity") && !strings.Contains(got[0], "isabled") {
			t.Errorf("refused: %q", got)
		}
	})
}

func TestRecordHasNothingOfWhatFailed(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{}, func(b *broker) {
		b.failOnce()
		if err := b.trySend(text("a")); err == nil {
			t.Fatal("sent without the journal")
		}
		events, _ := b.ns.History().Events(0, emulator.EventFilter{})
		for e := range events {
			t.Errorf("recorded: %v", told([]emulator.Event{e}))
		}
	})
}

// TestRecordForgetsTheOldest, keeps the numbers, and is read while it grows.
func TestRecordForgetsTheOldest(t *testing.T) {
	r := emulator.NewRecord(1)
	bubbleWith(t, emulator.Options{Record: r}, emulator.QueueOptions{}, func(b *broker) {
		changed, done := r.Changed(1)
		b.sendTexts("a")
		<-changed
		done()
		early, _ := r.Events(0)
		for range 8000 {
			b.sendTexts("x")
		}
		events, next := r.Events(0)
		first, last, n := int64(0), int64(0), 0
		for e := range events {
			if first == 0 {
				first = e.Number
			} else if e.Number != last+1 {
				t.Fatalf("event %d follows %d", e.Number, last)
			}
			if last = e.Number; e.Sequence != e.Number {
				t.Fatalf("event %d is of message %d", e.Number, e.Sequence)
			}
			n++
		}
		if first != r.Oldest() || first == 1 || last != 8001 || next != 8002 || n != int(last-first+1) {
			t.Errorf("events %d to %d, oldest %d, next %d", first, last, r.Oldest(), next)
		}
		for e := range early {
			equal(t, "what a reader had taken", e.Sequence, 1)
		}
		rest, _ := r.Events(8001)
		for e := range rest {
			equal(t, "the last one", e.Number, 8001)
		}
	})
}

// BenchmarkRecord compares sending, receiving and completing with and without a record.
func BenchmarkRecord(b *testing.B) {
	for name, r := range map[string]*emulator.Record{"off": nil, "on": emulator.NewRecord(16 << 20)} {
		b.Run(name, func(b *testing.B) {
			x := benchFull(b, emulator.Options{Record: r}, emulator.QueueOptions{})
			b.ReportAllocs()
			for done := 0; done < b.N; done += 1000 {
				x.sendMany(min(1000, b.N-done))
				x.takeAndComplete(min(1000, b.N-done))
			}
		})
	}
}

// TestRecordSaysWhoDidWhat, also for what has no consumer of its own: renewals, deferred messages, transactions and jobs.
func TestRecordSaysWhoDidWhat(t *testing.T) {
	bubbleWith(t, recorded(), emulator.QueueOptions{}, func(b *broker) {
		b.create("end", emulator.QueueOptions{})
		client := func(name string) *emulator.Client { return &emulator.Client{Container: name} }
		b.sendTexts("a", "b", "c", "d", "e")
		gs := b.receive(4)
		if _, err := b.q.Renew(tokensOf(gs[:1]), client("renewer")); err != nil {
			t.Fatal(err)
		}
		b.settle(emulator.Defer, gs[0], gs[1])
		for i, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
			done := make(chan error, 1)
			if err := b.q.ReceiveDeferred(emulator.Main, []int64{int64(i + 1)}, mode, nil, client("fetcher"), func(_ []*emulator.Delivery, err error) { done <- err }); err != nil || <-done != nil {
				t.Fatal(err)
			}
		}
		gone := b.schedule(at("later", soon(time.Hour)))
		w := b.begin()
		w.Introduce(client("worker"))
		w.settle(b, emulator.Complete, gs[2])
		w.send(b, text("sent"))
		w.schedule(b, at("scheduled", soon(time.Hour)))
		if err := w.CancelScheduled(b.q, gone); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Renew(b.q, tokensOf(gs[2:3])); err != nil {
			t.Fatal(err)
		}
		if err := w.Settle(b.q, tokensOf(gs[:1]), emulator.Settlement{}); err == nil {
			t.Fatal("a lock that is over settles")
		}
		w.Introduce(client("other worker"))
		w.settle(b, emulator.Abandon, gs[3])
		w.commit()
		deleted := make(chan int, 1)
		if err := b.q.DeleteBatch(emulator.Main, 1, time.Now().UnixMilli(), nil, client("deleter"), func(n int, _ error) { deleted <- n }); err != nil || <-deleted != 1 {
			t.Fatal(err)
		}
		b.job(emulator.JobOptions{Kind: emulator.MoveJob, Target: "end", Max: 1, Client: client("mover")})
		b.job(emulator.JobOptions{Client: client("purger")})
		did := make(map[string][]string)
		events, _ := b.ns.History().Events(0, emulator.EventFilter{})
		for e := range events {
			if e.Client != nil {
				did[e.Client.Container] = append(did[e.Client.Container], told([]emulator.Event{e})[0])
			}
		}
		for name, want := range map[string][]string{
			"renewer": {"lock renewed q 1"}, "fetcher": {"delivered q 1 count 1", "received and deleted q 2 count 1"}, "deleter": {"purged q 4 count 1"},
			"worker": {"lock renewed q 3", "settlement refused q 0 The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.",
				"completed q 3", "sent q 8", "scheduled q 7", "cancelled q 6"},
			"other worker": {"abandoned q 4 count 1"}, "mover": {"forwarded q 5 end", "forwarded here end 1 q"}, "purger": {"purged q 8"},
		} {
			equalSlices(t, name, did[name], want...)
		}
	})
}
