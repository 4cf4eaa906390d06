package management

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

func state(v any) amqp.Pair { return amqp.Pair{Key: "session-state", Value: v} }

func TestSESS13_RenewSetsNowPlusDuration(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		c := f.accept("l", "s")
		for range 5 { // any number of times, far beyond the first end
			time.Sleep(20 * time.Second)
			a := f.ask("l", "renew-session-lock", "s")
			a.want(f, 200, "")
			until := field[time.Time](f, a, "expiration")
			if want := time.Now().Add(lockDuration).Truncate(time.Millisecond); !until.Equal(want) ||
				c.SessionLockedUntil() != want.UnixMilli() {
				f.Errorf("renewed until %v and %v, want %v", until, c.SessionLockedUntil(), want)
			}
		}
	})
}

// The operations on a session itself, as clients send them.
var onSession = map[string][]amqp.Pair{
	"renew-session-lock": nil,
	"get-session-state":  nil,
	"set-session-state":  {state([]byte("x"))},
}

func TestSESS14_DEC20_OnlyTheHolderWorksOnASession(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.acceptElsewhere("theirs", func() {})
		for _, id := range []string{"mine", "expired", "closed"} {
			f.accept(id, id)
		}
		f.closeLink("closed")
		time.Sleep(20 * time.Second)
		f.ask("mine", "renew-session-lock", "mine").want(f, 200, "")
		time.Sleep(15 * time.Second)
		synctest.Wait()
		for operation, fields := range onSession {
			f.ask("mine", operation, "mine", fields...).want(f, 200, "")
			for _, id := range []string{"theirs", "expired", "closed", "bogus"} {
				wantSessionLost(f, operation+" of "+id, f.ask("mine", operation, id, fields...))
			}
		}
	})
}

// The lock may end between the lookup of the holder and the operation.
func TestSESS14_ALockThatEndsUnderTheRequest(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		c := f.accept("l", "s")
		c.Close() // the table of links does not know it yet
		for operation, fields := range onSession {
			wantSessionLost(f, operation, f.ask("l", operation, "s", fields...))
		}
	})
}

// A client that names no link browses.
func TestSESS24_DEC20_BrowsersReadTheStateOfAnySession(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("l", "s")
		f.ask("l", "set-session-state", "s", state([]byte("x"))).want(f, 200, "")
		f.closeLink("l")
		f.acceptElsewhere("s", func() {})
		if got := field[[]byte](f, f.ask("", "get-session-state", "s"), "session-state"); string(got) != "x" {
			f.Errorf("state %q, want x", got)
		}
		f.ask("", "get-session-state", "never seen").want(f, 200, "")
		wantSessionLost(f, "set-session-state without a link", f.ask("", "set-session-state", "s", state(nil)))
		wantSessionLost(f, "renew-session-lock without a link", f.ask("", "renew-session-lock", "s"))
		f.ask("", "get-session-state", nil).want(f, 400, "com.microsoft:argument-error")
		f.ask("", "get-session-state", int32(1)).want(f, 400, "com.microsoft:argument-error")
	})
}

func TestSESS22_NullAndEmptyClearTheState(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("l", "s")
		get := func() any {
			f.Helper()
			a := f.ask("l", "get-session-state", "s")
			a.want(f, 200, "")
			v, ok := a.Value.(map[string]any)["session-state"]
			if !ok {
				f.Fatal("the key is missing; Java and JS index into the map")
			}
			return v
		}
		if v := get(); v != nil {
			f.Errorf("state %v of a new session, want null", v)
		}
		for _, cleared := range []amqp.Pair{state(nil), state([]byte{}), {Key: "nothing", Value: nil}} {
			a := f.ask("l", "set-session-state", "s", state([]byte{0, 255}))
			a.want(f, 200, "")
			if a.Value != nil {
				f.Errorf("the reply has the body %v, want none", a.Value)
			}
			if v, ok := get().([]byte); !ok || string(v) != "\x00\xff" {
				f.Errorf("state %v, want the two bytes that were set", v)
			}
			f.ask("l", "set-session-state", "s", cleared).want(f, 200, "")
			if v := get(); v != nil {
				f.Errorf("state %v after %v, want null", v, cleared)
			}
		}
	})
}

func TestSESS22_StateSurvivesItsReceiver(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("l", "s")
		f.ask("l", "set-session-state", "s", state([]byte("x"))).want(f, 200, "")
		f.closeLink("l")
		f.accept("m", "s")
		if got := field[[]byte](f, f.ask("m", "get-session-state", "s"), "session-state"); string(got) != "x" {
			f.Errorf("state %q, want x", got)
		}
	})
}

func TestSESS23_StateThatIsTooLargeOrNoBinary(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("l", "s")
		large := make([]byte, f.queue.Sessions().MaxState()+1)
		f.ask("l", "set-session-state", "s", state(large)).want(f, 403, "amqp:link:message-size-exceeded")
		f.ask("l", "set-session-state", "s", state(large[1:])).want(f, 200, "")
		a := f.ask("l", "set-session-state", "s", state("text"))
		a.want(f, 400, "com.microsoft:argument-error")
		if !strings.Contains(a.text, "'session-state'") {
			f.Errorf("text %q does not name the key", a.text)
		}
	})
}

func TestStateIsAnsweredWhenItIsDurable(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("l", "s")
		f.journal.FailNext(1, errors.New("disk full"))
		f.ask("l", "set-session-state", "s", state([]byte("x"))).want(f, 500, "amqp:internal-error")
		if v := f.ask("l", "get-session-state", "s").Value.(map[string]any)["session-state"]; v != nil {
			f.Errorf("state %v after a failed commit, want null", v)
		}
	})
}

// Without a session-id the link names the session; the empty string is a session-id.
func TestDEC19_SESS34_SessionOfTheAssociatedLink(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("empty", "")
		f.accept("named", "s")
		f.ask("named", "set-session-state", "", state([]byte("of the empty one"))).want(f, 200, "")
		for _, id := range []any{"", nil} {
			f.ask("empty", "renew-session-lock", id).want(f, 200, "")
			if got := field[[]byte](f, f.ask("empty", "get-session-state", id),
				"session-state"); string(got) != "of the empty one" {
				f.Errorf("session-id %v: state %q", id, got)
			}
		}
		a := f.ask("named", "get-session-state", nil)
		a.want(f, 200, "")
		if v := a.Value.(map[string]any)["session-state"]; v != nil {
			f.Errorf("state %v of the named session, want null", v)
		}
		a = f.ask("no such link", "renew-session-lock", nil)
		a.want(f, 400, "com.microsoft:argument-error")
		if !strings.Contains(a.text, "'session-id'") {
			f.Errorf("text %q does not name the key", a.text)
		}
	})
}

func TestDLQ6_ADeadLetterQueueHasNoSessions(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("l", "s")
		f.ctx = f.deadLetters()
		for operation, fields := range onSession {
			f.ask("l", operation, "s", fields...).want(f, 400, "amqp:not-allowed")
		}
		f.ask("", "get-session-state", "s").want(f, 400, "amqp:not-allowed")
		listSessions(f, everything, 0, 100).want(f, 400, "amqp:not-allowed")
	})
}

func TestSessionOperationsOnAPlainQueue(t *testing.T) {
	inBubble(t, func(f *fixture) { // its context has neither Holder nor LinkHolder
		s := &sessionFixture{fixture: f}
		for operation, fields := range onSession {
			wantSessionLost(f, operation, s.ask("l", operation, "s", fields...))
		}
		s.ask("", "get-session-state", "s").want(f, 400, "amqp:not-allowed")
		listSessions(s, everything, 0, 100).want(f, 204, "")
	})
}

func TestSessionStateOfADisabledEntity(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.accept("l", "s")
		o := f.queue.Options()
		o.Status = emulator.StatusDisabled
		if _, err := f.ns.Entities().UpdateQueue("sessions", o); err != nil {
			f.Fatal(err)
		}
		f.ask("", "get-session-state", "s").want(f, 400, "com.microsoft:entity-disabled")
		listSessions(f, everything, 0, 1).want(f, 400, "com.microsoft:entity-disabled")
	})
}
