package management

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// everything is the time by which .NET and Go ask for all sessions.
const everything = amqp.Timestamp(253402300800000)

func listSessions(f *sessionFixture, after, skip, top any, more ...amqp.Pair) answer {
	f.Helper()
	return f.ask("", "get-message-sessions", nil, append(more, amqp.Pair{Key: "last-updated-time", Value: after},
		amqp.Pair{Key: "skip", Value: skip}, amqp.Pair{Key: "top", Value: top})...)
}

// listed returns the ids in a reply, none for 204. It checks the reply's body.
func listed(f *sessionFixture, a answer, skip int) []string {
	f.Helper()
	if a.code == 204 {
		if a.Value != nil {
			f.Errorf("204 has the body %v", a.Value)
		}
		return nil
	}
	a.want(f, 200, "")
	ids := field[[]string](f, a, "sessions-ids") // Java casts to an array
	if got := field[int32](f, a, "skip"); int(got) != skip+len(ids) {
		f.Errorf("skip %d, want %d", got, skip+len(ids))
	}
	return ids
}

func TestSESS27_TheTwoModesOfTheList(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("message")
		f.accept("l", "state")
		f.ask("l", "set-session-state", "state", state([]byte("x"))).want(f, 200, "")
		f.accept("l", "state and message")
		f.sendTo("state and message")
		f.ask("l", "set-session-state", "state and message", state([]byte("x"))).want(f, 200, "")
		all := []string{"message", "state", "state and message"}
		for name, tt := range map[string]struct {
			after any
			want  []string
		}{
			"the greatest date, rounded up":    {everything, all},
			"the greatest date, rounded down":  {everything - 1, all},
			"beyond the greatest date":         {amqp.Timestamp(1 << 62), all},
			"before, as a time":                {amqp.TimestampOf(time.Now().Add(-time.Second)), all[1:]},
			"before, as a number":              {time.Now().Add(-72 * time.Hour).UnixMilli(), all[1:]},
			"before there was time":            {amqp.Timestamp(-62135596800000), all[1:]},
			"at the instant of the last state": {amqp.TimestampOf(time.Now()), nil},
			"in the future":                    {amqp.TimestampOf(time.Now().Add(time.Hour)), nil},
		} {
			if got := listed(f, listSessions(f, tt.after, int32(0), int32(100)), 0); !slices.Equal(got, tt.want) {
				f.Errorf("%s: %q, want %q", name, got, tt.want)
			}
		}
	})
}

func TestSESS28_PagesShowEachSessionOnce(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		var ids []string
		for i := range 120 {
			ids = append(ids, fmt.Sprintf("%03d%s", i, strings.Repeat("x", i*5))) // some longer than an array8 holds
		}
		ids[0] = ""
		f.sendTo(ids...)
		for _, byName := range []bool{false, true} {
			var got []string
			for pages := 0; ; pages++ {
				var more []amqp.Pair
				if byName && len(got) > 0 { // Java says its position in both ways
					more = append(more, amqp.Pair{Key: "last-session-id", Value: got[len(got)-1]})
				}
				page := listed(f, listSessions(f, everything, int32(len(got)), int32(50), more...), len(got))
				if len(page) == 0 {
					if pages != 3 {
						f.Errorf("%d pages of 50, want 3", pages)
					}
					break
				}
				got = append(got, page...)
			}
			if !slices.Equal(got, ids) {
				f.Errorf("by name %v: %d sessions, want each of %d once", byName, len(got), len(ids))
			}
		}
	})
}

// The last session seen wins over the count: the sessions before it may be gone.
func TestSESS28_TheLastSessionSeenSaysWhereToGoOn(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("", "a", "b", "c")
		for last, want := range map[string][]string{"": {"a", "b", "c"}, "a": {"b", "c"}, "aa": {"b", "c"}, "c": nil} {
			a := listSessions(f, everything, int32(2), int32(100), amqp.Pair{Key: "last-session-id", Value: last})
			if got := listed(f, a, 2); !slices.Equal(got, want) {
				f.Errorf("after %q: %q, want %q", last, got, want)
			}
		}
		a := listSessions(f, everything, int32(0), int32(100), amqp.Pair{Key: "last-session-id", Value: nil})
		if got := listed(f, a, 0); len(got) != 4 {
			f.Errorf("after null: %q, want all", got)
		}
	})
}

func TestSESS29_LockedSessionsAreListedAndThoseWithoutActiveMessagesAreNot(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("locked", "taken")
		f.accept("l", "locked")
		f.takeFrom(f.accept("m", "taken"), 1)
		f.deferIn(f.accept("n", "deferred"), 1)
		f.accept("o", "empty")
		entry := amqp.Map{{Key: "message", Value: scheduledIn(f.fixture, "scheduled", time.Hour)}}
		schedule(f.fixture, entry).want(f, 200, "")
		if got := listed(f, listSessions(f, everything, 0, 100), 0); !slices.Equal(got, []string{"locked", "taken"}) {
			f.Errorf("listed %q, want the sessions with an active message", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := listed(f, listSessions(f, everything, 0, 100), 0); !slices.Contains(got, "scheduled") {
			f.Errorf("listed %q, want the session whose message is due by now", got)
		}
	})
}

func TestSESS28_ListOfAnEmptyEntity(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		listSessions(f, everything, int32(0), int32(100)).want(f, 204, "")
		f.sendTo("s")
		listSessions(f, everything, int32(7), int32(100)).want(f, 204, "")
	})
}

func TestListRefusesWhatMakesNoPage(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		for _, tt := range []struct {
			after, skip, top any
			text             string
		}{
			{nil, int32(0), int32(1), "'last-updated-time' is missing"},
			{"now", int32(0), int32(1), "'last-updated-time'"},
			{everything, int32(-1), int32(1), "'skip'"},
			{everything, nil, int32(1), "'skip' is missing"},
			{everything, int32(0), int32(0), "'top'"},
			{everything, int32(0), int64(maxItems + 1), "from 1 to 10000"},
		} {
			a := listSessions(f, tt.after, tt.skip, tt.top)
			if a.code != 400 || a.condition != "com.microsoft:argument-error" || !strings.Contains(a.text, tt.text) {
				f.Errorf("%v: %d %q %q", tt, a.code, a.condition, a.text)
			}
		}
		a := listSessions(f, everything, 0, 1, amqp.Pair{Key: "last-session-id", Value: int32(1)})
		a.want(f, 400, "com.microsoft:argument-error")
	})
}

// Sub-queues of every kind refuse the list, since the sessions belong to the entity.
func TestListOnSubQueues(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		for _, sub := range []emulator.SubQueue{emulator.DeadLetter, emulator.TransferDeadLetter} {
			f.ctx.Sub = sub
			listSessions(f, everything, 0, 1).want(f, 400, "amqp:not-allowed")
		}
	})
}
