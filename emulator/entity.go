package emulator

import (
	"strings"
	"sync"
	"sync/atomic"

	"minibus/internal/entitypath"
)

// Entity has the common part of queues, topics and subscriptions: messages in sub-queues under one mutex, in a topic
// only the scheduled ones (SCHED-16). Links hold an Entity, for a path does not tell what it names; an Entity refuses
// what does not fit it. Its methods may be called from any goroutine; none of them waits.
type Entity struct {
	// immutable
	ns           *Namespace
	id           int64
	kind         EntityKind
	path         string        // as nameOf has it
	temporary    bool          // made for a JMS client, and gone with it
	topic        *Topic        // the topic that it is; nil on others
	subscription *Subscription // the subscription that it is; nil on others

	replaced  atomic.Bool  // another entity has its path, or is about to
	receiving atomic.Int64 // receivers and waiting accepts (QUO-12), of a topic those of its subscriptions

	// guarded by mu, as all parts are: each has its own methods, which are called with the mutex
	mu               sync.Mutex
	options          QueueOptions
	deleting         bool // nothing is appended for it any more
	deleted          bool // its deletion is committed and its memory no longer counted
	abandoned        bool // the JMS client has left with which it ends
	may              preconditions
	counters         counters
	messages         messages
	bodies           bodies
	locks            lockTable
	sessions         sessionTable // empty unless the entity requires sessions
	duplicates       duplicates   // of duplicate detection
	schedule         schedule
	alarm            alarm
	forwarder        forwarder
	requeues         requeues
	failedDeliveries failedDeliveries
	usage            usage
	watchers         watchers
	attached         attachments
	traffic          Traffic
	activity         activity
}

// nameOf returns a path as the broker shows it: a queue or a topic in lower case, whatever case the client wrote,
// a subscription in the case of its creation (DEC-9).
func nameOf(path string) string {
	if topic, name, ok := entitypath.SplitSubscription(path); ok {
		return subscriptionPath(strings.ToLower(topic), name)
	}
	return strings.ToLower(path)
}

// nameTargets names the queues and topics to which an entity forwards as they are shown. The administration's texts of
// them stay as they are.
func (o *QueueOptions) nameTargets() {
	o.ForwardTo, o.ForwardDeadLetteredMessagesTo = nameOf(o.ForwardTo), nameOf(o.ForwardDeadLetteredMessagesTo)
}

func newEntity(ns *Namespace, id int64, kind EntityKind, path string, o QueueOptions) *Entity {
	now := ns.Now()
	q := &Entity{ns: ns, id: id, kind: kind, path: nameOf(path), temporary: o.Temporary, options: o,
		counters: newCounters(&o)}
	q.may.q = q
	q.bodies.q = q
	q.duplicates.q = q
	q.forwarder.q = q
	q.requeues.q = q
	q.failedDeliveries.q = q
	q.usage = usage{q: q, created: now, updated: now}
	q.sessions.q = q
	q.messages.init(q)
	q.locks.init(q)
	q.schedule.init(q)
	q.alarm.init(q)
	return q
}

// Queue is an entity that messages are sent to and received from.
type Queue struct{ *Entity }

// Topic returns the topic that the entity is, for operations that nothing else has.
func (q *Entity) Topic() (*Topic, error) {
	if q.topic == nil {
		return nil, errorf(CodeNotAllowed, q.path, "The entity '%s' has no subscriptions: it is not a topic.", q.path)
	}
	return q.topic, nil
}

// Subscription returns the subscription that the entity is, for operations that nothing else has.
func (q *Entity) Subscription() (*Subscription, error) {
	if q.subscription == nil {
		return nil, errorf(CodeNotAllowed, q.path, "The entity '%s' has no rules: it is not a subscription.", q.path)
	}
	return q.subscription, nil
}

// Path returns the entity's name, of a subscription "topic/Subscriptions/name". Queues and topics are in lower case,
// subscriptions as they were created (DEC-9).
func (q *Entity) Path() string { return q.path }

// Kind tells what the entity is.
func (q *Entity) Kind() EntityKind { return q.kind }

// Temporary reports whether the entity was made for a JMS client, with which it ends.
func (q *Entity) Temporary() bool { return q.temporary }

// ID returns the number that tells this queue from others that had or will have its name.
func (q *Entity) ID() int64 { return q.id }

// Options returns the queue's settings.
func (q *Entity) Options() QueueOptions {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.options
}

// MaxMessageSize returns the limit for one message in bytes (QUO-5, DEC-2), of a subscription that of its topic.
func (q *Entity) MaxMessageSize() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.maxMessageLocked()
}

func (q *Entity) maxMessageLocked() int64 {
	if q.subscription != nil {
		return q.subscription.topic.largest.Load()
	}
	return q.options.maxMessageBytes(q.ns.Profile())
}

// LastSequenceNumber returns the last number that was given to a committed message, of partition 0 on a partitioned
// queue.
func (q *Entity) LastSequenceNumber() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.counters.of[0].committed
}

func (q *Entity) subQueue(s SubQueue) *subQueue { return &q.messages.subQueues[s] }
