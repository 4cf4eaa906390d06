package cli

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// latencies collects how long an operation took.
type latencies struct {
	begin time.Time

	mu       sync.Mutex
	end      time.Time
	all      []time.Duration
	messages int // if an operation has several
}

func newLatencies() *latencies { return &latencies{begin: time.Now()} }

// add notes an operation that began then and ends now.
func (l *latencies) add(begin time.Time) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, now.Sub(begin))
	l.end = now
}

// count adds messages of an operation that has several.
func (l *latencies) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages += n
}

// measurement is what bench found of an operation.
type measurement struct {
	Operation         string  `json:"operation"`
	Messages          int     `json:"messages"`
	Seconds           float64 `json:"seconds"`
	PerSecond         float64 `json:"perSecond"`
	MebibytePerSecond float64 `json:"mebibytePerSecond"`
	P50Millis         float64 `json:"p50Millis"`
	P99Millis         float64 `json:"p99Millis"`
	MaxMillis         float64 `json:"maxMillis"`
}

// measured returns what was found, for bodies of a size.
func (l *latencies) measured(operation string, size int) measurement {
	m := measurement{Operation: operation, Messages: len(l.all)}
	if len(l.all) == 0 {
		return m
	}
	if l.messages > 0 {
		m.Messages = l.messages
	}
	slices.Sort(l.all)
	m.Seconds = l.end.Sub(l.begin).Seconds()
	m.PerSecond = float64(m.Messages) / m.Seconds
	m.MebibytePerSecond = m.PerSecond * float64(size) / (1 << 20)
	m.P50Millis, m.P99Millis, m.MaxMillis = l.millis(50), l.millis(99), l.millis(100)
	return m
}

// millis returns a percentile of the latencies, which are sorted.
func (l *latencies) millis(percent int) float64 {
	i := (len(l.all)*percent + 99) / 100
	return float64(l.all[max(i, 1)-1].Microseconds()) / 1000
}

// benchResult prints what was found.
func (a *app) benchResult(all []measurement) error {
	a.out.list("OPERATION", "MESSAGES", "SECONDS", "PER SECOND", "MIB/S", "P50 MS", "P99 MS", "MAX MS")
	for _, m := range all {
		if err := a.out.add(m, m.Operation, fmt.Sprint(m.Messages), fmt.Sprintf("%.2f", m.Seconds), fmt.Sprintf("%.0f", m.PerSecond), fmt.Sprintf("%.2f", m.MebibytePerSecond),
			fmt.Sprintf("%.2f", m.P50Millis), fmt.Sprintf("%.2f", m.P99Millis), fmt.Sprintf("%.2f", m.MaxMillis)); err != nil {
			return err
		}
	}
	return nil
}
