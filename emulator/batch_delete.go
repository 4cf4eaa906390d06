package emulator

// MaxBatchDelete is how many messages one call deletes at most (BDEL-2).
const MaxBatchDelete = 4000

// DeleteBatch deletes up to max available messages of a sub-queue that were enqueued at or before the given instant,
// in milliseconds, the oldest first (BDEL-1, BDEL-5); locked, deferred and scheduled ones stay (BDEL-3, DEC-33). On an
// entity with sessions it works on the session of holder (BDEL-4). client asks for it. done is called once with how many are gone. A synchronous error
// means that it will not be called: CodeArgument for a max out of range.
func (q *Entity) DeleteBatch(sub SubQueue, max int, before int64, holder *Consumer, client *Client, done func(int, error)) error {
	if max <= 0 || max > MaxBatchDelete {
		return errorf(CodeArgument, q.path, "The number of messages to delete must be between 1 and %d; it is %d.", MaxBatchDelete, max)
	}
	q.mu.Lock()
	if err := q.may.takeFrom(sub, holder, "Messages", "deleted"); err != nil {
		q.mu.Unlock()
		return err
	}
	q.usage.touch(q.ns.Now())
	var s *session
	if holder != nil && sub == Main {
		s = holder.session
	}
	found := q.subQueue(sub).takeOld(max, before, s)
	n := len(found)
	newRemoval(q, found, EventPurged, fallback{undo: undoFree}, By(client, CompletionFunc(func(err error) {
		if err != nil {
			n = 0
		}
		done(n, err)
	}))).appendLocked()
	q.mu.Unlock()
	return nil
}

// takeOld takes the oldest available messages, with a session only its own.
func (b *subQueue) takeOld(max int, before int64, s *session) []*entry {
	var found []*entry
	if b.partitions != nil && s == nil { // numbers of different partitions do not tell what is older
		for len(found) < max {
			e := b.nextReady()
			if e == nil || e.enqueued > before {
				break
			}
			b.take(e, markBusy)
			found = append(found, e)
		}
		return found
	}
	v := messageView(&b.log)
	if s != nil {
		v = sessionView{s, &b.log}
	}
	var seqs []int64
	v.look(-1<<63, func(e *entry) bool {
		if e.ready() && e.enqueued <= before {
			seqs = append(seqs, e.seq)
		}
		return len(seqs) < max
	})
	for _, seq := range seqs {
		e := b.find(seq)
		b.take(e, markBusy)
		found = append(found, e)
	}
	return found
}
