package compat

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// TestFairness_ALightClientBesideAFanOut: one client has 1,000 sends under way to a topic with a hundred
// subscriptions, whose rules have actions, so that each copy is stored by itself. Another client sends to a queue and
// receives, one after the other.
func TestFairness_ALightClientBesideAFanOut(t *testing.T) {
	harness.NeedNightly(t, "to measure, which needs a machine with nothing else to do")
	const subscriptions, underWay = 100, 1000
	const rounds, roundTime = 4, 5 * time.Second
	const mostMiddle, mostEver = 50 * time.Millisecond, 300 * time.Millisecond
	var list []harness.Subscription
	for i := range subscriptions {
		list = append(list, subscription(fmt.Sprint("s", i), harness.Rule{Name: "r", SQL: "1=1", Action: fmt.Sprintf("SET copy = %d", i)}))
	}
	config := topicConfig(t, list, harness.Queue{Name: queueName})
	b := startServer(t, harness.Options{Config: config, Data: filepath.Join(t.TempDir(), "minibus.db")})
	pairs := func(d time.Duration) (middle, most time.Duration) {
		var all []time.Duration
		for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			begun := time.Now()
			b.must("send", b.sender.SendMessage(b.ctx, message("light"), nil))
			b.must("complete", b.receiver.CompleteMessage(b.ctx, b.receiveOne(b.receiver), nil))
			all = append(all, time.Since(begun))
		}
		slices.Sort(all)
		t.Logf("%d pairs, %v in the middle, %v at most", len(all), all[len(all)/2], all[len(all)-1])
		return all[len(all)/2], all[len(all)-1]
	}
	pairs(time.Second)
	heavy, err := b.connect().NewSender(topicName, nil)
	b.must("create sender", err)
	stop := make(chan struct{})
	var sending sync.WaitGroup
	var sent atomic.Int64
	for range underWay {
		sending.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := heavy.SendMessage(b.ctx, message("heavy"), nil); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		})
	}
	time.Sleep(time.Second)
	good := false
	for round := 0; round < rounds && !good; round++ { // the machine may have other work for a while
		middle, most := pairs(roundTime)
		good = middle <= mostMiddle && most <= mostEver
	}
	close(stop)
	sending.Wait()
	t.Logf("%d messages were sent to the topic", sent.Load())
	if !good {
		t.Errorf("want at most %v in the middle and %v ever", mostMiddle, mostEver)
	}
}
