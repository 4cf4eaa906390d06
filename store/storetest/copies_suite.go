package storetest

import (
	"fmt"
	"reflect"
	"testing"

	"minibus/emulator"
)

// copied is a journal with several queues to which a message was copied, and what is expected to be in it.
type copied struct {
	*harness
	queues []int64
	want   map[int64]emulator.MessageRecord
}

// newCopied stores copies of a message in n queues.
func newCopied(h *harness, n int) *copied {
	c := &copied{harness: h, want: map[int64]emulator.MessageRecord{}}
	for i := range n {
		c.queues = append(c.queues, h.queue(fmt.Sprint("q", i)))
	}
	return c
}

// publish stores a message with a copy in each queue, and returns their rows.
func (c *copied) publish(seq int64, change func(*emulator.MessageRecord)) (rows []int64) {
	op := c.message(c.queues[0], seq, "shared")
	op.Record.EnqueuedSeq, op.Record.Hops = 77, 3
	op.Record.TTL = 60_000
	op.Record.MessageID = "id"
	op.Record.HasSession, op.Record.SessionID = true, "s-1"
	op.Record.Body = op.Record.Row
	change(&op.Record)
	for i, q := range c.queues {
		if i > 1 { // the id of the body is that of the second
			c.id()
		}
		op.Copies = append(op.Copies, emulator.CopyRecord{Entity: q, Seq: seq + int64(i), Partition: uint8(i % 2)})
		r := op.Record
		r.Row += int64(i)
		r.Entity, r.Seq = q, seq+int64(i)
		c.want[r.Row] = r
		rows = append(rows, r.Row)
	}
	c.must(op)
	return rows
}

func (c *copied) remove(row int64, dropBody bool) {
	c.must(emulator.Op{Kind: emulator.OpDelete, DropBody: dropBody, Record: c.want[row]})
	delete(c.want, row)
}

func (c *copied) update(row int64, change func(*emulator.MessageRecord)) {
	r := c.want[row]
	change(&r)
	c.must(emulator.Op{Kind: emulator.OpUpdate, Record: r})
	c.want[row] = r
}

// check compares what a load finds with what is expected.
func (c *copied) check(when string) {
	c.t.Helper()
	if got := c.restart().rows; !reflect.DeepEqual(got, c.want) {
		c.t.Errorf("%s: there is\n%+v, want\n%+v", when, got, c.want)
	}
}

// testCopies: each copy is a message of its own, however they are stored.
func testCopies(t *testing.T, h *harness) {
	for _, n := range []int{2, 5, emulator.MaxCopies} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := newCopied(h, n)
			defer func(t *testing.T) { h.t = t }(h.t)
			h.t = t
			for _, r := range h.restart().rows { // of other numbers of copies
				c.want[r.Row] = r
			}
			rows := c.publish(1, func(*emulator.MessageRecord) {})
			other := c.publish(100, func(r *emulator.MessageRecord) { r.DeliveryCount, r.Reason = 2, "why" })
			c.check("stored")
			last := h.restart()
			for i, q := range c.queues {
				if got := last.last(q, uint8(i%2)); got != 100+int64(i) {
					t.Errorf("the last number of queue %d is %d", i, got)
				}
			}
			body := c.want[rows[0]].Body
			c.remove(rows[0], false)
			c.check("the first one removed")
			c.update(rows[n-1], func(r *emulator.MessageRecord) {
				r.DeliveryCount, r.State = 4, emulator.Deferred
				r.Sub, r.Reason = emulator.DeadLetter, "tired"
				r.Overlay = []byte{0xc1}
			})
			c.check("the last one changed")
			c.update(rows[n-1], func(r *emulator.MessageRecord) {
				r.Entity, r.Seq = c.queues[0], 55
				r.Source = "elsewhere"
			})
			c.check("and moved")
			for _, row := range rows[1 : n-1] {
				c.remove(row, false)
			}
			if got := h.bodies(body)[0]; string(got) != "shared" {
				t.Errorf("the body of what is left is %q", got)
			}
			c.remove(rows[n-1], true)
			c.check("removed")
			for i, row := range other {
				c.remove(row, i == n-1)
			}
			c.check("all removed")
		})
	}
}

// testCopiesOfDeleted: copies go with their entities, the last one with the body.
func testCopiesOfDeleted(t *testing.T, h *harness) {
	c := newCopied(h, 6)
	rows := c.publish(1, func(*emulator.MessageRecord) {})
	c.update(rows[5], func(r *emulator.MessageRecord) { r.DeliveryCount = 1 })
	body := c.want[rows[0]].Body
	for i, q := range c.queues {
		if got := h.bodies(body)[0]; string(got) != "shared" {
			t.Fatalf("the body is %q after the deletion of %d of its entities", got, i)
		}
		if err := h.try(emulator.Op{Kind: emulator.OpDeleteEntity, Entity: emulator.EntityRecord{ID: q}}); err != nil {
			t.Fatalf("delete queue %d: %v", i, err)
		}
		r := c.want[rows[i]]
		if r.Entity = c.queues[5]; i < 5 {
			if err := h.try(emulator.Op{Kind: emulator.OpUpdate, Record: r}); err == nil {
				t.Errorf("a copy moved out of the deleted queue %d", i)
			}
		}
		delete(c.want, rows[i])
		c.check(fmt.Sprintf("queue %d deleted", i))
	}
}

// testCopiesAreAtomic: if one of the entities is gone no copy is stored.
func testCopiesAreAtomic(t *testing.T, h *harness) {
	c := newCopied(h, 5)
	h.must(emulator.Op{Kind: emulator.OpDeleteEntity, Entity: emulator.EntityRecord{ID: c.queues[3]}})
	op := h.message(c.queues[0], 1, "shared")
	op.Record.Body = op.Record.Row
	for _, q := range c.queues {
		op.Copies = append(op.Copies, emulator.CopyRecord{Entity: q, Seq: 1})
	}
	if err := h.try(op); err == nil {
		t.Error("a copy was stored in a deleted queue")
	}
	c.check("failed")
	if got := h.bodies(op.Record.Body)[0]; got != nil {
		t.Errorf("the body of what failed is %q", got)
	}
}
