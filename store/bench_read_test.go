//go:build unix

package store

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"minibus/emulator"
)

// BenchmarkReadBodies reads some of a million bodies of 1 KiB at a time: with consecutive ids, with other bodies
// (mixed) or unused ids (copies) in between, and with random ids. An op is a body.
func BenchmarkReadBodies(b *testing.B) {
	const dense, sparse = 900_000, 100_000
	s := benchStore(b, false)
	data := make([]byte, 1024)
	put := func(id, n int64) {
		c := insertChange(n, data)
		c.Ops[0].Record.Row, c.Ops[0].Record.Body = id, id
		s.Append(c)
		if n%1000 == 0 {
			drain(s)
		}
	}
	for n := range int64(dense) {
		put(n, n)
	}
	for n := range int64(sparse) {
		put(dense+3*n, dense+n)
	}
	drain(s)
	onWriter(s, func() { _ = s.checkpointer.restart(s.writer.conn, false) })

	rnd := rand.New(rand.NewPCG(1, 2))
	each := func(name string, every int64, from, to int64) {
		for _, n := range []int{1, 10, 50, 200} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				readBodies(b, s, n, func(ids []int64) {
					at := from + (rnd.Int64N(to-from-int64(n)*every)/every)*every
					for i := range ids {
						ids[i] = at + int64(i)*every
					}
				})
			})
		}
	}
	each("run", 1, 0, dense)
	each("mixed 1 of 2", 2, 0, dense)
	each("mixed 1 of 5", 5, 0, dense)
	each("copies", 3, dense, dense+3*sparse)
	for _, n := range []int{1, 50} {
		b.Run(fmt.Sprintf("scattered/n=%d", n), func(b *testing.B) {
			readBodies(b, s, n, func(ids []int64) {
				for i := range ids {
					ids[i] = rnd.Int64N(dense)
				}
			})
		})
	}
}

// readBodies reads b.N bodies, n at a time.
func readBodies(b *testing.B, s *Store, n int, choose func(ids []int64)) {
	res := make(chan error, 1)
	r := &emulator.BodyRead{IDs: make([]int64, n), Done: emulator.CompletionFunc(func(err error) { res <- err })}
	b.ReportAllocs()
	before := processorTime(b)
	for left := b.N; left > 0; left -= n {
		choose(r.IDs)
		r.Bodies = nil
		s.ReadBodies(r)
		if err := <-res; err != nil || len(r.Bodies[n-1]) != 1024 {
			b.Fatal(err, len(r.Bodies[n-1]))
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// processorTime returns the processor time of this process in nanoseconds, so that other programs do not count.
func processorTime(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
