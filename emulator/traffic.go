package emulator

// Traffic is how many messages of an entity something has happened to since the namespace was opened. Each is counted once
// its change is committed, but for Delivered, which is counted when a consumer takes the message.
type Traffic struct {
	Stored       int64 // sent, scheduled or forwarded to the entity, or copied to the subscription; of a topic even without subscribers
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
