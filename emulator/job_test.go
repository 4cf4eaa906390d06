package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

// job runs a job to its end.
func (b *broker) job(o emulator.JobOptions) emulator.JobProgress {
	b.t.Helper()
	j, err := b.ns.Jobs().Start(b.q, o)
	if err != nil {
		b.t.Fatalf("start a job: %v", err)
	}
	<-j.Ended()
	return j.Progress()
}

// wantJob compares what a job has done.
func (b *broker) wantJob(p emulator.JobProgress, s emulator.JobState, examined, done, failed, skipped int64) {
	b.t.Helper()
	equal(b.t, "state of the job", p.State, s)
	equal(b.t, fmt.Sprintf("examined, done, failed and skipped of %+v", p), [4]int64{p.Examined, p.Done, p.Failed, p.Skipped}, [4]int64{examined, done, failed, skipped})
}

// move moves all dead letters of the queue to another entity.
func (b *broker) move(target string) emulator.JobProgress {
	b.t.Helper()
	return b.job(emulator.JobOptions{Kind: emulator.MoveJob, Sub: emulator.DeadLetter, Target: target})
}

func TestPurgeJobRemovesWhatIsSelected(t *testing.T) {
	for name, c := range map[string]struct {
		s    emulator.Selection
		left string
	}{
		"all":      {emulator.Selection{}, "four5"},
		"sql":      {emulator.Selection{SQL: "color = 'red'"}, "two three four5"},
		"text":     {emulator.Selection{Text: "T"}, "one four5"},
		"property": {emulator.Selection{Text: "RED"}, "two three four5"},
		"numbers":  {emulator.Selection{Seqs: []int64{3, 1, 3}}, "two four5"},
		"before":   {emulator.Selection{Before: time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC).UnixMilli()}, "three four5"},
		"states":   {emulator.Selection{States: []emulator.State{emulator.Scheduled}}, "one two three"},
	} {
		for _, no := range []emulator.Options{{}, small} {
			bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
				one := text("one")
				one.ApplicationProperties = map[string]any{"color": "red"}
				b.send(one, text("two"))
				wait(time.Second)
				b.send(text("three"))
				b.schedule(at("four5", now().Add(time.Hour)))
				p := b.job(emulator.JobOptions{Select: c.s})
				equal(t, name+": state", p.State, emulator.JobDone)
				equal(t, name+": left", bodies(b.peek()), c.left)
				b.verify(true)
				b.restart()
				equal(t, name+": left after a restart", bodies(b.peek()), c.left)
			})
		}
	}
}

func TestPurgeJobTakesNothingFromClients(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seq := b.deferOne(text("deferred"))
		b.sendTexts("a", "b", "c")
		locked := b.one()
		p := b.job(emulator.JobOptions{Select: emulator.Selection{States: []emulator.State{emulator.Active, emulator.Deferred}}, Max: 2})
		b.wantJob(p, emulator.JobDone, 4, 2, 0, 1)
		equal(t, "messages at the start", p.Total, 4)
		_, err := b.byNumber(emulator.Main, emulator.PeekLock, seq)
		wantCode(t, "receive what was deferred", err, emulator.CodeMessageNotFound)
		b.settle(emulator.Complete, locked)
		equal(t, "left", bodies(b.receive(9)), "c")
		p = b.job(emulator.JobOptions{Select: emulator.Selection{Seqs: []int64{99}}})
		b.wantJob(p, emulator.JobDone, 1, 0, 1, 0)
		equal(t, "error", p.Errors[0].Text, "There is no message with the sequence number 99.")
		b.verify(true)
	})
}

func TestPurgeJobIsTakenBackIfItCannotBeWritten(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.send(inSession("s", "a"), inSession("s", "b"))
		later := inSession("t", "later")
		later.Annotations = at("", now().Add(time.Hour)).Annotations
		b.schedule(later)
		b.failOnce()
		p := b.job(emulator.JobOptions{Select: emulator.Selection{States: []emulator.State{emulator.Active, emulator.Scheduled}}})
		equal(t, "state", p.State, emulator.JobFailed)
		equal(t, "removed", p.Done, 0)
		synctest.Wait()
		b.verify(true)
		equal(t, "session", b.nextID(), "s")
		wait(time.Hour)
		b.wantCounts(3, 0, 0, 0)
	})
}

// deadLetters makes dead letters with a reason.
func (b *broker) deadLetters(names ...string) {
	b.t.Helper()
	b.sendTexts(names...)
	b.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, "poison", emulator.DeadLetterErrorDescription, "bad"), b.receive(len(names))...)
}

func TestMoveJobResubmits(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		for _, strip := range []bool{false, true} {
			bubbleWith(t, no, emulator.QueueOptions{}, func(b *broker) {
				b.deadLetters("a", "b")
				before := mapped(b.peekFrom(emulator.DeadLetter, 0, 9), func(g *got) any { return g.Properties.MessageID })
				reason := "poison"
				p := b.job(emulator.JobOptions{Kind: emulator.MoveJob, Sub: emulator.DeadLetter, Edit: emulator.Edit{Strip: strip}, Select: emulator.Selection{Reason: &reason}})
				b.wantJob(p, emulator.JobDone, 2, 2, 0, 0)
				b.wantCounts(2, 0, 0, 0)
				b.verify(true)
				b.restart()
				gs := b.receive(9)
				equal(t, "bodies", bodies(gs), "a b")
				equalSlices(t, "numbers", seqsOf(gs), 3, 4)
				equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
				equalSlices(t, "ids", mapped(gs, func(g *got) any { return g.Properties.MessageID }), before...)
				want := any("poison")
				if strip {
					want = nil
				}
				equal(t, "reason", gs[0].property(emulator.DeadLetterReason), want)
			})
		}
	}
}

// A job reads few large bodies at a time, also if it is told their numbers.
func TestMoveJobReadsFewLargeBodiesAtATime(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		const many = 40
		var seqs []int64
		for i := range many {
			seqs = append(seqs, int64(i+1))
		}
		for name, s := range map[string]emulator.Selection{"numbers": {Seqs: seqs}, "numbers and a text": {Seqs: seqs, Text: "x"}, "all": {}} {
			for range many {
				b.sendTexts(strings.Repeat("x", 100_000))
			}
			b.j.mu.Lock()
			b.j.most = 0
			b.j.mu.Unlock()
			p := b.job(emulator.JobOptions{Kind: emulator.MoveJob, Target: "target", Select: s})
			b.wantJob(p, emulator.JobDone, many, many, 0, 0)
			b.j.mu.Lock()
			if b.j.most == 0 || b.j.most > 1<<20+100_100 {
				t.Errorf("%s: %d bytes in one read", name, b.j.most)
			}
			b.j.mu.Unlock()
			for i := range seqs {
				seqs[i] += many
			}
		}
	})
}

func TestMoveJobEdits(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.create("target", sessionful)
		m := text("old")
		m.ApplicationProperties = map[string]any{"keep": int32(1), "change": "x", "remove": "y"}
		b.deadLetterOne(m)
		id := b.peekOne(emulator.DeadLetter, 0).Properties.MessageID
		system, err := message.EncodeProperties(message.Map{{Key: message.SystemSessionID, Value: "s"}, {Key: message.SystemLabel, Value: "again"}})
		if err != nil {
			t.Fatal(err)
		}
		p := b.job(emulator.JobOptions{Kind: emulator.MoveJob, Sub: emulator.DeadLetter, Target: "TARGET", Edit: emulator.Edit{
			Strip: true, Remove: []string{"remove"}, Properties: b.properties("change", "z", "new", true), System: system, Body: encode(t, text("new")).Raw}})
		b.wantJob(p, emulator.JobDone, 1, 1, 0, 0)
		b.verify(true)
		b.restart()
		target := b.on("target")
		h := target.accept("s")
		g := b.written(h.c.Take(nil, 1))[0]
		equal(t, "body", g.body(), "new")
		equal(t, "id", g.Properties.MessageID, id)
		equal(t, "label", *g.Properties.Subject, "again")
		equal(t, "properties", fmt.Sprint(g.ApplicationProperties), "map[change:z keep:1 new:true]")
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestMoveJobLeavesWhatTheTargetDoesNotTake(t *testing.T) {
	bubbleWith(t, strict, emulator.QueueOptions{}, func(b *broker) {
		b.create("sessions", sessionful)
		dups := b.create("dups", emulator.QueueOptions{RequiresDuplicateDetection: true})
		if _, err := b.ns.Entities().CreateTopic("nobody", emulator.TopicOptions{}); err != nil {
			t.Fatal(err)
		}
		b.deadLetters("a")
		b.wantJob(b.move("sessions"), emulator.JobDone, 1, 0, 1, 0)
		b.wantJob(b.move("nobody"), emulator.JobDone, 1, 0, 1, 0)
		b.wantCounts(0, 1, 0, 0)
		_, err := b.ns.Jobs().Start(b.q, emulator.JobOptions{Kind: emulator.MoveJob, Sub: emulator.DeadLetter, Target: "missing"})
		wantCode(t, "move to a missing entity", err, emulator.CodeNotFound)
		_, err = b.ns.Jobs().Start(b.q, emulator.JobOptions{Kind: emulator.MoveJob})
		wantCode(t, "move to where the messages are", err, emulator.CodeArgument)
		_, err = b.ns.Jobs().Start(b.q, emulator.JobOptions{Select: emulator.Selection{SQL: "="}})
		wantCode(t, "a filter that does not parse", err, emulator.CodeArgument)
		dups.send(withID("x"))
		b.deadLetterOne(withID("x"))
		p := b.move("dups")
		b.wantJob(p, emulator.JobDone, 2, 1, 1, 0)
		wantText(t, "duplicate", fmt.Errorf("%s", p.Errors[0].Text), "has had a message with the id 'x' lately")
		dups.set(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
		p = b.move("dups")
		b.wantJob(p, emulator.JobFailed, 1, 0, 0, 0)
		wantText(t, "disabled target", fmt.Errorf("%s", p.Why), "is currently disabled")
		b.wantCounts(0, 1, 0, 0)
		b.verify(true)
	})
}

func TestMoveJobIsTakenBackIfItCannotBeWritten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.deadLetters("a", "b")
		b.j.onTransfer(target.q.ID(), b.failOnce)
		p := b.move("target")
		equal(t, "state", p.State, emulator.JobFailed)
		equal(t, "moved", p.Done, 0)
		synctest.Wait()
		b.j.onTransfer(0, nil)
		b.wantCounts(0, 2, 0, 0)
		target.wantCounts(0, 0, 0, 0)
		b.verify(true)
		b.wantJob(b.move("target"), emulator.JobDone, 2, 2, 0, 0)
		equal(t, "in the target", bodies(target.receive(9)), "a b")
	})
}

func TestMoveJobThroughATopicAndBack(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		_, err := b.ns.Entities().CreateTopic("events", emulator.TopicOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "two"} {
			if _, err := b.ns.Entities().CreateSubscription("events", emulator.SubscriptionOptions{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		b.deadLetters("a")
		b.wantJob(b.move("events"), emulator.JobDone, 1, 1, 0, 0)
		b.verify(true)
		one := b.on("events/Subscriptions/one")
		one.settle(emulator.DeadLetterOutcome, one.one())
		one.wantCounts(0, 1, 0, 0)
		one.wantJob(one.move(""), emulator.JobDone, 1, 1, 0, 0)
		_, err = b.ns.Jobs().Start(b.q, emulator.JobOptions{Kind: emulator.MoveJob, Target: "events/Subscriptions/one"})
		wantCode(t, "move to a subscription", err, emulator.CodeNotAllowed)
		b.verify(true)
		b.restart()
		equal(t, "in one", bodies(b.on("events/Subscriptions/one").receive(9)), "a")
		equal(t, "in two", bodies(b.on("events/Subscriptions/two").receive(9)), "a")
	})
}

func TestMoveJobKeepsSchedulesAndActivatesDeferred(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.deferOne(text("deferred"))
		b.schedule(at("later", now().Add(time.Hour)))
		p := b.job(emulator.JobOptions{Kind: emulator.MoveJob, Target: "target", Select: emulator.Selection{States: []emulator.State{emulator.Deferred, emulator.Scheduled}}})
		b.wantJob(p, emulator.JobDone, 2, 2, 0, 0)
		b.wantCounts(0, 0, 0, 0)
		target.wantCounts(1, 0, 1, 0)
		wait(time.Hour)
		equal(t, "in the target", bodies(target.receive(9)), "deferred later")
		b.verify(true)
	})
}

func TestJobsEndWithTheNamespaceAndAreBounded(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		b.send(texts(make([]string, 500)...)...)
		b.j.Pause()
		var jobs []*emulator.Job
		for range emulator.MaxJobs {
			j, err := b.ns.Jobs().Start(b.q, emulator.JobOptions{Kind: emulator.MoveJob, Target: "target"})
			if err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, j)
		}
		synctest.Wait()
		_, err := b.ns.Jobs().Start(b.q, emulator.JobOptions{})
		wantCode(t, "one job more", err, emulator.CodeQuotaExceeded)
		equal(t, "jobs", len(b.ns.Jobs().List()), emulator.MaxJobs)
		jobs[1].Cancel()
		jobs[1].Cancel()
		go func() { time.Sleep(time.Second); b.j.Resume() }()
		b.ns.Close()
		moved := int64(0)
		for _, j := range jobs {
			select {
			case <-j.Ended():
			default:
				t.Error("a job outlives its namespace")
			}
			moved += j.Progress().Done
		}
		equal(t, "why the cancelled one ended", jobs[1].Progress().Why, "")
		_, err = b.ns.Jobs().Start(b.q, emulator.JobOptions{})
		wantCode(t, "a job after the end", err, emulator.CodeServerBusy)
		b.j.Close()
		b.start()
		equal(t, "jobs after a restart", len(b.ns.Jobs().List()), 0)
		_, err = b.ns.Jobs().Get(1)
		wantCode(t, "a job of before", err, emulator.CodeNotFound)
		equal(t, "moved", b.active("target"), moved)
		equal(t, "all", b.active("q")+moved, 500)
		b.verify(true)
	})
}

func (b *broker) active(path string) int64 {
	b.t.Helper()
	return b.on(path).q.Counts().Active
}

func TestJobEndsWithItsEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		b.send(texts(make([]string, 300)...)...)
		b.j.Pause()
		j, err := b.ns.Jobs().Start(b.q, emulator.JobOptions{Kind: emulator.MoveJob, Target: "target"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		deleted := make(chan error, 1)
		go func() { deleted <- b.ns.Entities().Delete("q") }()
		synctest.Wait()
		b.j.Resume()
		if err := <-deleted; err != nil {
			t.Fatal(err)
		}
		<-j.Ended()
		p := j.Progress()
		equal(t, "state", p.State, emulator.JobFailed)
		equal(t, "moved before", b.active("target"), p.Done)
		if p.Done == 0 {
			t.Error("what the job had in hand did not arrive")
		}
	})
}

func TestPurgeJobLeavesWhatComesLater(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(texts(make([]string, 100)...)...)
		b.j.Pause()
		j, err := b.ns.Jobs().Start(b.q, emulator.JobOptions{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		sent := newOutcome()
		if err := b.q.Send(b.encodeAll(texts("later")), sent); err != nil {
			t.Fatal(err)
		}
		b.j.Resume()
		<-j.Ended()
		b.wantJob(j.Progress(), emulator.JobDone, 100, 100, 0, 0)
		equal(t, "left", bodies(b.receive(9)), "later")
	})
}

func TestPurgeJobThatFailsLeavesSchedulesThatFellDueMeanwhile(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.schedule(at("due", now().Add(time.Hour)))
		b.j.Pause()
		b.failOnce()
		j, err := b.ns.Jobs().Start(b.q, emulator.JobOptions{Select: emulator.Selection{States: []emulator.State{emulator.Scheduled}}})
		if err != nil {
			t.Fatal(err)
		}
		wait(2 * time.Hour)
		b.j.Resume()
		<-j.Ended()
		equal(t, "state", j.Progress().State, emulator.JobFailed)
		wait(time.Second)
		equal(t, "what was due", bodies(b.receive(9)), "due")
		b.verify(true)
	})
}

func TestTheEndWaitsForAJobThatReads(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		b.send(texts(slices.Repeat([]string{"a"}, 100)...)...)
		b.j.Pause()
		j, err := b.ns.Jobs().Start(b.q, emulator.JobOptions{Select: emulator.Selection{Text: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			b.ns.Close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("the namespace ended before its job")
		default:
		}
		b.j.Resume()
		<-closed
		equal(t, "state", j.Progress().State, emulator.JobCancelled)
		wantText(t, "why", fmt.Errorf("%s", j.Progress().Why), "the process stops")
	})
}
