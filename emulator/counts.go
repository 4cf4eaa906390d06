package emulator

// Counts is how many messages an entity holds (CNT-1). A topic holds only scheduled ones (CNT-2).
type Counts struct {
	Active     int64 // with locked and deferred ones (CNT-3, CNT-4)
	DeadLetter int64
	Scheduled  int64
	// of a queue that forwards, those that are to go and not locked, deferred or scheduled (CNT-6)
	Transfer           int64
	TransferDeadLetter int64
	Deferred           int64 // of the active ones, those that are deferred
	SizeBytes          int64 // of all of them, of a topic with those of its subscriptions (CNT-7)
	Subscriptions      int64 // of a topic (CNT-2)
}

// Counts returns the numbers at this moment. They are kept up to date, not counted.
func (q *Entity) Counts() Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.countsLocked()
}

func (q *Entity) countsLocked() Counts {
	b := q.subQueue(Main)
	dead, transferDead := q.subQueue(DeadLetter), q.subQueue(TransferDeadLetter)
	c := Counts{
		Active:             int64(b.n - b.pending - b.scheduled),
		Scheduled:          int64(b.scheduled),
		Deferred:           int64(b.deferred),
		DeadLetter:         int64(dead.n - dead.pending),
		TransferDeadLetter: int64(transferDead.n - transferDead.pending),
	}
	c.Transfer = int64(b.moving)
	if q.options.ForwardTo != "" {
		c.Transfer += int64(b.available)
	}
	c.Active -= c.Transfer
	c.SizeBytes = q.messages.size()
	if q.topic != nil {
		c.Subscriptions = int64(len(q.topic.subs))
	}
	return c
}

// size returns the bytes that count against the quota (QUO-3, DLQ-12, SESS-23), of a topic with what its
// subscriptions hold.
func (m *messages) size() int64 {
	size := m.q.sessions.bytes
	if m.q.topic != nil {
		size += m.q.topic.bytes.Load()
	}
	for i := range m.subQueues {
		size += m.subQueues[i].bytes
	}
	return size
}

// Traffic is how many messages of an entity something has happened to since the namespace was opened. Each is counted
// once its change is committed, but for Delivered, which is counted when a consumer takes the message.
type Traffic struct {
	// sent, scheduled or forwarded to the entity, or copied to the subscription; of a topic even without subscribers
	Stored       int64
	Delivered    int64 // given to a consumer, again and again if need be
	Completed    int64 // removed by a consumer, received and deleted ones included
	Abandoned    int64 // and available again
	Deferred     int64
	DeadLettered int64 // by a consumer or by the broker; expired ones are not among them
	Expired      int64 // removed or dead-lettered
}

// Add adds the counts of another entity.
func (t *Traffic) Add(o Traffic) {
	t.Stored += o.Stored
	t.Delivered += o.Delivered
	t.Completed += o.Completed
	t.Abandoned += o.Abandoned
	t.Deferred += o.Deferred
	t.DeadLettered += o.DeadLettered
	t.Expired += o.Expired
}

// Traffic returns the counts so far. Those of an entity that was deleted are gone with it.
func (q *Entity) Traffic() Traffic {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.traffic
}

// count counts one committed step.
func (t *Traffic) count(e EventKind) {
	switch e {
	case EventSent, EventScheduled, EventCopied, EventForwardedHere:
		t.Stored++
	case EventCompleted, EventDeliveredDeleted:
		t.Completed++
	case EventAbandoned, EventLockExpired:
		t.Abandoned++
	case EventDeferred:
		t.Deferred++
	case EventDeadLettered:
		t.DeadLettered++
	case EventExpired:
		t.Expired++
	}
}
