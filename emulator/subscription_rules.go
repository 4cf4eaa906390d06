package emulator

import (
	"cmp"
	"slices"
)

// ruleChange is a rule that is being added or removed.
type ruleChange struct {
	change Change
	s      *subscription
	undo   func() // called under the topic's mutex if the commit fails
	done   Completion
}

// AddRule adds a rule to a subscription, for messages that are sent from now on (TOP-8). An error means that nothing was
// changed and that c will not be called: CodeAlreadyExists if a rule has the name, CodeArgument for a filter or an
// action that does not parse, CodeQuotaExceeded above the profile's limits (QUO-10), CodeNotAllowed on an entity that is
// not a subscription.
//
// The rule takes effect with the call and is undone if it can't be written: what was sent in between and would have used
// it is queued behind it in the journal and fails with it.
func (q *Queue) AddRule(o RuleOptions, c Completion) error {
	s, err := q.asSubscription()
	if err != nil {
		return err
	}
	o.CreatedAt = q.ns.Now()
	r, err := s.compile(o)
	if err != nil {
		return err
	}
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	if s.findRule(o.Name) >= 0 {
		return s.ruleExists(o.Name)
	}
	if err := s.topic.fan.roomForRule(s, r); err != nil {
		return err
	}
	s.insertLocked(r)
	return s.storeLocked(func() { s.removeLocked(r) }, c)
}

// RemoveRule removes the rule with that name. An error means that nothing was changed and that c will not be called:
// CodeNotFound if there is none (TOP-8).
func (q *Queue) RemoveRule(name string, c Completion) error {
	s, err := q.asSubscription()
	if err != nil {
		return err
	}
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	i := s.findRule(name)
	if i < 0 {
		return NotFound(s.ruleName(name))
	}
	r := s.rules[i]
	s.removeLocked(r)
	return s.storeLocked(func() { s.putBackLocked(r) }, c)
}

// UpdateRule gives the rule of that name another filter and action; it keeps its place and its time of creation. Errors are
// those of AddRule, with CodeNotFound if there is none.
func (q *Queue) UpdateRule(o RuleOptions, c Completion) error {
	s, err := q.asSubscription()
	if err != nil {
		return err
	}
	r, err := s.compile(o)
	if err != nil {
		return err
	}
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	i := s.findRule(o.Name)
	if i < 0 {
		return NotFound(s.ruleName(o.Name))
	}
	old := s.rules[i]
	r.order, r.options.Name, r.options.CreatedAt = old.order, old.options.Name, old.options.CreatedAt
	s.swapLocked(old, r)
	return s.storeLocked(func() { s.swapLocked(r, old) }, c)
}

// swapLocked puts one rule in the place of another.
func (s *subscription) swapLocked(old, r *rule) {
	s.removeLocked(old)
	s.putBackLocked(r)
}

// Rules lists a subscription's rules in the ordinal order of their names (TOP-16), from the skip-th on and top at most.
func (q *Queue) Rules(skip, top int) ([]RuleOptions, error) {
	s, err := q.asSubscription()
	if err != nil {
		return nil, err
	}
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return nil, err
	}
	list := s.storedLocked().Rules
	slices.SortFunc(list, func(a, b RuleOptions) int { return cmp.Compare(a.Name, b.Name) })
	list = list[min(max(skip, 0), len(list)):]
	return list[:min(max(top, 0), len(list))], nil
}

// insertLocked adds a new rule behind the others.
func (s *subscription) insertLocked(r *rule) {
	f := s.topic.fan
	f.rules++
	r.order = f.rules
	s.rules = append(s.rules, r)
	f.file(r)
}

func (s *subscription) removeLocked(r *rule) {
	s.rules = slices.DeleteFunc(slices.Clone(s.rules), func(x *rule) bool { return x == r })
	s.topic.fan.unfile(r)
}

// putBackLocked undoes removeLocked.
func (s *subscription) putBackLocked(r *rule) {
	i, _ := slices.BinarySearchFunc(s.rules, r.order, func(x *rule, order int64) int { return cmp.Compare(x.order, order) })
	s.rules = slices.Insert(s.rules, i, r)
	s.topic.fan.file(r)
}

// storeLocked writes the rules as they are now.
func (s *subscription) storeLocked(undo func(), c Completion) error {
	op, err := s.recordLocked()
	if err != nil {
		undo()
		return err
	}
	s.q.mu.Lock()
	s.q.touchLocked(s.q.ns.Now()) // IDLE-2
	s.q.mu.Unlock()
	change := &ruleChange{s: s, undo: undo, done: c}
	change.change.Done = change
	change.change.Ops = append(change.change.Single[:0], op)
	s.q.ns.append(&change.change)
	return nil
}

// Completed undoes a change that could not be written.
func (c *ruleChange) Completed(err error) {
	if err != nil {
		c.s.topic.mu.Lock()
		c.undo()
		c.s.topic.mu.Unlock()
	}
	c.done.Completed(err)
}

// ruleExists is the service's answer to a second rule of a name (TOP-8).
func (s *subscription) ruleExists(name string) error { return alreadyExists(s.ruleName(name)) }

func alreadyExists(name string) *Error {
	return errorf(CodeAlreadyExists, name, "The messaging entity '%s' already exists.", name)
}

// Limits of a topic's rules in the strict profiles (QUO-10), and of Microsoft's emulator.
const (
	maxSubscriptions    = 2000
	maxSQLFilters       = 2000
	maxCorrelations     = 100_000
	emulatorSubs        = 50
	emulatorRules       = 1000 // of one subscription
	emulatorSQLFilters  = 70
	emulatorCorrelation = 1000
)

// roomForRule fails if another rule is above the profile's limits (QUO-10).
func (f *fan) roomForRule(s *subscription, r *rule) error {
	limits := s.q.ns.limits
	sql, correlations := maxSQLFilters, maxCorrelations
	switch {
	case limits == LimitsRelaxed:
		return nil
	case limits == LimitsEmulator && len(s.rules) >= emulatorRules:
		return errorf(CodeQuotaExceeded, s.fullName(), "The subscription '%s' has %d rules, which is the maximum.", s.fullName(), emulatorRules)
	case limits == LimitsEmulator:
		sql, correlations = emulatorSQLFilters, emulatorCorrelation
	}
	if isSQL := r.options.Correlation == nil; isSQL && f.sql >= sql {
		return errorf(CodeQuotaExceeded, s.topic.path, "The topic '%s' has %d SQL filters, which is the maximum.", s.topic.path, sql)
	} else if !isSQL && f.index.Len()-f.sql >= correlations {
		return errorf(CodeQuotaExceeded, s.topic.path, "The topic '%s' has %d correlation filters, which is the maximum.", s.topic.path, correlations)
	}
	return nil
}
