package emulator

// partitionOfSendLocked returns the partition of messages that are sent in the transaction, which need a key for that. It
// fails unless all work on a partitioned entity falls on one partition (TXN-14).
func (t *Transaction) partitionOfSendLocked(q *Entity, in []incoming) (int, error) {
	if !q.counters.partitioned() {
		return 0, nil
	}
	i := &in[0].info
	if !i.HasGroupID && !i.HasPartitionKey && !(q.options.RequiresDuplicateDetection && i.HasMessageID && i.MessageID != "") {
		return 0, errorf(CodeNotAllowed, q.path, "A message that is sent to the partitioned entity '%s' in a transaction needs a PartitionKey.", q.path)
	}
	p := q.counters.choose(&in[0])
	if pinned, ok := t.partitionLocked(q); ok && p != pinned {
		return 0, otherPartition(q)
	}
	return p, nil
}

// partitionOfEntriesLocked returns the partition of messages that are settled or cancelled in the transaction, and fails as
// partitionOfSendLocked does.
func (t *Transaction) partitionOfEntriesLocked(q *Entity, entries []*entry) (int, error) {
	if !q.counters.partitioned() {
		return 0, nil
	}
	p, pinned := t.partitionLocked(q)
	for _, e := range entries {
		if pinned && partitionOf(e.seq) != p {
			return 0, otherPartition(q)
		}
		p, pinned = partitionOf(e.seq), true
	}
	return p, nil
}

// partitionLocked returns the partition of q that the transaction works on. A topic and its subscriptions, which have the
// partitions of its messages, count as one entity (TXN-8).
func (t *Transaction) partitionLocked(q *Entity) (int, bool) {
	for i := range t.work {
		if w := &t.work[i]; len(w.sends)+len(w.entries) > 0 && w.q.rootPath() == q.rootPath() {
			return w.partition, true
		}
	}
	return 0, false
}

func otherPartition(q *Entity) error {
	return errorf(CodeNotAllowed, q.path, "All operations of a transaction on the partitioned entity '%s' must be on the same partition.", q.path)
}
