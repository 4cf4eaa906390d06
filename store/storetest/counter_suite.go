package storetest

import (
	"testing"

	"minibus/emulator"
)

func (h *harness) counterIs(entity int64, partition uint8, want int64) {
	h.t.Helper()
	if got := h.restart().last(entity, partition); got != want {
		h.t.Errorf("last number of partition %d is %d, want %d", partition, got, want)
	}
}

func testCounter(t *testing.T, h *harness) {
	q := h.queue("q")
	h.counterIs(q, 0, -1)
	op := h.message(q, 41, "x")
	h.must(op)
	h.must(emulator.Op{Kind: emulator.OpDelete, Record: op.Record, DropBody: true})
	h.counterIs(q, 0, 41)
	h.must(counterOp(q, 0, 50))
	h.counterIs(q, 0, 50)
}

func testCounterDrawn(t *testing.T, h *harness) {
	q := h.queue("q")
	h.must(h.message(q, 20, "x"))
	early := h.message(q, 27, "x")
	early.DrawsNumber = false // for example a number that was drawn before and was lost
	h.must(early)
	moved := early.Record
	moved.Seq = 30
	h.must(emulator.Op{Kind: emulator.OpUpdate, Record: moved})
	again := putQueue(q, "q")
	again.Entity.Last = []emulator.CounterRecord{{Seq: 3}} // means something in a Load only
	h.must(again)
	h.counterIs(q, 0, 20)
}

func testCounterRollsOver(t *testing.T, h *harness) {
	q := h.queue("q")
	const most = 1<<63 - 1
	h.must(h.message(q, most, "last"), h.message(q, 0, "first")) // in one change
	h.counterIs(q, 0, 0)
	h.must(h.message(q, most-1, "x"))
	h.must(h.message(q, 7, "x"))
	h.counterIs(q, 0, 7)
	moved := h.message(q, 9, "x")
	h.must(moved)
	moved.Record.Seq = 2
	h.must(emulator.Op{Kind: emulator.OpUpdate, DrawsNumber: true, Record: moved.Record})
	h.counterIs(q, 0, 2)
}

func testPartitions(t *testing.T, h *harness) {
	q, other := h.queue("q"), h.queue("other")
	from := func(entity int64, partition uint8, seq int64) emulator.Op {
		op := h.message(entity, int64(partition)<<48|seq, "x")
		op.Partition = partition
		return op
	}
	h.must(from(q, 3, 1), from(q, 15, 1), from(other, 3, 9), from(q, 3, 2))
	h.must(from(q, 0, 5))
	h.must(counterOp(q, 255, 6))
	c := h.restart()
	for partition, want := range map[uint8]int64{0: 5, 3: 3<<48 | 2, 15: 15<<48 | 1, 255: 6, 1: -1} {
		if got := c.last(q, partition); got != want {
			t.Errorf("partition %d is at %#x, want %#x", partition, got, want)
		}
	}
	if len(c.entities[q].Last) != 4 || len(c.entities[other].Last) != 1 || c.last(other, 3) != 3<<48|9 {
		t.Errorf("counters are %+v and %+v", c.entities[q].Last, c.entities[other].Last)
	}
}

// testCounterOfFailed: numbers of a failed change count as never drawn, even beside good changes in one commit.
func testCounterOfFailed(t *testing.T, h *harness) {
	q := h.queue("q")
	taken := h.message(q, 10, "x")
	h.must(taken)
	bad := h.message(q, 99, "x")
	bad.Record.Row = taken.Record.Row
	results := []<-chan error{
		h.begin(h.message(q, 5, "x")), h.begin(counterOp(q, 4, 77), counterOp(q, 0, 88), bad),
		h.begin(counterOp(q, 1, 2)),
	}
	for i, res := range results {
		if err := <-res; (err != nil) != (i == 1) {
			t.Errorf("change %d: %v", i, err)
		}
	}
	c := h.restart()
	if c.last(q, 0) != 5 || c.last(q, 1) != 2 || c.last(q, 4) != -1 {
		t.Errorf("counters are %+v", c.entities[q].Last)
	}
}

func counterOp(entity int64, partition uint8, seq int64) emulator.Op {
	return emulator.Op{
		Kind: emulator.OpCounter, DrawsNumber: true, Partition: partition,
		Record: emulator.MessageRecord{Entity: entity, Seq: seq},
	}
}
