package emulator

import (
	"cmp"
	"slices"
)

// AddRule adds a rule to a subscription, for messages that are sent from now on (TOP-8). An error means that nothing
// was changed and that c will not be called: CodeAlreadyExists if a rule has the name, CodeArgument for a filter or
// an action that does not parse or is above the profile's limits, CodeQuotaExceeded for a rule too many (QUO-10),
// CodeNotAllowed on an entity that is not a subscription.
//
// The rule takes effect with the call and is undone if it can't be written: what was sent in between and would have
// used it is queued behind it in the journal and fails with it.
func (s *Subscription) AddRule(o RuleOptions, c Completion) error {
	if err := s.ns.Profile().CheckRuleName(o.Name); err != nil {
		return s.refuse(o, err)
	}
	o.CreatedAt = s.ns.Now()
	r, err := s.compile(o, s.ns.Profile())
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
	next := s.nowLocked()
	next.rules = append(slices.Clone(next.rules), r)
	if err := s.roomLocked(next.rules); err != nil {
		return err
	}
	r.order = s.topic.nextOrder()
	return s.changeLocked(next, c)
}

// RemoveRule removes the rule with that name. An error means that nothing was changed and that c will not be called:
// CodeNotFound if there is none (TOP-8).
func (s *Subscription) RemoveRule(name string, c Completion) error {
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	i := s.findRule(name)
	if i < 0 {
		return NotFound(s.ruleName(name))
	}
	next := s.nowLocked()
	next.rules = slices.Delete(slices.Clone(next.rules), i, i+1)
	return s.changeLocked(next, c)
}

// UpdateRule gives the rule of that name another filter and action; it keeps its place and its time of creation.
// Errors are those of AddRule, with CodeNotFound if there is none.
func (s *Subscription) UpdateRule(o RuleOptions, c Completion) error {
	r, err := s.compile(o, s.ns.Profile())
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
	r.order = old.order
	r.options.Name = old.options.Name
	r.options.CreatedAt = old.options.CreatedAt
	next := s.nowLocked()
	next.rules = slices.Clone(next.rules)
	next.rules[i] = r
	if err := s.roomLocked(next.rules); err != nil {
		return err
	}
	return s.changeLocked(next, c)
}

// Rules lists a subscription's rules in the ordinal order of their names (TOP-16), from the skip-th on and top at most.
func (s *Subscription) Rules(skip, top int) ([]RuleOptions, error) {
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return nil, err
	}
	list := s.decisions.stored().Rules
	slices.SortFunc(list, func(a, b RuleOptions) int { return cmp.Compare(a.Name, b.Name) })
	list = list[min(max(skip, 0), len(list)):]
	return list[:min(max(top, 0), len(list))], nil
}

// ruleExists is the service's answer to a second rule of a name (TOP-8).
func (s *Subscription) ruleExists(name string) error { return alreadyExists(s.ruleName(name)) }

func alreadyExists(name string) *Error {
	return errorf(CodeAlreadyExists, name, "The messaging entity '%s' already exists.", name)
}

// countSQL is how many of the rules have a SQL filter.
func countSQL(rules []*rule) (n int) {
	for _, r := range rules {
		if r.options.Correlation == nil {
			n++
		}
	}
	return n
}

// roomLocked fails if a subscription with these rules instead of those it has makes more of the topic than the profile
// takes (QUO-10). What was there before a profile was chosen may stay. The caller holds the topic's mutex.
func (s *Subscription) roomLocked(next []*rule) error {
	limits, t := s.ns.Profile(), s.topic
	if limits == ProfileRelaxed {
		return nil
	}
	most := &profiles[limits]
	if n := len(next); most.Rules > 0 && n > most.Rules && n > len(s.rules) {
		return errorf(CodeQuotaExceeded, s.fullName(), "The subscription '%s' has %d rules, which is the maximum.",
			s.fullName(), most.Rules)
	}
	oldSQL, newSQL := countSQL(s.rules), countSQL(next)
	if more := newSQL - oldSQL; more > 0 && t.topic.sql+more > most.SQLFilters {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' can't have more than %d SQL filters.", t.path,
			most.SQLFilters)
	}
	more := len(next) - newSQL - (len(s.rules) - oldSQL)
	if more > 0 && t.topic.index.Len()-t.topic.sql+more > most.Correlations {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' can't have more than %d correlation filters.",
			t.path, most.Correlations)
	}
	return nil
}

// roomForSubscription fails if another subscription is above the profile's limits (QUO-10).
func (t *Topic) roomForSubscription(s *Subscription, rules []*rule) error {
	most := profiles[t.ns.Profile()].Subscriptions
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.topic.subs); most > 0 && n >= most {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' has %d subscriptions, which is the maximum.", t.path,
			n)
	}
	return s.roomLocked(rules)
}

// PutRule adds a rule to a subscription at a path, or gives its rule of that name another filter and action, and
// waits until that is durable. Errors are those of AddRule, and CodeNotFound without the subscription.
func (es Entities) PutRule(path string, o RuleOptions) (created bool, err error) {
	s, err := es.subscriptionAt(path)
	if err != nil {
		return false, err
	}
	s.topic.mu.Lock()
	change := s.UpdateRule
	if created = s.findRule(o.Name) < 0; created {
		change = s.AddRule
	}
	s.topic.mu.Unlock()
	return created, awaitStarted(func(done Completion) error { return change(o, done) })
}

// DeleteRule removes a rule of a subscription at a path and waits until that is durable. It fails with CodeNotFound
// without the subscription or the rule.
func (es Entities) DeleteRule(path, name string) error {
	s, err := es.subscriptionAt(path)
	if err != nil {
		return err
	}
	return awaitStarted(func(done Completion) error { return s.RemoveRule(name, done) })
}

func (es Entities) subscriptionAt(path string) (*Subscription, error) {
	q, err := es.ns.Entity(path)
	if err != nil {
		return nil, err
	}
	return q.Subscription()
}

// awaitStarted waits for an operation, unless it does not begin.
func awaitStarted(start func(done Completion) error) error {
	return await(func(done Completion) {
		if err := start(done); err != nil {
			done.Completed(err)
		}
	})
}
