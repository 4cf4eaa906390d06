package main

import (
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/ledger"
)

// startLoad starts every kind of work.
func (s *soak) startLoad() *load {
	l := newLoad(s)
	s.startQueues(l)
	s.startTopic(l)
	s.startJMS(l)
	for i := range sessionCount {
		l.goWork(sessionName(i)+"-", func(w *worker) error { return w.sendInSession(sessionName(i)) })
	}
	for range 3 {
		l.goWork("holder", (*worker).holdSession)
	}
	for range 4 {
		l.goWork("deleter", (*worker).receiveAndDelete)
	}
	l.goWork("timer", (*worker).schedule)
	l.goWork("txn", (*worker).transact)
	l.goWork("poster", (*worker).post)
	l.goWork("getter", (*worker).get)
	l.goWork("peeker", (*worker).peekAround)
	l.goWork("hoarder", (*worker).hoard)
	l.goWork("admin", (*worker).administer)
	s.load = l
	return l
}

// startQueues starts senders and receivers of the plain queues.
func (s *soak) startQueues(l *load) {
	flood := &feed{to: "deleting", together: 100, flood: true, slow: 250 * time.Millisecond}
	for name, f := range map[string]*feed{
		"single":    {to: "plain"},
		"batch":     {to: "plain", together: 6},
		"flood":     flood,
		"inflow":    flood,
		"spate":     flood,
		"fwd":       {to: "fwd.source", book: "fwd", where: ledger.InQueue | ledger.InTarget, together: 2},
		"dead":      {to: "dead.source", book: "dead"},
		"dup":       {to: "duplicates", twice: true},
		"expiring":  {to: "expiring", where: ledger.InQueue | ledger.InDeadLetters, adorn: shortLife, slow: 10 * time.Millisecond},
		"large":     {to: "large", size: largeSize, slow: 150 * time.Millisecond},
		"partition": {to: "partitioned", adorn: partitionKey},
		"tx":        {to: "txn.in", book: "txn"},
		"held":      {to: "held", size: func(int) int { return 100 << 10 }, atMost: 40, slow: 20 * time.Millisecond},
	} {
		l.goWork(name, func(w *worker) error { return w.send(f) })
	}
	for _, e := range []eating{
		{entity: "plain"}, {entity: "plain"}, {entity: "duplicates"}, {entity: "scheduled"}, {entity: "large"}, {entity: "partitioned"},
		{entity: "expiring", plain: true},
		{entity: "fwd.end", book: "fwd", from: ledger.InTarget},
		{entity: "dead.source", book: "dead", bury: true}, {entity: "dead.end", book: "dead", from: ledger.InTarget, plain: true},
	} {
		if e.book == "" {
			e.book = e.entity
		}
		l.goWork("taker", func(w *worker) error { return w.settleAll(queueReceiver(e.entity), &e) })
	}
}

// shortLife makes some messages expire.
func shortLife(m *azservicebus.Message, n int) {
	life := time.Second + time.Duration(n%4)*500*time.Millisecond
	m.TimeToLive = &life
}

// partitionKey spreads messages.
func partitionKey(m *azservicebus.Message, n int) {
	key := string(rune('a' + n%20))
	m.PartitionKey = &key
}

// largeSize returns a size near the limits of frames and of what the store keeps in one piece.
func largeSize(n int) int {
	return []int{60 << 10, 200 << 10, 1 << 20, 1<<20 + 1, 70 << 10, 3 << 20}[n%6]
}
