package management

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"

	goamqp "github.com/Azure/go-amqp"
)

// scheduled returns a message that is due after a delay, as a client encodes it.
func scheduled(f *fixture, body string, after time.Duration) []byte {
	return marshal(f, &goamqp.Message{
		Annotations: goamqp.Annotations{"x-opt-scheduled-enqueue-time": time.Now().Add(after)},
		Properties:  &goamqp.MessageProperties{MessageID: body},
		Data:        [][]byte{[]byte(body)},
	})
}

func schedule(f *fixture, entries ...any) answer {
	f.Helper()
	return f.request("schedule-message", amqp.Map{{Key: "messages", Value: amqp.List(entries)}})
}

func cancel(f *fixture, numbers any) answer {
	f.Helper()
	return f.request("cancel-scheduled-message", amqp.Map{{Key: "sequence-numbers", Value: numbers}})
}

func TestSCHED6_NumbersInRequestOrder(t *testing.T) {
	inBubble(t, func(f *fixture) {
		later := amqp.Map{{Key: "message", Value: scheduled(f, "later", 2*time.Hour)},
			{Key: "message-id", Value: "later"}}
		sooner := amqp.Map{ // every key that some SDK writes, and a key as old Python encodes it
			{Key: "message-id", Value: uint64(9)}, {Key: "session-id", Value: nil}, {Key: "partition-key", Value: "p"},
			{Key: "via-partition-key", Value: nil}, {Key: []byte("message"), Value: scheduled(f, "sooner", time.Hour)},
		}
		a := schedule(f, later, sooner)
		a.want(f, 200, "")
		seqs := field[[]int64](f, a, "sequence-numbers")
		if len(seqs) != 2 || seqs[0] != 1 || seqs[1] != 2 {
			f.Fatalf("numbers %v, want 1 and 2", seqs)
		}
		msgs, _ := messages(f, peek(f, int64(0), int32(10)))
		if len(msgs) != 2 || msgs[0].Properties.MessageID != "later" ||
			msgs[1].Annotations["x-opt-message-state"] != int32(2) {
			f.Errorf("peek shows %v, want the scheduled messages in the order of their numbers", msgs)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if ds := f.take(emulator.Main, 2); len(ds) != 1 || ds[0].Seq() != 3 {
			f.Errorf("%d messages to receive when the second is due, want it alone, with number 3", len(ds))
		}
	})
}

// TestDEC17_ABatchIsBoundedByItsBytes and not by a count.
func TestDEC17_ABatchIsBoundedByItsBytes(t *testing.T) {
	inBubble(t, func(f *fixture) {
		const most = 11_000
		one := amqp.Map{{Key: "message", Value: scheduled(f, "x", time.Hour)}}
		entries := make([]any, most)
		for i := range entries {
			entries[i] = one
		}
		a := schedule(f, entries...)
		a.want(f, 200, "")
		if seqs := field[[]int64](f, a, "sequence-numbers"); len(seqs) != most {
			f.Errorf("%d numbers", len(seqs))
		}
	})
}

func TestScheduleOfNothing(t *testing.T) {
	inBubble(t, func(f *fixture) {
		a := schedule(f)
		a.want(f, 200, "")
		cancel(f, amqp.List{}).want(f, 200, "")
	})
}

func TestSCHED13_CancelOfAnUnknownNumber(t *testing.T) {
	inBubble(t, func(f *fixture) {
		schedule(f, amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}).want(f, 200, "")
		a := cancel(f, []int64{1})
		a.want(f, 200, "") // Go insists on exactly 200
		if a.Value != nil {
			f.Errorf("the reply has the body %v, want none", a.Value)
		}
		for _, n := range []int64{1, 99} {
			a := cancel(f, []int64{n})
			a.want(f, 404, "com.microsoft:message-not-found")
		}
		if a := cancel(f, []int64{99}); !strings.Contains(a.text, "99") {
			f.Errorf("text %q does not list the missing number", a.text)
		}
		schedule(f, amqp.Map{{Key: "message", Value: scheduled(f, "b", time.Hour)}}).want(f, 200, "")
		time.Sleep(2 * time.Hour)
		cancel(f, []int64{2}).want(f, 404, "com.microsoft:message-not-found") // activated
	})
}

func TestSCHED14_CancelOfSeveralWithOneMissingCancelsNone(t *testing.T) {
	inBubble(t, func(f *fixture) {
		schedule(f, amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}).want(f, 200, "")
		cancel(f, []int64{1, 50}).want(f, 404, "com.microsoft:message-not-found")
		if n := f.queue.Counts().Scheduled; n != 1 {
			f.Errorf("%d scheduled messages, want 1", n)
		}
		cancel(f, amqp.List{uint32(1)}).want(f, 200, "") // as a list of another integer type
		if n := f.queue.Counts().Scheduled; n != 0 {
			f.Errorf("%d scheduled messages, want 0", n)
		}
	})
}

func TestScheduleRefusesWhatItCannotStore(t *testing.T) {
	inBubble(t, func(f *fixture) {
		good := amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}
		tests := []struct {
			name  string
			entry any
			text  []string
		}{
			{"no annotation", amqp.Map{{Key: "message", Value: marshal(f, &goamqp.Message{Data: [][]byte{{1}}})}},
				[]string{"messages[1].message", "x-opt-scheduled-enqueue-time"}},
			{"annotation of a wrong type", amqp.Map{{Key: "message", Value: marshal(f, &goamqp.Message{
				Annotations: goamqp.Annotations{"x-opt-scheduled-enqueue-time": "noon"}, Data: [][]byte{{1}}})}},
				[]string{"messages[1].message", "x-opt-scheduled-enqueue-time"}},
			{"not a message", amqp.Map{{Key: "message", Value: []byte{1, 2, 3}}}, []string{"messages[1].message"}},
			{"text for a message", amqp.Map{{Key: "message", Value: "hello"}},
				[]string{"messages[1].message", `"hello"`, "binary"}},
			{"no message", amqp.Map{{Key: "message-id", Value: "a"}}, []string{"messages[1].message", "missing"}},
			{"not a map", int32(4), []string{"messages[1]", "4", "map"}},
		}
		for _, tt := range tests {
			a := schedule(f, good, tt.entry)
			if a.code != 400 || a.condition != "com.microsoft:argument-error" {
				f.Errorf("%s: %d %q %q", tt.name, a.code, a.condition, a.text)
			}
			for _, part := range tt.text {
				if !strings.Contains(a.text, part) {
					f.Errorf("%s: text %q does not say %q", tt.name, a.text, part)
				}
			}
		}
		if n := f.queue.Counts().Scheduled; n != 0 {
			f.Errorf("%d messages stored from refused requests", n)
		}
	})
}

func TestQUO5_ScheduleOfATooLargeMessage(t *testing.T) {
	inBubble(t, func(f *fixture) {
		large := marshal(f, &goamqp.Message{
			Annotations: goamqp.Annotations{"x-opt-scheduled-enqueue-time": time.Now().Add(time.Hour)},
			Data:        [][]byte{make([]byte, 300_000)},
		})
		schedule(f, amqp.Map{{Key: "message", Value: large}}).want(f, 403, "amqp:link:message-size-exceeded")
	})
}

func TestDLQ2_NothingIsScheduledInADeadLetterQueue(t *testing.T) {
	inBubble(t, func(f *fixture) {
		entry := amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}
		f.ctx = f.deadLetters()
		schedule(f, entry).want(f, 400, "amqp:not-allowed")
		cancel(f, []int64{1}).want(f, 400, "amqp:not-allowed")
	})
}
