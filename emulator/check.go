package emulator

import (
	"strings"
	"time"

	"minibus/internal/entitypath"
)

// minAutoDelete is the shortest span after which an idle entity may be deleted (IDLE-1).
const minAutoDelete = 5 * time.Minute

// checkLocked refuses settings of an entity that the broker can't work with, whatever their source, and names the targets
// as the broker does. The caller holds ns.admin. The readers of settings check the ranges that are only customary (DEC-5).
func (es Entities) checkLocked(path string, o *QueueOptions) error {
	o.nameTargets()
	if err := o.Status.check(path); err != nil {
		return err
	}
	if d := o.AutoDeleteOnIdle; d != 0 && d < minAutoDelete { // IDLE-1
		return errorf(CodeArgument, path, "The AutoDeleteOnIdle of the entity '%s' is %v: the value supplied must be at least %v.",
			path, d, minAutoDelete)
	}
	if o.RequiresSession && o.ForwardTo != "" { // FWD-5
		return errorf(CodeArgument, path, "Bad Request. The entity '%s' requires sessions and can't have ForwardTo: "+
			"let the target require sessions instead.", path)
	}
	for _, target := range []string{o.ForwardTo, o.ForwardDeadLetteredMessagesTo} {
		if target != "" && !es.mayForwardTo(target, path) {
			return errorf(CodeArgument, path, "The auto forwarding destination entity '%s' does not exist.", target)
		}
	}
	return nil
}

// mayForwardTo reports whether an entity with that path can forward to the target: an entity that exists, or will as soon
// as the configuration is there, and is no subscription, or the entity itself (FWD-1, FWD-2, DEC-29).
func (es Entities) mayForwardTo(target, path string) bool {
	if es.ns.planned[strings.ToLower(target)] {
		return true
	}
	q := es.ns.catalog.lookUp(target)
	if _, _, isSubscription := entitypath.SplitSubscription(path); q == nil && !isSubscription {
		return strings.EqualFold(target, path)
	}
	return q != nil && q.subscription == nil
}

// roomForEntity fails when the namespace has as many partitioned queues and topics as it may (PART-9).
func (es Entities) roomForEntity(path string, partitioned bool) error {
	most := profiles[es.ns.Limits()].Partitioned
	if !partitioned || most == 0 {
		return nil
	}
	n := 0
	for _, kind := range []EntityKind{KindQueue, KindTopic} {
		for _, q := range es.ns.catalog.entities(kind) {
			if q.counters.partitioned() {
				n++
			}
		}
	}
	if n < most {
		return nil
	}
	return errorf(CodeQuotaExceeded, path, "The maximum number of resources of type `partitioned entity` has been reached or exceeded. "+
		"Actual: %d, Max allowed: %d.", n, most)
}

// checkName fails if a name is longer than one may be (QUO-9), or can't be told from others in the path.
func checkName(path, name string, most int) error {
	if name != path && strings.Contains(name, "/") { // a subscription's, which is one segment of its path
		return errorf(CodeArgument, path, "The name '%s' has a slash: a subscription's can have none.", name)
	}
	if n := len([]rune(name)); n == 0 || n > most {
		return errorf(CodeArgument, path, "The name of the entity has %d characters: it must have between 1 and %d.", n, most)
	}
	return nil
}
