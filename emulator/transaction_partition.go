package emulator

import "minibus/internal/amqp/message"

// partitionOfSendLocked returns the partition of messages that are sent in the transaction, in the entity that
// carries it: q, or via, through which they go to q. They need a key that chooses it, and one for q if that has
// partitions; which of its own q takes is open then. It fails unless all work of the transaction falls on one
// partition (TXN-14).
func (t *Transaction) partitionOfSendLocked(q, via *Entity, in []incoming) (int, error) {
	first := &in[0].info
	key, ok := q.counters.key(first)
	if q.counters.partitioned() && !ok {
		return 0, keyless(q)
	}
	carrier := q
	if via != nil {
		carrier = via
		if key, ok = first.ViaPartitionKey, first.HasViaPartitionKey; !ok {
			key, ok = via.counters.key(first)
		}
	}
	switch {
	case !carrier.counters.partitioned():
		return 0, nil
	case !ok:
		return 0, keyless(carrier)
	case via != nil && !sameViaKey(in):
		return 0, errorf(CodeNotAllowed, q.path,
			"The messages of a batch that goes through the partitioned entity '%s' must have the same "+
				"ViaPartitionKey (TransactionPartitionKey).", via.path)
	}
	return t.partitionOfKeyLocked(carrier, key)
}

func sameViaKey(in []incoming) bool {
	same := func(a, b *message.Info) bool {
		return a.HasViaPartitionKey == b.HasViaPartitionKey && a.ViaPartitionKey == b.ViaPartitionKey
	}
	for i := range in {
		if !same(&in[i].info, &in[0].info) {
			return false
		}
	}
	return true
}

func keyless(q *Entity) error {
	return errorf(CodeNotAllowed, q.path,
		"A message that is sent in a transaction needs a SessionId, a PartitionKey or a ViaPartitionKey "+
			"(TransactionPartitionKey), since the entity '%s' is partitioned.", q.path)
}

// partitionOfKeyLocked returns the partition of q that a key chooses, and fails as partitionOfSendLocked does.
func (t *Transaction) partitionOfKeyLocked(q *Entity, key string) (int, error) {
	p := partitionOfKey(key)
	if pinned, ok := t.partitionLocked(); ok && p != pinned {
		return 0, otherPartition(q)
	}
	return p, nil
}

// partitionOfSessionLocked returns the partition of a session whose state the transaction sets, and fails as
// partitionOfSendLocked does.
func (t *Transaction) partitionOfSessionLocked(q *Entity, s *session) (int, error) {
	if !q.counters.partitioned() {
		return 0, nil
	}
	return t.partitionOfKeyLocked(q, s.id)
}

// partitionOfEntriesLocked returns the partition of messages that are settled or cancelled in the transaction, and
// fails as partitionOfSendLocked does.
func (t *Transaction) partitionOfEntriesLocked(q *Entity, entries []*entry) (int, error) {
	if !q.counters.partitioned() {
		return 0, nil
	}
	p, pinned := t.partitionLocked()
	for _, e := range entries {
		if pinned && partitionOf(e.seq) != p {
			return 0, otherPartition(q)
		}
		p, pinned = partitionOf(e.seq), true
	}
	return p, nil
}

// partitionLocked returns the partition that the transaction works on, in the entity that carries it. A topic and its
// subscriptions, which have the partitions of its messages, count as one entity (TXN-8).
func (t *Transaction) partitionLocked() (p int, ok bool) {
	for i := range t.work {
		if w := &t.work[i]; !w.q.temporary && (len(w.sends)+len(w.entries) > 0 || w.holder != nil) {
			return w.partition, true
		}
	}
	return 0, false
}

func otherPartition(q *Entity) error {
	return errorf(CodeNotAllowed, q.path,
		"All operations of a transaction on the partitioned entity '%s' must be on the same partition.", q.path)
}
