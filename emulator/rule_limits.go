package emulator

import "minibus/emulator/filter"

// CheckFilter reports what keeps a text with these parameters from being a SQL filter under the profile: it does not parse, or it is
// too long (QUO-10). The error's text is the service's, with line and column.
func (l Limits) CheckFilter(sql string, params Values) error {
	values, err := params.forFilter()
	if err == nil {
		_, err = l.parseFilter(sql, values)
	}
	return err
}

// CheckAction is CheckFilter for a SQL action, whose statements are counted too.
func (l Limits) CheckAction(sql string, params Values) error {
	values, err := params.forFilter()
	if err == nil {
		_, err = l.parseAction(sql, values)
	}
	return err
}

func (l Limits) parseFilter(sql string, params map[string]filter.Value) (*filter.Filter, error) {
	if err := l.checkLength(sql); err != nil {
		return nil, err
	}
	return filter.ParseFilter(sql, params)
}

func (l Limits) parseAction(sql string, params map[string]filter.Value) (*filter.Action, error) {
	if err := l.checkLength(sql); err != nil {
		return nil, err
	}
	a, err := filter.ParseAction(sql, params)
	if err != nil {
		return nil, err
	}
	if n, most := a.Statements(), profiles[l].Statements; most > 0 && n > most {
		return nil, errorf(CodeArgument, "", "The action has %d statements, which exceeds the limit of %d statements.", n, most)
	}
	return a, nil
}

// checkLength reports a text that the service would find too long. The relaxed profile leaves it to the language.
func (l Limits) checkLength(sql string) error {
	if n, most := filter.TextLength(sql), profiles[l].Expression; most > 0 && n > most {
		return errorf(CodeArgument, "", "The SQL expression has %d characters, which exceeds the limit of %d characters.", n, most)
	}
	return nil
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
	limits, t := s.ns.limits, s.topic
	if limits == LimitsRelaxed {
		return nil
	}
	most := &profiles[limits]
	if n := len(next); most.Rules > 0 && n > most.Rules && n > len(s.rules) {
		return errorf(CodeQuotaExceeded, s.fullName(), "The subscription '%s' has %d rules, which is the maximum.", s.fullName(), most.Rules)
	}
	oldSQL, newSQL := countSQL(s.rules), countSQL(next)
	if more := newSQL - oldSQL; more > 0 && t.topic.sql+more > most.SQLFilters {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' can't have more than %d SQL filters.", t.path, most.SQLFilters)
	}
	more := len(next) - newSQL - (len(s.rules) - oldSQL)
	if more > 0 && t.topic.index.Len()-t.topic.sql+more > most.Correlations {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' can't have more than %d correlation filters.", t.path, most.Correlations)
	}
	return nil
}

// roomForSubscription fails if another subscription is above the profile's limits (QUO-10).
func (t *Topic) roomForSubscription(s *Subscription, rules []*rule) error {
	most := profiles[t.ns.limits].Subscriptions
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.topic.subs); most > 0 && n >= most {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' has %d subscriptions, which is the maximum.", t.path, n)
	}
	return s.roomLocked(rules)
}
