package management

import (
	"slices"
	"testing"
	"time"

	"minibus/internal/amqp"

	goamqp "github.com/Azure/go-amqp"
)

// scheduledIn is scheduled for a message of a session; the body names the session.
func scheduledIn(f *fixture, session string, after time.Duration) []byte {
	return marshal(f, &goamqp.Message{
		Annotations: goamqp.Annotations{"x-opt-scheduled-enqueue-time": time.Now().Add(after)},
		Properties:  &goamqp.MessageProperties{GroupID: &session},
		Data:        [][]byte{[]byte(session)},
	})
}

func (f *sessionFixture) peekAs(link string, id any) answer {
	f.Helper()
	return f.ask(link, "peek-message", id,
		amqp.Pair{Key: "from-sequence-number", Value: int64(0)}, amqp.Pair{Key: "message-count", Value: int32(100)})
}

func TestPEEK7_DEC19_WhichSessionAPeekShows(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("a", "b", "", "a", "")
		f.accept("of a", "a")
		f.accept("of empty", "")
		f.acceptElsewhere("b", func() {})
		tests := []struct {
			name, link string
			id         any
			want       []int64
		}{
			{"neither", "", nil, []int64{1, 2, 3, 4, 5}},
			{"a link that is no session receiver", "plain", nil, []int64{1, 2, 3, 4, 5}},
			{"Go: the link's session", "of a", nil, []int64{1, 4}},
			{".NET: the link's empty session", "of empty", nil, []int64{3, 5}},
			{"the id", "of a", "a", []int64{1, 4}},
			{"the empty id", "of empty", "", []int64{3, 5}},
			{"the id goes before the link", "of a", "", []int64{3, 5}},
			{"an id that another connection holds", "of a", "b", []int64{2}},
			{"an id as a binary", "", []byte("a"), []int64{1, 4}},
		}
		for _, tt := range tests {
			if got := numbers(f.fixture, f.peekAs(tt.link, tt.id)); !slices.Equal(got, tt.want) {
				f.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		}
		f.peekAs("", "unknown").want(f, 204, "")
		f.peekAs("", int32(1)).want(f, 400, "com.microsoft:argument-error")
		f.closeLink("of a")
		if got := numbers(f.fixture, f.peekAs("of a", nil)); len(got) != 5 {
			f.Errorf("peek for a closed link: %v, want all", got)
		}
	})
}

func TestPEEK7_DLQ6_TheDeadLetterQueueIsPeekedWhole(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("a", "b")
		for _, id := range []string{"a", "b"} {
			settle(f.fixture, f.ctx, uuids(f.takeFrom(f.accept(id, id), 1)), "suspended").want(f, 200, "")
		}
		f.ctx = f.deadLetters()
		if got := numbers(f.fixture, f.peekAs("a", "a")); len(got) != 2 {
			f.Errorf("peek %v, want both dead letters", got)
		}
	})
}

func (f *sessionFixture) receiveAs(link string, id any, seqs ...int64) answer {
	f.Helper()
	return f.ask(link, "receive-by-sequence-number", id,
		amqp.Pair{Key: "sequence-numbers", Value: seqs}, amqp.Pair{Key: "receiver-settle-mode", Value: uint32(1)})
}

func TestDEF9_DEC19_DeferredMessagesGoToTheHolder(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.deferIn(f.accept("of a", "a"), 2)    // 1 and 2
		f.deferIn(f.accept("of empty", ""), 2) // 3 and 4
		f.deferIn(f.accept("unused", "u"), 1)  // 5
		for _, tt := range []struct {
			name, link string
			id         any
			seq        int64
		}{
			{"the id", "of a", "a", 1},
			{"Go: the link's session", "of a", nil, 2},
			{".NET: the link's empty session", "of empty", nil, 3},
			{"the empty id", "of empty", "", 4},
			{"the id of another link of the connection", "of a", "u", 5},
		} {
			a := f.receiveAs(tt.link, tt.id, tt.seq)
			if got := numbers(f.fixture, a); !slices.Equal(got, []int64{tt.seq}) {
				f.Errorf("%s: %v, want %d", tt.name, got, tt.seq)
			}
			_, tokens := messages(f, a)
			token := []amqp.UUID{amqp.UUID(tokens[0].(goamqp.UUID))}
			settle(f.fixture, f.ctx, token, "completed").want(f, 200, "") // without session-id
		}
	})
}

func TestDEF13_WrongSessionAndSessionNotHeld(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.deferIn(f.accept("of a", "a"), 1)
		f.deferIn(f.accept("of b", "b"), 1)
		f.receiveAs("of b", "b", 1).want(f, 404, "com.microsoft:message-not-found")
		f.receiveAs("of b", nil, 1).want(f, 404, "com.microsoft:message-not-found")
		f.receiveAs("of b", "b", 1, 2).want(f, 404, "com.microsoft:message-not-found") // DEF-5
		f.closeLink("of a")
		f.acceptElsewhere("a", func() {})
		wantSessionLost(f, "a session of another connection", f.receiveAs("of b", "a", 1))
		wantSessionLost(f, "a session of nobody", f.receiveAs("of b", "nobody's", 1))
		f.receiveAs("of b", "b", 2).want(f, 200, "")
	})
}

func TestDEF14_DEC19_NeitherSessionNorLink(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.deferIn(f.accept("l", "s"), 1)
		for _, link := range []string{"", "unknown"} {
			f.receiveAs(link, nil, 1).want(f, 400, "amqp:not-allowed")
			f.receiveAs(link, nil).want(f, 400, "amqp:not-allowed")
		}
		f.closeLink("l")
		f.receiveAs("l", nil, 1).want(f, 400, "amqp:not-allowed")
	})
}

func (f *sessionFixture) settleAs(link string, id any, token amqp.UUID) answer {
	f.Helper()
	return f.ask(link, "update-disposition", id,
		amqp.Pair{Key: "lock-tokens", Value: []amqp.UUID{token}}, amqp.Pair{Key: "disposition-status",
			Value: "completed"})
}

func TestDEF9_SESS14_SettleInASession(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("s", "s", "s")
		tokens := uuids(f.takeFrom(f.accept("l", "s"), 3))
		wantSessionLost(f, "a session that is not held", f.settleAs("l", "other", tokens[0]))
		f.acceptElsewhere("theirs", func() {})
		wantSessionLost(f, "a session of another connection", f.settleAs("l", "theirs", tokens[0]))
		f.settleAs("l", "s", tokens[0]).want(f, 200, "")
		f.settleAs("l", nil, tokens[1]).want(f, 200, "")
		f.settleAs("", nil, tokens[2]).want(f, 200, "") // the token is enough
		if n := f.queue.Counts().Active; n != 0 {
			f.Errorf("%d messages left, want 0", n)
		}
	})
}

func TestSESS17_SESS19_DeadTokensOfASession(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("s", "s")
		tokens := uuids(f.takeFrom(f.accept("l", "s"), 2))
		f.settleAs("l", "s", tokens[0]).want(f, 200, "")
		f.settleAs("l", "s", tokens[0]).want(f, 410, "com.microsoft:message-lock-lost")
		f.closeLink("l")
		f.settleAs("l", nil, tokens[1]).want(f, 410, "com.microsoft:message-lock-lost")
		wantSessionLost(f, "settle in a closed session", f.settleAs("l", "s", tokens[1]))
		f.accept("m", "s")
		f.settleAs("m", "s", tokens[1]).want(f, 410, "com.microsoft:message-lock-lost")
	})
}

// A message that its session's receiver has is renewed with the session, not by itself.
func TestSESS21_RenewLockInASessionChangesNothing(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		c := f.accept("l", "s")
		f.sendTo("s")
		token := uuids(f.takeFrom(c, 1))
		until := c.SessionLockedUntil()
		time.Sleep(10 * time.Second)
		a := f.ask("l", "renew-lock", nil, amqp.Pair{Key: "lock-tokens", Value: token})
		a.want(f, 200, "")
		if got := field[[]time.Time](f, a, "expirations"); len(got) != 1 || got[0].UnixMilli() != until {
			f.Errorf("expirations %v, want the end of the session's lock, %v", got, time.UnixMilli(until))
		}
		if c.SessionLockedUntil() != until {
			f.Error("the session's lock was renewed")
		}
		f.ask("l", "renew-session-lock", "s").want(f, 200, "")
		a = f.ask("l", "renew-lock", nil, amqp.Pair{Key: "lock-tokens", Value: token})
		if got := field[[]time.Time](f, a, "expirations"); got[0].UnixMilli() != until+10_000 {
			f.Errorf("expirations %v, want the new end of the session's lock", got)
		}
	})
}

func TestSESS20_AnAbandonedMessageComesAgainBeforeTheNext(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("s", "s", "s")
		c := f.accept("l", "s")
		first := f.takeFrom(c, 2)
		f.ask("l", "update-disposition", "s", amqp.Pair{Key: "lock-tokens", Value: uuids(first[:1])},
			amqp.Pair{Key: "disposition-status", Value: "abandoned"}).want(f, 200, "")
		again := f.takeFrom(c, 9)
		var got []int64
		for _, d := range again {
			got = append(got, d.Seq())
		}
		if !slices.Equal(got, []int64{1, 3}) { // 2 is neither settled nor abandoned
			f.Fatalf("received %v after the abandon, want 1 and 3", got)
		}
		var m goamqp.Message
		if err := m.UnmarshalBinary(again[0].Append(nil)); err != nil || m.Header.DeliveryCount != 1 {
			f.Errorf("delivery count %d, error %v; want 1", m.Header.DeliveryCount, err)
		}
	})
}

func TestSESS4_ASessionIDMeansNothingOnAPlainQueue(t *testing.T) {
	inBubble(t, func(f *fixture) {
		s := &sessionFixture{fixture: f}
		f.send("a", "b")
		s.settleAs("l", "s", uuids(f.take(0, 1))[0]).want(f, 200, "")
		s.deleteAs("l", "s", 9).want(f, 200, "")
	})
}

func TestSESS2_SCHED20_ScheduleNeedsASession(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		plain := amqp.Map{{Key: "message", Value: scheduled(f.fixture, "a", time.Hour)},
			{Key: "session-id", Value: "s"}}
		schedule(f.fixture, plain).want(f, 400, "amqp:not-allowed") // only the message itself counts
		for _, id := range []string{"s", ""} {
			entry := amqp.Map{{Key: "message", Value: scheduledIn(f.fixture, id, time.Hour)}}
			schedule(f.fixture, entry).want(f, 200, "")
		}
	})
}
