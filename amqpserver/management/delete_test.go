package management

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

func (f *sessionFixture) deleteAs(link string, id any, count any) answer {
	f.Helper()
	return f.ask(link, "batch-delete-messages", id, amqp.Pair{Key: "message-count", Value: count},
		amqp.Pair{Key: "enqueued-time-utc", Value: amqp.TimestampOf(time.Now())})
}

func remove(f *fixture, count, before any) answer {
	f.Helper()
	return f.request("batch-delete-messages", amqp.Map{
		{Key: "message-count", Value: count}, {Key: "enqueued-time-utc", Value: before}})
}

// left returns the numbers of the messages that a peek shows.
func left(f *fixture) string {
	f.Helper()
	a := peek(f, int64(0), int32(250))
	if a.code == 204 {
		return "[]"
	}
	return fmt.Sprint(numbers(f, a))
}

func TestBDEL1_BDEL6_TheOldestAreDeletedAndCounted(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b", "c", "d", "e")
		for _, want := range []struct {
			count   any
			deleted int32
			left    string
		}{{int32(2), 2, "[3 4 5]"}, {int64(1), 1, "[4 5]"}, {uint8(10), 2, "[]"}} {
			if got := field[int32](f, remove(f, want.count, time.Now()), "message-count"); got != want.deleted {
				f.Errorf("%d deleted, want %d", got, want.deleted)
			}
			if got := left(f); got != want.left {
				f.Errorf("%s left, want %s", got, want.left)
			}
		}
		a := remove(f, int32(10), time.Now())
		a.want(f, 204, "")
		if a.Value != nil {
			f.Errorf("204 has the body %v", a.Value)
		}
		if n := f.queue.Counts().DeadLetter; n != 0 {
			f.Errorf("%d deleted messages are in the dead-letter queue", n)
		}
	})
}

func TestBDEL2_CountFromOneTo4000(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		for _, count := range []any{int32(0), int32(-1), int32(4001), int64(1 << 40), "1", nil} {
			a := remove(f, count, time.Now())
			a.want(f, 400, "com.microsoft:argument-error")
			if !strings.Contains(a.text, "'message-count'") {
				f.Errorf("text %q does not name the key", a.text)
			}
		}
		a := remove(f, int32(1), nil)
		a.want(f, 400, "com.microsoft:argument-error")
		if !strings.Contains(a.text, "'enqueued-time-utc' is missing") {
			f.Errorf("text %q does not name the key", a.text)
		}
		remove(f, int32(4000), time.Now()).want(f, 200, "")
	})
}

func TestBDEL3_DEC33_OnlyActiveUnlockedMessages(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.deferred(1) // 1
		f.send("locked", "active")
		f.take(emulator.Main, 1)
		schedule(f, amqp.Map{{Key: "message", Value: scheduled(f, "s", time.Hour)}}).want(f, 200, "")
		if got := field[int32](f, remove(f, int32(100), time.Now().Add(24*time.Hour)), "message-count"); got != 1 {
			f.Errorf("%d deleted, want 1", got)
		}
		if got := left(f); got != "[1 2 4]" {
			f.Errorf("%s left, want the deferred, the locked and the scheduled one", got)
		}
	})
}

func TestBDEL4_DEC19_OnlyTheSessionOfTheReceiver(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("a", "", "b", "a", "a", "")
		f.accept("of a", "a")
		f.accept("of empty", "")
		wantSessionLost(f, "delete in a session that is not held", f.deleteAs("of a", "b", int32(9)))
		f.deleteAs("", nil, int32(9)).want(f, 400, "amqp:not-allowed")
		for _, tt := range []struct {
			link  string
			id    any
			count int32
			left  string
		}{
			{"of a", "a", 1, "[2 3 4 5 6]"},
			{"of a", nil, 9, "[2 3 6]"},
			{"of empty", nil, 1, "[3 6]"},
			{"of empty", "", 9, "[3]"},
		} {
			f.deleteAs(tt.link, tt.id, tt.count).want(f, 200, "")
			if got := left(f.fixture); got != tt.left {
				f.Errorf("%s left, want %s", got, tt.left)
			}
		}
		f.deleteAs("of a", "a", int32(9)).want(f, 204, "")
	})
}

func TestBDEL5_DEC33_TheMillisecondOfTheCutoffIncluded(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		at := amqp.TimestampOf(time.Now())
		time.Sleep(5 * time.Millisecond)
		f.send("b")
		remove(f, int32(9), at-1).want(f, 204, "")
		remove(f, int32(9), at).want(f, 200, "")
		if got := left(f); got != "[2]" {
			f.Errorf("%s left, want [2]", got)
		}
		remove(f, int32(9), int64(at)+5).want(f, 200, "") // as a number
	})
}

func TestBDEL1_InTheDeadLetterQueue(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("s", "s")
		settle(f.fixture, f.ctx, uuids(f.takeFrom(f.accept("l", "s"), 1)), "suspended").want(f, 200, "")
		f.ctx = f.deadLetters()
		if got := field[int32](f, f.deleteAs("", nil, int32(9)), "message-count"); got != 1 { // DLQ-6
			f.Errorf("%d deleted, want the dead letter", got)
		}
		if c := f.queue.Counts(); c.Active != 1 || c.DeadLetter != 0 {
			f.Errorf("counts %+v, want one active message", c)
		}
	})
}

func TestAFailedDeleteDeletesNothing(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b")
		f.journal.FailNext(1, errors.New("disk full"))
		remove(f, int32(9), time.Now()).want(f, 500, "amqp:internal-error")
		if got := len(f.take(emulator.Main, 9)); got != 2 {
			f.Errorf("%d messages to receive, want both", got)
		}
	})
}
