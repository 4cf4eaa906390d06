package amqpserver

import (
	"sync"
	"testing"
)

func TestMailbox_LosesNothingAndKeepsOrder(t *testing.T) {
	const posters, each = 4, 1000
	m := newMailbox()
	last := make([]int, posters)
	seen := 0
	var wg sync.WaitGroup
	for p := range posters {
		wg.Go(func() {
			for i := 1; i <= each; i++ {
				m.post(eventFunc(func() {
					if last[p] != i-1 {
						t.Errorf("poster %d: event %d after %d", p, i, last[p])
					}
					last[p] = i
					seen++
				}))
			}
		})
	}
	var spare []event
	for seen < posters*each {
		<-m.poked
		events := m.take(spare)
		for _, e := range events {
			e.run(nil)
		}
		spare = events
	}
	wg.Wait()
}

func TestMailbox_ClosedTakesNothing(t *testing.T) {
	m := newMailbox()
	m.post(eventFunc(func() {}))
	m.close()
	m.post(eventFunc(func() {}))
	if got := m.take(nil); len(got) != 0 {
		t.Errorf("%d events after close", len(got))
	}
}

func TestMailbox_WakesNobodyDuringATurn(t *testing.T) {
	m := newMailbox()
	nothing := eventFunc(func() {})
	m.beginTurn()
	m.post(nothing)
	if len(m.poked) != 0 {
		t.Error("an event during a turn woke the loop")
	}
	if m.endIfEmpty() {
		t.Error("a turn could end with an event left")
	}
	m.take(nil)
	if !m.endIfEmpty() {
		t.Error("a turn could not end")
	}
	m.post(nothing)
	if len(m.poked) != 1 {
		t.Error("an event after a turn woke nobody")
	}
	<-m.poked
	m.beginTurn()
	m.endTurn()
	if len(m.poked) != 1 {
		t.Error("events that a turn left woke nobody")
	}
}
