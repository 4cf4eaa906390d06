package emulator

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"

	"minibus/internal/amqp/message"
)

// partitions is the number of partitions of a partitioned entity (PART-1).
const partitions = 16

// partitionShift makes room for the counter in a partitioned entity's sequence numbers (SEQ-5).
const partitionShift = 48

// partitionOf returns the partition of a number of a partitioned entity.
func partitionOf(seq int64) int { return int(uint64(seq) >> partitionShift) }

// counters give out the numbers of an entity. The entity's mutex guards them; how many there are never changes.
type counters struct {
	of         []counter // one, or one for each partition
	roundRobin int       // last partition chosen for a message without a key
	byID       bool      // a message without a key belongs to the partition of its message id
}

func newCounters(o *QueueOptions) counters {
	if !o.EnablePartitioning {
		return counters{of: make([]counter, 1)}
	}
	c := counters{of: make([]counter, partitions), byID: o.RequiresDuplicateDetection}
	for i := range c.of {
		c.of[i].base = int64(i) << partitionShift
	}
	return c
}

// partitionOf returns the partition of one of the queue's numbers, 0 if it has no partitions.
func (c *counters) partitionOf(seq int64) int {
	if !c.partitioned() {
		return 0
	}
	return partitionOf(seq)
}

// counter gives out the sequence numbers of a queue or of one of its partitions (SEQ-2, SEQ-3). last is ahead of
// committed while changes that drew numbers are being written; if they fail it goes back, so that a failed send
// leaves no gap.
type counter struct {
	base      int64 // of the partition
	last      int64
	committed int64
	inFlight  int // changes being written that drew numbers
}

// draw returns the next number. The caller appends the change that stores it in the same critical section.
func (c *counter) draw(partitioned bool) int64 {
	limit := int64(1<<63 - 1)
	if partitioned {
		limit = 1<<partitionShift - 1
	}
	if c.last >= limit {
		c.last = -1 // SEQ-6: numbering restarts at zero
	}
	c.last++
	return c.base | c.last
}

// end ends one change whose last number was seq.
func (c *counter) end(seq int64, err error) {
	c.inFlight--
	if err == nil {
		c.committed = seq &^ c.base
	}
	if c.inFlight == 0 {
		c.last = c.committed
	}
}

// partitioned reports whether the queue has partitions. It never changes.
func (c *counters) partitioned() bool { return len(c.of) > 1 }

// choose chooses the partition of a message (PART-2).
func (c *counters) choose(in *incoming) int {
	if !c.partitioned() {
		return 0
	}
	if key, ok := c.key(&in.info); ok {
		return partitionOfKey(key)
	}
	c.roundRobin++
	return c.roundRobin % partitions
}

// key returns what chooses the partition of a message; ok is false if nothing does.
func (c *counters) key(i *message.Info) (key string, ok bool) {
	switch {
	case i.HasGroupID:
		return i.GroupID, true
	case i.HasPartitionKey:
		return i.PartitionKey, true
	case c.byID && i.HasMessageID && i.MessageID != "":
		return i.MessageID, true
	}
	return i.ViaPartitionKey, i.HasViaPartitionKey // TXN-14
}

// partitionOfKey returns the partition that a key chooses. The case of the key does not matter: the messages of a
// session are all in one partition (SESS-35).
func partitionOfKey(key string) int {
	h := fnv.New32a()
	h.Write([]byte(sessionKey(key)))
	return int(h.Sum32() % partitions)
}

// drawn is the last number that a change has drawn from a counter, and those from further counters.
type drawn struct {
	c    *counter // nil: nothing was drawn
	seq  int64
	next *drawn
}

// draw draws a number for the change that d belongs to.
func (c *counters) draw(d *drawn, partition int) int64 {
	from := &c.of[partition]
	for d.c != nil && d.c != from {
		if d.next == nil {
			d.next = &drawn{}
		}
		d = d.next
	}
	if d.c == nil {
		d.c = from
		from.inFlight++ // until end
	}
	d.seq = from.draw(c.partitioned())
	return d.seq
}

// markDrawn completes an operation whose record has a number that was newly drawn from q.
func (c *counters) markDrawn(o Op) Op {
	o.DrawsNumber = true
	if c.partitioned() {
		o.Partition = uint8(partitionOf(o.Record.Seq))
	}
	return o
}

// each calls f with the last number drawn from each counter.
func (d *drawn) each(f func(seq int64)) {
	for ; d != nil && d.c != nil; d = d.next {
		f(d.seq)
	}
}

// end ends the change.
func (d *drawn) end(err error) {
	for ; d != nil && d.c != nil; d = d.next {
		d.c.end(d.seq, err)
	}
}

// messageIDs makes the ids of messages whose senders gave none (PROP-10).
type messageIDs struct {
	block cipher.Block
	first int64 // id of a row of the namespace, before a snapshot was restored
}

func newMessageIDs(secret [16]byte) (messageIDs, error) {
	block, err := aes.NewCipher(secret[:])
	if err != nil {
		return messageIDs{}, fmt.Errorf("prepare message ids: %w", err)
	}
	return messageIDs{block: block}, nil
}

// of returns the message's id, 32 hexadecimal digits. It follows from the body's id, so that it needs no room and is
// the same for all copies of the message. The number of the rows does not count, so that it is the same after a
// restore.
func (ids messageIDs) of(body int64) string {
	var b [16]byte
	first, _ := RowsOf(NamespaceOf(body))
	body += ids.first - first
	binary.BigEndian.PutUint64(b[:], uint64(body))
	ids.block.Encrypt(b[:], b[:])
	return hex.EncodeToString(b[:])
}

// describe adds to the record what only people and duplicate detection read.
func (ids messageIDs) describe(r *MessageRecord, info *message.Info) {
	r.HasSession, r.SessionID = info.HasGroupID, info.GroupID
	r.MessageID = info.MessageID
	if !info.HasMessageID {
		r.MessageID = ids.of(r.Body)
	}
}
