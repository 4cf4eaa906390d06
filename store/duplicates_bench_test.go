package store

import (
	"fmt"
	"path/filepath"
	"testing"

	"minibus/emulator"
)

// deepHistory is how many ids a busy entity has in the window of duplicate detection.
const deepHistory = 1_000_000

// fillHistory remembers n keys, 25 in a millisecond, as a busy queue does, and returns the instant after the last.
func fillHistory(s *Store, n int64) (at int64) {
	for i := range n {
		op := rememberOp(i, 1_700_000_000_000+i/25)
		s.Append(&emulator.Change{Ops: []emulator.Op{op}})
		if i%1000 == 0 {
			drain(s)
		}
	}
	drain(s)
	return 1_700_000_000_000 + n/25 + 1
}

// BenchmarkInsertRemembered inserts messages with their ids for duplicate detection, with a full window that forgets
// as many as come in. Compare it with BenchmarkInsert, and with itself without a history.
func BenchmarkInsertRemembered(b *testing.B) {
	data := make([]byte, 1024)
	for _, c := range []struct {
		width    int
		remember bool
		deep     int64
	}{{1, false, 0}, {1, true, 0}, {1, true, deepHistory}, {200, false, 0}, {200, true, 0}, {200, true, deepHistory}} {
		b.Run(fmt.Sprintf("flight=%d/remember=%t/deep=%d", c.width, c.remember, c.deep), func(b *testing.B) {
			s := benchStore(b, false)
			start := fillHistory(s, c.deep)
			flight(b, s, c.width, func(n int64) *emulator.Change {
				ch := insertChange(n, data)
				if !c.remember {
					return ch
				}
				op := rememberOp(c.deep+n, start+n/25)
				ch.Ops = append(ch.Ops, op)
				if n%10_000 == 9_999 {
					ch.Ops = append(ch.Ops, forgetOp(op.Record.Enqueued-c.deep/25))
				}
				return ch
			})
		})
	}
}

// BenchmarkForgetDeepHistory empties a full window, which the writer does in its spare time.
func BenchmarkForgetDeepHistory(b *testing.B) {
	for range b.N {
		b.StopTimer()
		s := benchStore(b, false)
		end := fillHistory(s, deepHistory)
		wait(b, s, forgetOp(end))
		b.StartTimer()
		steps := 0
		onWriter(s, func() {
			for ; len(s.writer.duplicates.prunes) > 0; steps++ {
				s.writer.duplicates.pruneSome()
			}
		})
		b.ReportMetric(float64(steps), "steps")
	}
}

// BenchmarkLoadHistory streams a full window, as a start of the program does.
func BenchmarkLoadHistory(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.db")
	s := mustOpen(b, path, Options{})
	wait(b, s, putQueue(1, "q"))
	fillHistory(s, deepHistory)
	_ = s.Close()
	b.ResetTimer()
	for range b.N {
		s := mustOpen(b, path, Options{})
		var c countLoader
		if err := s.Load(&c); err != nil || c.keys != deepHistory {
			b.Fatal(err, c)
		}
		_ = s.Close()
	}
}

// BenchmarkSessionState sets the states of 10,000 sessions in turn.
func BenchmarkSessionState(b *testing.B) {
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("session-%08d", i*7919%len(ids))
	}
	for _, size := range []int{100, 10_000} {
		b.Run(fmt.Sprint("bytes=", size), func(b *testing.B) {
			state := make([]byte, size)
			eachWidth(b, func(b *testing.B, s *Store, width int) {
				flight(b, s, width, func(n int64) *emulator.Change {
					return &emulator.Change{Ops: []emulator.Op{sessionOp(1, ids[n%int64(len(ids))], state)}}
				})
			})
		})
	}
}
