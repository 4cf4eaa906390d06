package mgmt

import (
	"minibus/emulator"
	"minibus/mgmt/atom"
)

// domain translates between the broker and the administration's documents. Operations return once their change is durable and the
// links of a changed entity have been notified (LOCK-17). Their errors are of type *emulator.Error.
type domain struct{ *emulator.Namespace }

// Kind returns the kind of the queue or topic at that path, 0 if there is none.
func (d domain) Kind(path string) emulator.EntityKind {
	kind, _ := d.Namespace.Kind(path)
	if kind == emulator.KindSubscription {
		return 0
	}
	return kind
}

// Entities returns the number of queues and topics.
func (d domain) Entities() int {
	_, queues := d.Page(emulator.KindQueue, 0, 0)
	_, topics := d.Page(emulator.KindTopic, 0, 0)
	return queues + topics
}

// find returns the entity at a path, or not found if it has another kind.
func (d domain) find(path string, kind emulator.EntityKind) (*emulator.Entity, error) {
	q, err := d.Namespace.Entity(path)
	if err == nil && q.Kind() != kind {
		err = emulator.NotFound(path)
	}
	return q, err
}

// Queue returns a queue.
func (d domain) Queue(path string) (atom.Queue, error) {
	q, err := d.find(path, emulator.KindQueue)
	if err != nil {
		return atom.Queue{}, err
	}
	return shownQueue(q), nil
}

func shownQueue(q *emulator.Entity) atom.Queue {
	return atom.Queue{Path: q.Path(), Options: q.Options(), Counts: q.Counts(), Times: q.Times()}
}

// Queues returns a page of all queues.
func (d domain) Queues(skip, top int) []atom.Queue {
	var list []atom.Queue
	page, _ := d.Page(emulator.KindQueue, skip, top)
	for _, q := range page {
		list = append(list, shownQueue(q))
	}
	return list
}

// CreateQueue creates a queue.
func (d domain) CreateQueue(path string, o emulator.QueueOptions) (atom.Queue, error) {
	q, err := d.Namespace.CreateQueue(path, o)
	if err != nil {
		return atom.Queue{}, err
	}
	return shownQueue(q.Entity), nil
}

// UpdateQueue updates a queue.
func (d domain) UpdateQueue(path string, o emulator.QueueOptions) (atom.Queue, error) {
	q, err := d.Namespace.UpdateQueue(path, o)
	if err != nil {
		return atom.Queue{}, err
	}
	return shownQueue(q.Entity), nil
}
