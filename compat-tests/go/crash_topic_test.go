package compat

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// fanOutOperations is the plan of a round; the process is killed somewhere in the middle of it.
const fanOutOperations = 1500

// batchSize is the number of messages in each batch of the load.
const batchSize = 4

// takers maps the subscriptions of the crash test to the messages that they want, by a worker's count.
var takers = map[string]func(n int) bool{
	"all":    func(int) bool { return true },
	"odd":    func(n int) bool { return n%2 == 1 },
	"third":  func(n int) bool { return n%3 == 0 },
	"action": func(n int) bool { return n%5 == 0 },
}

func takerConfig(t *testing.T) string {
	return topicConfig(t, []harness.Subscription{
		subscription("all"),
		subscription("odd", harness.Rule{Name: "r", SQL: "n % 2 = 1"}),
		subscription("third", harness.Rule{Name: "r", Correlation: map[string]any{"Properties": map[string]any{"third": "yes"}}}),
		subscription("action", harness.Rule{Name: "r", SQL: "n % 5 = 0", Action: "SET touched = TRUE"}),
	})
}

// TestDEC21_TOP1_SEQ15_Kill9DuringFanOut kills the server in the middle of fan-outs, again and again on one database: a
// message is in all subscriptions that want it, once, or in none, and in all if its send was acknowledged; numbers have no gaps.
func TestDEC21_TOP1_SEQ15_Kill9DuringFanOut(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	o := harness.Options{Config: takerConfig(t), Data: filepath.Join(t.TempDir(), "minibus.db")}
	next := make(map[string]int64) // the first unseen number of each subscription
	for round := range crashRoundsWanted(t) {
		server := harness.Start(t, o)
		w := &fanLoad{crashLoad: newCrashLoad(t, server, nil, round), sent: make(map[string]int), acknowledged: make(map[string]bool)}
		killed := w.runAndKill(fanOutOperations/10 + rand.IntN(fanOutOperations*8/10))
		server = harness.Start(t, o)
		stored := w.audit(connectBench(t, server), next)
		server.Stop(t)
		t.Logf("round %d: killed after %d answers, %d of %d messages stored", round, killed, stored, len(w.sent))
		if t.Failed() {
			return
		}
	}
}

// fanLoad is the work of one round.
type fanLoad struct {
	*crashLoad
	mu           sync.Mutex
	sent         map[string]int  // by id: the number that decides which subscriptions want it
	acknowledged map[string]bool // messages that must be there
}

func (w *fanLoad) runAndKill(after int) int64 {
	return w.runWhile(after, func() {
		for i := range 2 {
			client := w.connect()
			for j := range 3 {
				w.goWork(func() { w.send(client, fmt.Sprintf("r%d-%d.%d", w.round, i, j), 1) })
			}
			w.goWork(func() { w.send(client, fmt.Sprintf("r%d-b%d", w.round, i), batchSize) })
		}
	})
}

// send sends messages until the server is gone, one at a time or in batches.
func (w *fanLoad) send(client *azservicebus.Client, name string, together int) {
	sender, err := client.NewSender(topicName, nil)
	for n := 0; !w.failed("send", err); n += together {
		var ids []string
		var messages []*azservicebus.Message
		for i := n; i < n+together; i++ {
			m := with(fmt.Sprintf("%s.%d", name, i), "n", int64(i), "third", "no")
			if takers["third"](i) {
				m.ApplicationProperties["third"] = "yes"
			}
			ids, messages = append(ids, string(m.Body)), append(messages, m)
		}
		w.note(func() {
			for i, id := range ids {
				w.sent[id] = n + i
			}
		})
		if err = w.sendAll(sender, messages); err == nil {
			w.note(func() {
				for _, id := range ids {
					w.acknowledged[id] = true
				}
			})
			w.answered(together)
		}
	}
}

func (w *fanLoad) sendAll(sender *azservicebus.Sender, messages []*azservicebus.Message) error {
	if len(messages) == 1 {
		return sender.SendMessage(w.ctx, messages[0], nil)
	}
	batch, err := sender.NewMessageBatch(w.ctx, nil)
	for i := 0; err == nil && i < len(messages); i++ {
		err = batch.AddMessage(messages[i], nil)
	}
	if err != nil {
		return err
	}
	return sender.SendMessageBatch(w.ctx, batch, nil)
}

func (w *fanLoad) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// audit compares the messages in the subscriptions with those sent and returns how many there are.
func (w *fanLoad) audit(b *bench, next map[string]int64) int {
	b.Helper()
	found := make(map[string]map[string]int) // by subscription and id
	for name := range takers {
		found[name] = make(map[string]int)
		receiver := b.fromSub(name)
		for {
			page := b.peekAll(receiver, next[name]+1)
			if len(page) == 0 {
				break
			}
			for _, m := range page {
				if next[name]++; *m.SequenceNumber != next[name] {
					b.Fatalf("%s: message %s has number %d, want %d", name, m.Body, *m.SequenceNumber, next[name])
				}
				found[name][string(m.Body)]++
			}
		}
	}
	for id, n := range w.sent {
		w.auditOne(id, n, found)
	}
	for name, ids := range found {
		for id := range ids {
			if _, ok := w.sent[id]; !ok {
				b.Errorf("%s has %s, which this round did not send", name, id)
			}
		}
	}
	return len(found["all"])
}

// auditOne checks one message: every subscription that wants it has it once; or none has it, and its send was not acknowledged.
func (w *fanLoad) auditOne(id string, n int, found map[string]map[string]int) {
	stored := found["all"][id] > 0
	if w.acknowledged[id] && !stored {
		w.t.Errorf("%s was acknowledged and is lost", id)
	}
	if worker := strings.TrimSuffix(id, fmt.Sprint(n)); strings.Contains(worker, "-b") {
		if first := fmt.Sprint(worker, n-n%batchSize); (found["all"][first] > 0) != stored {
			w.t.Errorf("%s and %s, of one batch, do not share their fate", id, first)
		}
	}
	for name, wants := range takers {
		want := 0
		if stored && wants(n) {
			want = 1
		}
		if got := found[name][id]; got != want {
			w.t.Errorf("%s has %s %d times, want %d", name, id, got, want)
		}
	}
}
