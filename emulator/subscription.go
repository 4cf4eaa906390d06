package emulator

import (
	"fmt"
	"slices"
	"strings"

	"minibus/internal/entitypath"
)

// subscription is what a subscription has besides what every entity has. Its entity keeps the copies; what decides which
// it gets belongs to the topic and is guarded by the topic's mutex.
type subscription struct {
	// immutable
	q     *Queue
	topic *Queue
	name  string // as created

	// guarded by the topic's mutex
	decisions           // in force: as appended to the journal last
	written   decisions // what the journal has, while changes are being written
	pending   int       // changes that are being written
	seen      matched   // of the message that is being matched
	part      *part     // of the publication that is being made; nil: it has none yet
}

// newSubscription makes the entity of a subscription. Its messages have the partitions of the topic's.
func newSubscription(topic *Queue, id int64, path string, o SubscriptionOptions) *Queue {
	o.Queue.EnablePartitioning = topic.counters.partitioned()
	q := newQueue(topic.ns, id, KindSubscription, path, o.Queue)
	_, name, _ := entitypath.SplitSubscription(path)
	o.Name, o.Rules = name, nil
	q.subscription = &subscription{q: q, topic: topic, name: name, decisions: decisions{settings: o}}
	return q
}

// subscriptionPath is the path of a subscription, as it is shown.
func subscriptionPath(topic, name string) string { return entitypath.Subscription(topic, name) }

// fullName is how texts of the service name a subscription (ERR-4).
func (s *subscription) fullName() string { return subscriptionName(s.topic, s.name) }

func subscriptionName(topic *Queue, name string) string {
	return fmt.Sprintf("%s:Topic:%s|%s", topic.ns.name, topic.path, name)
}

// ruleName is how texts of the service name a rule (TOP-8).
func (s *subscription) ruleName(name string) string { return s.fullName() + "|" + name }

// SubscriptionOptions returns the settings of a subscription with its rules; zero on another entity.
func (q *Queue) SubscriptionOptions() SubscriptionOptions {
	s := q.subscription
	if s == nil {
		return SubscriptionOptions{}
	}
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	return s.decisions.stored()
}

// findRule returns the index of a rule by its name, compared without case; -1 if there is none.
func (s *subscription) findRule(name string) int {
	return slices.IndexFunc(s.rules, func(r *rule) bool { return strings.EqualFold(r.options.Name, name) })
}

// asSubscription returns the subscription behind an entity, for operations on rules, which nothing else has.
func (q *Queue) asSubscription() (*subscription, error) {
	if q.subscription == nil {
		return nil, errorf(CodeNotAllowed, q.path, "The entity '%s' has no rules: it is not a subscription.", q.path)
	}
	return q.subscription, nil
}

// usableLocked fails when the subscription was deleted. The caller holds the topic's mutex.
func (s *subscription) usableLocked() error {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	return s.q.may.use()
}
