package management

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// begin makes requests part of a new transaction.
func (f *fixture) begin() *emulator.Transaction {
	f.ctx.Tx = f.ns.Begin(false, "")
	return f.ctx.Tx
}

func TestTXN1_WhichOperationsTakePart(t *testing.T) {
	inSessionBubble(t, func(f *sessionFixture) {
		f.sendTo("s")
		f.accept("l", "s")
		f.begin()
		for name, o := range operations {
			name = name[len("com.microsoft:"):]
			a := f.ask("l", name, "s")
			code, want := int32(400), "com.microsoft:argument-error" // its arguments were checked
			switch {
			case o.inTx == refusedIn:
				want = "amqp:not-allowed"
			case o.session:
				code, want = 200, "" // it needs no more
			}
			if a.code != code || a.condition != want {
				f.Errorf("%s: %d %q %q, want %d %q", name, a.code, a.condition, a.text, code, want)
			}
		}
		for how, names := range map[inTx][]string{
			partOf: {"update-disposition", "renew-lock", "schedule-message", "cancel-scheduled-message",
				"set-session-state"},
			outsideOf: {"peek-message", "receive-by-sequence-number", "renew-session-lock", "get-session-state",
				"get-message-sessions", "enumerate-rules"},
			refusedIn: {"batch-delete-messages", "add-rule", "remove-rule"},
		} {
			for _, name := range names {
				if have := operations["com.microsoft:"+name].inTx; have != how {
					f.Errorf("%s: %d in a transaction, want %d", name, have, how)
				}
			}
		}
		f.ask("l", "no-such-thing", nil).want(f, 501, "amqp:not-implemented")
	})
}

func TestTXN1_SESS25_StateTakesPartAndTheRestIsAnsweredAsOutside(t *testing.T) {
	for _, commit := range []bool{true, false} {
		inSessionBubble(t, func(f *sessionFixture) {
			f.sendTo("s")
			c := f.accept("l", "s")
			f.deferIn(c, 1)
			tx := f.begin()
			f.ask("l", "set-session-state", "S", state([]byte("x"))).want(f, 200, "")
			wantState := func(want any) {
				t.Helper()
				a := f.ask("l", "get-session-state", "s")
				if a.want(f, 200, ""); !reflect.DeepEqual(a.Value.(map[string]any)["session-state"], want) {
					t.Errorf("state %v, want %v", a.Value, want)
				}
			}
			wantState(nil)
			f.ask("l", "renew-session-lock", "s").want(f, 200, "")
			numbers := amqp.Pair{Key: "sequence-numbers", Value: []int64{1}}
			f.ask("l", "receive-by-sequence-number", "s", numbers,
				amqp.Pair{Key: "receiver-settle-mode", Value: uint32(1)}).want(f, 200, "")
			var want any
			if commit {
				f.await(tx.Commit)
				want = []byte("x")
			} else {
				tx.Rollback()
			}
			wantState(want) // it is no part of the transaction, which has ended
			f.ask("l", "set-session-state", "s").want(f, 400, "amqp:transaction:unknown-id")
		})
	}
}

func TestTXN1_TXN2_SettlementTakesEffectAtCommit(t *testing.T) {
	for _, commit := range []bool{true, false} {
		inBubble(t, func(f *fixture) {
			f.send("a")
			tokens := uuids(f.take(emulator.Main, 1))
			tx := f.begin()
			settle(f, f.ctx, tokens, "completed").want(f, 200, "")
			settle(f, f.ctx, tokens, "completed").want(f, 410, "com.microsoft:message-lock-lost")
			if n := f.queue.Counts().Active; n != 1 {
				f.Errorf("%d messages before the end, want 1", n)
			}
			want := int64(1)
			if commit {
				f.await(tx.Commit)
				want = 0
			} else {
				tx.Rollback()
			}
			f.ctx.Tx = nil
			if n := f.queue.Counts().Active; n != want {
				f.Errorf("commit %v: %d messages, want %d", commit, n, want)
			}
			if !commit {
				settle(f, f.ctx, tokens, "completed").want(f, 200, "") // TXN-6: the lock is unchanged
			}
		})
	}
}

func TestSCHED19_ScheduleInATransaction(t *testing.T) {
	inBubble(t, func(f *fixture) {
		entry := amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}
		tx := f.begin()
		lost := field[[]int64](f, schedule(f, entry, entry), "sequence-numbers")
		if len(lost) != 2 || lost[1] <= lost[0] {
			f.Errorf("numbers %v, want two that rise", lost)
		}
		tx.Rollback()
		tx = f.begin()
		kept := field[[]int64](f, schedule(f, entry), "sequence-numbers")
		f.ctx.Tx = nil
		if n := f.queue.Counts().Scheduled; n != 0 {
			f.Errorf("%d scheduled messages before the commit, want 0", n)
		}
		f.await(tx.Commit)
		if n := f.queue.Counts().Scheduled; n != 1 {
			f.Errorf("%d scheduled messages, want the committed one", n)
		}
		cancel(f, lost).want(f, 404, "com.microsoft:message-not-found")
		cancel(f, kept).want(f, 200, "")
	})
}

func TestSCHED19_CancelInATransaction(t *testing.T) {
	inBubble(t, func(f *fixture) {
		entry := amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}
		seqs := field[[]int64](f, schedule(f, entry), "sequence-numbers")
		tx := f.begin()
		cancel(f, seqs).want(f, 200, "")
		cancel(f, seqs).want(f, 404, "com.microsoft:message-not-found")
		cancel(f, amqp.List{}).want(f, 200, "")
		tx.Rollback()
		if n := f.queue.Counts().Scheduled; n != 1 {
			f.Errorf("%d scheduled messages after the rollback, want 1", n)
		}
		tx = f.begin()
		cancel(f, seqs).want(f, 200, "")
		cancel(f, amqp.List{}).want(f, 200, "")
		f.await(tx.Commit)
		if n := f.queue.Counts().Scheduled; n != 0 {
			f.Errorf("%d scheduled messages after the commit, want 0", n)
		}
	})
}

func TestTXN1_RenewLockInATransaction(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		tokens := uuids(f.take(emulator.Main, 1))
		tx := f.begin()
		time.Sleep(10 * time.Second)
		until := field[[]time.Time](f, renew(f, f.ctx, tokens), "expirations")
		if want := time.Now().Add(lockDuration).Truncate(time.Millisecond); !until[0].Equal(want) {
			f.Errorf("renewed until %v, want %v", until[0], want)
		}
		tx.Rollback()
		renew(f, f.ctx, tokens).want(f, 400, "amqp:transaction:unknown-id")
		f.ctx.Tx = nil
		renew(f, f.ctx, tokens).want(f, 200, "")
	})
}

// inTransaction returns requests that an ended transaction, or one on another entity, refuses.
func inTransaction(f *fixture) map[string]func() answer {
	entry := amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}}
	return map[string]func() answer{
		"schedule-message":         func() answer { return schedule(f, entry) },
		"cancel-scheduled-message": func() answer { return cancel(f, []int64{1}) },
		"renew-lock":               func() answer { return renew(f, f.ctx, uuids(f.take(emulator.Main, 1))) },
		"update-disposition": func() answer {
			return settle(f, f.ctx,
				uuids(f.take(emulator.Main, 1)), "completed")
		},
	}
}

func TestTXN3_ERR6_ATransactionThatIsOverTakesNothing(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b", "c", "d")
		for name, request := range inTransaction(f) {
			f.begin().Rollback()
			request().want(f, 400, "amqp:transaction:unknown-id")
			f.begin()
			schedule(f).want(f, 200, "") // its first operation, which starts its time
			time.Sleep(2*time.Minute + time.Second)
			synctest.Wait()
			if a := request(); a.code != 400 || a.condition != "amqp:transaction:timeout" {
				f.Errorf("%s after two minutes: %d %q %q", name, a.code, a.condition, a.text)
			}
		}
	})
}

func TestTXN8_ATransactionStaysOnOneEntity(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b", "c", "d")
		other := f.ctx
		other.Queue = f.create("other", emulator.QueueOptions{})
		for name, request := range inTransaction(f) {
			tx := f.begin()
			other.Tx = tx
			f.requestTo(other, "schedule-message", amqp.Map{{Key: "messages", Value: amqp.List{}}}).want(f, 200, "")
			if a := request(); a.code != 400 || a.condition != "amqp:not-allowed" {
				f.Errorf("%s on a second entity: %d %q %q", name, a.code, a.condition, a.text)
			}
			tx.Rollback()
		}
	})
}
