package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

// TestDeadlines_WhatHasLeftLeavesNoBucketOfDeadlines, whichever way it left: a busy queue with a long time to live would keep them for weeks.
func TestDeadlines_WhatHasLeftLeavesNoBucketOfDeadlines(t *testing.T) {
	const rounds = 300
	for name, pass := range map[string]func(b *broker){
		"completed": func(b *broker) { b.sendTexts("x"); b.settle(emulator.Complete, b.one()) },
		"completed after another try": func(b *broker) {
			b.sendTexts("x")
			b.settle(emulator.Abandon, b.one())
			b.settle(emulator.Complete, b.one())
		},
		"renewed": func(b *broker) {
			b.sendTexts("x")
			gs := b.receive(1)
			time.Sleep(time.Second)
			if _, err := b.q.Renew(tokensOf(gs), nil); err != nil {
				b.t.Fatal(err)
			}
			b.settle(emulator.Complete, gs...)
		},
		"received and deleted": func(b *broker) {
			b.sendTexts("x")
			b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)
		},
		"deferred": func(b *broker) {
			seq := b.deferOne(text("x"))
			b.settle(emulator.Complete, b.fetch(seq))
		},
		"dead-lettered": func(b *broker) {
			b.deadLetterOne(text("x"))
			b.settle(emulator.Complete, b.oneFrom(emulator.DeadLetter))
		},
		"cancelled": func(b *broker) {
			if err := b.cancel(b.schedule(at("x", now().Add(24*time.Hour)))...); err != nil {
				b.t.Fatal(err)
			}
		},
		"scheduled": func(b *broker) {
			b.schedule(at("x", now().Add(time.Second)))
			wait(time.Second)
			b.settle(emulator.Complete, b.one())
		},
		"purged":  func(b *broker) { b.sendTexts("x"); b.deleteBatch(emulator.Main, 5, now().Add(time.Hour)) },
		"expired": func(b *broker) { b.send(withTTL("x", time.Second)); wait(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{DefaultMessageTimeToLive: 14 * 24 * time.Hour}, func(b *broker) {
				for range rounds {
					pass(b)
					wait(300 * time.Millisecond) // the next bucket
				}
				b.wantCounts(0, 0, 0, 0)
				if buckets, keys := b.q.InMemory().Buckets(); buckets > 3 || keys > rounds/2 {
					t.Errorf("%d buckets and %d keys after %d messages", buckets, keys, rounds)
				}
			})
		})
	}
}
