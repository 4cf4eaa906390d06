package management

import (
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"

	goamqp "github.com/Azure/go-amqp"
)

func renew(f *fixture, ctx Context, tokens any) answer {
	f.Helper()
	return f.requestTo(ctx, "renew-lock", amqp.Map{{Key: "lock-tokens", Value: tokens}})
}

func TestLOCK4_RenewSetsNowPlusDuration(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b")
		ds := f.take(emulator.Main, 2)
		time.Sleep(20 * time.Second)
		for range 5 { // any number of times, far beyond the first end
			a := renew(f, f.ctx, uuids(ds))
			a.want(f, 200, "")
			until := field[[]time.Time](f, a, "expirations")
			for i, u := range until {
				if want := time.Now().Add(lockDuration); !u.Equal(want.Truncate(time.Millisecond)) {
					f.Errorf("lock %d is renewed until %v, want %v", i, u, want)
				}
			}
			if len(until) != 2 {
				f.Errorf("%d expirations for 2 tokens", len(until))
			}
			time.Sleep(20 * time.Second)
		}
	})
}

func TestLOCK5_RenewOfALostLock(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("settled", "expires")
		ds := f.take(emulator.Main, 2)
		f.await(func(c emulator.Completion) error { return f.queue.Settle(tokensOf(ds[:1]), emulator.Settlement{}, c) })
		time.Sleep(lockDuration + time.Second)
		for name, token := range map[string]amqp.UUID{
			"settled": amqp.UUID(ds[0].Token()), "expired": amqp.UUID(ds[1].Token()), "unknown": {1, 2, 3},
		} {
			a := renew(f, f.ctx, []amqp.UUID{token})
			if a.code != 410 || a.condition != "com.microsoft:message-lock-lost" ||
				!strings.HasPrefix(a.text,
					"The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue") {
				f.Errorf("renew of the %s lock: %d %q %q", name, a.code, a.condition, a.text)
			}
		}
	})
}

func TestLOCK6_RenewOfSeveralWithOneBadRenewsNone(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		ds := f.take(emulator.Main, 1)
		time.Sleep(20 * time.Second)
		renew(f, f.ctx, append(uuids(ds), amqp.UUID{9})).want(f, 410, "com.microsoft:message-lock-lost")
		time.Sleep(15 * time.Second) // past the first end of the lock, within the end that a renewal would have given
		renew(f, f.ctx, uuids(ds)).want(f, 410, "com.microsoft:message-lock-lost")
	})
}

// The SDKs write the tokens as an array; plain clients write a list.
func TestRenewTakesArrayAndList(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		id := uuids(f.take(emulator.Main, 1))[0]
		for _, tokens := range []any{[]amqp.UUID{id}, amqp.List{id},
			amqp.Array{Code: amqp.CodeUUID, Items: []any{id}}} {
			renew(f, f.ctx, tokens).want(f, 200, "")
		}
		raw, err := (&goamqp.Message{
			ApplicationProperties: map[string]any{"operation": "com.microsoft:renew-lock"},
			Value:                 map[string]any{"lock-tokens": []goamqp.UUID{goamqp.UUID(id)}},
		}).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		decodeAnswer(f, f.handle(f.ctx, raw)).want(f, 200, "")
	})
}

func TestDLQ17_RenewAndSettleOnEitherNode(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a", "b")
		f.await(func(c emulator.Completion) error {
			return f.queue.Settle(tokensOf(f.take(emulator.Main, 2)),
				emulator.Settlement{Outcome: emulator.DeadLetterOutcome}, c)
		})
		ds := f.take(emulator.DeadLetter, 2)
		for i, ctx := range []Context{f.deadLetters(), f.ctx} {
			renew(f, ctx, uuids(ds[i:i+1])).want(f, 200, "")
			settle(f, ctx, uuids(ds[i:i+1]), "completed").want(f, 200, "")
		}
		if n := f.queue.Counts().DeadLetter; n != 0 {
			f.Errorf("%d messages left in the dead-letter queue, want 0", n)
		}
	})
}
