package emulator

import (
	"cmp"
	"slices"
)

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
// behind them in the journal, and fails with them. An error means that nothing was changed and that c will not be called.
// The caller holds the topic's mutex.
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
	s.ns.append(&change.change)
	return nil
}

// beginLocked puts decisions in force that are about to be appended. The caller holds the mutexes of the topic and of the subscription.
func (s *Subscription) beginLocked(next decisions) {
	if s.pending == 0 {
		s.written = s.decisions
		s.written.updated = s.usage.updated
	}
	s.pending++
	s.enforceLocked(next)
	s.usage.touch(s.ns.Now()) // IDLE-2
}

// Completed notes what the journal has now. Each change holds all decisions, so the newest change is in force, or, when none
// is being written, the last one that did not fail.
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

// enforceLocked lets other decisions count: of the topic's index only those rules are touched that differ. The caller holds the mutexes of the topic and of
// the subscription.
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
	i, found := slices.BinarySearchFunc(list, r.order, func(x *rule, order int64) int { return cmp.Compare(x.order, order) })
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
