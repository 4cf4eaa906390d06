package emulator

import (
	"fmt"
	"slices"
	"strings"

	"minibus/internal/entitypath"
)

// Subscription is an entity that gets copies of a topic's messages. What decides which it gets belongs to the topic and is guarded by
// the topic's mutex.
type Subscription struct {
	// immutable
	*Entity
	topic *Topic
	name  string // as created

	// guarded by the topic's mutex
	decisions           // in force: as appended to the journal last
	written   decisions // what the journal has, while changes are being written
	pending   int       // changes that are being written
	seen      matched   // of the message that is being matched
	reach     reach
	part      *part // of the publication that is being made; nil: it has none yet
}

// reach counts what the rules of a subscription have selected since they were last changed, or the namespace was opened.
type reach struct {
	since    int64 // ms
	from     int64 // offered of the topic then
	selected int64 // messages
	last     int64 // ms; when the last one was
}

// newSubscription makes a subscription. Its messages have the partitions of the topic's.
func newSubscription(topic *Topic, id int64, path string, o SubscriptionOptions) *Subscription {
	o.Queue.EnablePartitioning = topic.counters.partitioned()
	_, name, _ := entitypath.SplitSubscription(path)
	o.Name, o.Rules = name, nil
	s := &Subscription{
		Entity: newEntity(topic.ns, id, KindSubscription, path, o.Queue), topic: topic, name: name, decisions: decisions{settings: o},
	}
	s.subscription = s
	return s
}

// subscriptionPath is the path of a subscription, as it is shown.
func subscriptionPath(topic, name string) string { return entitypath.Subscription(topic, name) }

// fullName is how texts of the service name a subscription (ERR-4).
func (s *Subscription) fullName() string { return subscriptionName(s.topic, s.name) }

func subscriptionName(topic *Topic, name string) string {
	return fmt.Sprintf("%s:Topic:%s|%s", topic.ns.name, topic.path, name)
}

// ruleName is how texts of the service name a rule (TOP-8).
func (s *Subscription) ruleName(name string) string { return s.fullName() + "|" + name }

// Options returns the settings of a subscription with its rules.
func (s *Subscription) Options() SubscriptionOptions {
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	return s.decisions.stored()
}

// findRule returns the index of a rule by its name, compared without case; -1 if there is none.
func (s *Subscription) findRule(name string) int {
	return slices.IndexFunc(s.rules, func(r *rule) bool { return strings.EqualFold(r.options.Name, name) })
}

// usableLocked fails when the subscription was deleted. The caller holds the topic's mutex.
func (s *Subscription) usableLocked() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.may.use()
}
