package emulator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"minibus/internal/entitypath"
)

// Subscription is an entity that gets copies of a topic's messages. What decides which it gets belongs to the topic
// and is guarded by the topic's mutex.
type Subscription struct {
	// immutable
	*Entity
	topic  *Topic
	name   string        // as created
	client *ClientAffine // nil: it does not belong to JMS clients

	consumers atomic.Int64 // of JMS clients that are active; changed with ns.admin alone

	// guarded by the topic's mutex
	decisions           // in force: as appended to the journal last
	written   decisions // what the journal has, while changes are being written
	pending   int       // changes that are being written
	seen      matched   // of the message that is being matched
	reach     reach
	copying   *entitySteps // steps of the publication that is being made; nil: none yet
}

// reach counts what the rules of a subscription have selected since they were last changed, or the namespace was
// opened.
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
	if o.Client == nil {
		_, o.Client = ClientAffineOf(name)
	}
	s := &Subscription{
		Entity: newEntity(topic.ns, id, KindSubscription, path, o.Queue), topic: topic, name: name, client: o.Client,
		decisions: decisions{settings: o},
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

// Client returns to which JMS clients the subscription belongs; nil: it belongs to none.
func (s *Subscription) Client() *ClientAffine { return s.client }

// JMSConsumers returns how many JMS consumers the subscription has.
func (s *Subscription) JMSConsumers() int64 { return s.consumers.Load() }

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

// decisions holds what the topic's mutex guards of a subscription: which messages it gets and what is stored of it.
type decisions struct {
	settings SubscriptionOptions // without rules
	rules    []*rule             // by creation; never changed in place
	updated  int64               // ms (CNT-8); the entity has it while this is in force
}

// subscriptionChange is a change of a subscription's decisions that is being written.
type subscriptionChange struct {
	change Change
	s      *Subscription
	next   decisions
	done   Completion
}

// nowLocked returns the decisions in force. The caller holds the topic's mutex.
func (s *Subscription) nowLocked() decisions {
	d := s.decisions
	d.updated = s.Times().Updated
	return d
}

// changeLocked puts decisions in force and has them written. They take effect at once: a message that goes by them is
// behind them in the journal, and fails with them. An error means that nothing was changed and that c will not be
// called. The caller holds the topic's mutex.
func (s *Subscription) changeLocked(next decisions, c Completion) error {
	op, err := s.record(next)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.beginLocked(next)
	s.mu.Unlock()
	change := &subscriptionChange{s: s, next: next, done: c}
	change.change.Done = change
	change.change.Ops = append(change.change.Single[:0], op)
	s.ns.journal.Append(&change.change)
	return nil
}

// beginLocked puts decisions in force that are about to be appended. The caller holds the mutexes of the topic and of
// the subscription.
func (s *Subscription) beginLocked(next decisions) {
	if s.pending == 0 {
		s.written = s.decisions
		s.written.updated = s.usage.updated
	}
	s.pending++
	s.enforceLocked(next)
	s.usage.touch(s.ns.Now()) // IDLE-2
}

// Completed notes what the journal has now. Each change holds all decisions, so the newest change is in force, or,
// when none is being written, the last one that did not fail.
func (c *subscriptionChange) Completed(err error) {
	s := c.s
	s.topic.mu.Lock()
	s.pending--
	if err == nil {
		s.written = c.next
	} else if s.pending == 0 {
		s.mu.Lock()
		s.enforceLocked(s.written)
		s.mu.Unlock()
	}
	if s.pending == 0 {
		s.written = decisions{}
	}
	s.topic.mu.Unlock()
	c.done.Completed(err)
}

// enforceLocked lets other decisions count: of the topic's index only those rules are touched that differ. The caller
// holds the mutexes of the topic and of the subscription.
func (s *Subscription) enforceLocked(next decisions) {
	for _, r := range s.rules {
		if !hasRule(next.rules, r) {
			s.topic.unfile(r)
		}
	}
	for _, r := range next.rules {
		if !hasRule(s.rules, r) {
			s.topic.file(r)
		}
	}
	s.decisions = next
	s.usage.updated = next.updated
}

func hasRule(list []*rule, r *rule) bool {
	i, found := slices.BinarySearchFunc(list, r.order,
		func(x *rule, order int64) int { return cmp.Compare(x.order, order) })
	return found && list[i] == r
}

// record makes the operation that stores decisions.
func (s *Subscription) record(d decisions) (Op, error) {
	b, err := s.usage.encode(d.stored(), d.updated)
	return Op{Kind: OpPutEntity, Entity: EntityRecord{
		ID: s.id, Kind: KindSubscription, Path: s.path, Options: b,
	}}, err
}

// stored returns what the journal keeps of decisions.
func (d *decisions) stored() SubscriptionOptions {
	o := d.settings
	o.Rules = nil
	for _, r := range d.rules {
		o.Rules = append(o.Rules, r.options)
	}
	return o
}
