package mgmt

import (
	"net/http"
	"strings"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// atomNamespace translates between a namespace and the administration's documents. Operations return once their change
// is durable and the links of a changed entity have been notified (LOCK-17). Their errors are of type *emulator.Error.
type atomNamespace struct{ *emulator.Namespace }

// Kind returns the kind of the queue or topic at that path, 0 if there is none.
func (n atomNamespace) Kind(path string) emulator.EntityKind {
	kind, _ := n.Namespace.Kind(path)
	if kind == emulator.KindSubscription {
		return 0
	}
	return kind
}

func (n atomNamespace) Entities() int {
	_, queues := n.Namespace.Entities().Page(emulator.KindQueue, 0, 0)
	_, topics := n.Namespace.Entities().Page(emulator.KindTopic, 0, 0)
	return queues + topics
}

// find returns the entity at a path, or not found if it has another kind.
func (n atomNamespace) find(path string, kind emulator.EntityKind) (*emulator.Entity, error) {
	e, err := n.Namespace.Entity(path)
	if err == nil && e.Kind() != kind {
		err = emulator.NotFound(path)
	}
	return e, err
}

// shown returns a function that shows what an operation returned, unless it failed.
func shown[E, A any](show func(E) A) func(E, error) (A, error) {
	return func(e E, err error) (a A, _ error) {
		if err == nil {
			a = show(e)
		}
		return a, err
	}
}

// shownAll shows a page of entities.
func shownAll[E, A any](page []E, show func(E) A) []A {
	var list []A
	for _, e := range page {
		list = append(list, show(e))
	}
	return list
}

func (n atomNamespace) Queue(path string) (atom.Queue, error) {
	return shown(shownQueue)(n.find(path, emulator.KindQueue))
}

func shownQueue(q *emulator.Entity) atom.Queue {
	return atom.Queue{Path: q.Path(), Options: q.Options(), Counts: q.Counts(), Times: q.Times()}
}

func changedQueue(q *emulator.Queue) atom.Queue { return shownQueue(q.Entity) }

// Queues returns a page of all queues.
func (n atomNamespace) Queues(skip, top int) []atom.Queue {
	page, _ := n.Namespace.Entities().Page(emulator.KindQueue, skip, top)
	return shownAll(page, shownQueue)
}

func (n atomNamespace) CreateQueue(path string, o emulator.QueueOptions) (atom.Queue, error) {
	return shown(changedQueue)(n.Namespace.Entities().CreateQueue(path, o))
}

func (n atomNamespace) UpdateQueue(path string, o emulator.QueueOptions) (atom.Queue, error) {
	return shown(changedQueue)(n.Namespace.Entities().UpdateQueue(path, o))
}

// updated returns when the queue or topic at a path was updated, in ms, for ETags; 0 if there is none.
func (n atomNamespace) updated(path string) int64 {
	entity, err := n.Namespace.Entity(path)
	if err != nil || entity.Kind() == emulator.KindSubscription {
		return 0
	}
	return entity.Times().Updated
}

// vacant fails if a queue or topic has the path, or if the profile takes no more entities. kind is the word for what
// is to be made.
func (n atomNamespace) vacant(path, kind string) error {
	if n.Kind(path) != 0 {
		return errConflict
	}
	if most := n.Profile().Limits().Entities; most > 0 && n.Entities() >= most {
		return problemf(http.StatusForbidden, "SubCode=40300. The maximum number of resources of type `%s` has been "+
			"reached or exceeded. Actual: %d, Max allowed: %d. ", kind, n.Entities(), most)
	}
	return nil
}

// checkTargets fails unless every path is a queue or a topic, or the entity itself (DEC-29).
func (n atomNamespace) checkTargets(paths []string, own string) error {
	for _, p := range paths {
		if !strings.EqualFold(p, own) && n.Kind(p) == 0 {
			return errNoTarget
		}
	}
	return nil
}
