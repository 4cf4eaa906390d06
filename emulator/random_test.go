package emulator

// Random histories
//
// Tests named after rules try what somebody has thought of. These suites try the rest. Each goes its own way, and each has found faults
// that the others don't:
//
//   - random_queue: one queue, one operation at a time, each answer compared with a model. It finds wrong answers of a single call: a
//     number, a renewed lock, a refusal, a message that was given back.
//   - random_namespace: the same for five queues with sessions, duplicate detection, forwards and transactions. It finds a wrong order
//     of sessions, a duplicate too many, a transaction of which half counts.
//   - random_clients: many clients at once, while commits fail and the process crashes. No model: each message has a name, and none may
//     be lost, doubled or overtaken in its session. It finds what takes two clients; with -race, missing locks.
//   - random_overlap: several changes before the first is written, some of which fail alone, on entities that come and go, with reads
//     that fail. No model: all that the broker counts is counted again, and its memory is compared with the journal. It finds entries
//     that stay busy, counters that drift, memory that differs from what is stored.
//   - random_selector: consumers with selectors beside others, while commits and reads fail, each delivery compared with what its selector
//     means. It finds a consumer that sleeps beside a message for it, and a message that overtakes another.
//   - random_rules: random rules and messages of a topic, compared with a naive evaluation. It finds a subscription that gets too much
//     or too little.
//   - topic_concurrent: many senders and transactions to one topic while subscriptions and rules come and go. It finds bodies that
//     stay, or go too early, when copies leave at the same time or a commit fails.
//   - TestTOP8_RandomChangesAgreeWithTheJournal: several changes of rules under way. It finds rules in force that are not stored.
//
// A test that fails prints MINIBUS_RANDOM=N, which repeats its choices (not the order of goroutines). MINIBUS_OPS=100000 makes the first four
// long.

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// NewRandom returns a source of random operations. Its seed is printed when the test fails and can be set with
// MINIBUS_RANDOM.
func NewRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("MINIBUS_RANDOM"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("MINIBUS_RANDOM: %v", err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("run again with MINIBUS_RANDOM=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}
