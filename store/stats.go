package store

import (
	"sync/atomic"
	"time"
)

// Stats are counts since Open, for metrics.
type Stats struct {
	Commits     int64 // transactions committed
	Changes     int64 // changes in them
	Failed      int64 // changes that failed
	Checkpoints int64 // copies of the write-ahead log into the file
	BodyReads   int64 // bodies read back

	CommitTimes Histogram // of the transactions of Commits
}

type counters struct {
	commits, changes, failed, checkpoints, bodyReads atomic.Int64

	times histogram
}

// Stats returns the counts so far.
func (s *Store) Stats() Stats {
	c := &s.stats
	return Stats{
		Commits: c.commits.Load(), Changes: c.changes.Load(), Failed: c.failed.Load(),
		Checkpoints: c.checkpoints.Load(), BodyReads: c.bodyReads.Load(), CommitTimes: c.times.read(),
	}
}

// Histogram counts durations by how long they were.
type Histogram struct {
	Bounds  []time.Duration // upper bounds of the buckets, ascending
	Buckets []int64         // one more than bounds: the last has no bound
	Sum     time.Duration
}

// commitBounds grow by a factor of four: a commit takes 50 microseconds on a good day and seconds on a full disk.
var commitBounds = []time.Duration{
	64 * time.Microsecond, 256 * time.Microsecond, 1024 * time.Microsecond, 4096 * time.Microsecond,
	16384 * time.Microsecond, 65536 * time.Microsecond, 262144 * time.Microsecond, 1048576 * time.Microsecond,
	4194304 * time.Microsecond,
}

// histogram is written by one goroutine and read by any.
type histogram struct {
	buckets [10]atomic.Int64
	sum     atomic.Int64
}

func (h *histogram) observe(d time.Duration) {
	i := 0
	for i < len(commitBounds) && d > commitBounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

func (h *histogram) read() Histogram {
	r := Histogram{Bounds: commitBounds, Buckets: make([]int64, len(h.buckets)), Sum: time.Duration(h.sum.Load())}
	for i := range h.buckets {
		r.Buckets[i] = h.buckets[i].Load()
	}
	return r
}
