package emulator

import "minibus/emulator/filter"

// Limits of a topic's rules in the strict profiles (QUO-10), and of Microsoft's emulator. The relaxed profile counts
// nothing (DEC-1).
const (
	maxSubscriptions    = 2000
	maxSQLFilters       = 2000
	maxCorrelations     = 100_000
	maxExpression       = 1024 // characters of a filter or an action
	maxStatements       = 32   // of an action
	emulatorSubs        = 50
	emulatorRules       = 1000 // of one subscription
	emulatorSQLFilters  = 70
	emulatorCorrelation = 1000
)

// CheckFilter reports what keeps a text from being a SQL filter without parameters under the profile: it does not parse, or it
// is too long (QUO-10). The error's text is the service's, with line and column.
func (l Limits) CheckFilter(sql string) error {
	_, err := l.parseFilter(sql, nil)
	return err
}

// CheckAction is CheckFilter for a SQL action, whose statements are counted too.
func (l Limits) CheckAction(sql string) error {
	_, err := l.parseAction(sql, nil)
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
	if n := a.Statements(); n > maxStatements && l != LimitsRelaxed {
		return nil, errorf(CodeArgument, "", "The action has %d statements, which exceeds the limit of %d statements.", n, maxStatements)
	}
	return a, nil
}

// checkLength reports a text that the service would find too long. The relaxed profile leaves it to the language.
func (l Limits) checkLength(sql string) error {
	if n := filter.TextLength(sql); n > maxExpression && l != LimitsRelaxed {
		return errorf(CodeArgument, "", "The SQL expression has %d characters, which exceeds the limit of %d characters.", n, maxExpression)
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
	sql, correlations := maxSQLFilters, maxCorrelations
	switch limits {
	case LimitsRelaxed:
		return nil
	case LimitsEmulator:
		sql, correlations = emulatorSQLFilters, emulatorCorrelation
		if n := len(next); n > emulatorRules && n > len(s.rules) {
			return errorf(CodeQuotaExceeded, s.fullName(), "The subscription '%s' has %d rules, which is the maximum.", s.fullName(), emulatorRules)
		}
	}
	oldSQL, newSQL := countSQL(s.rules), countSQL(next)
	if more := newSQL - oldSQL; more > 0 && t.topic.sql+more > sql {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' can't have more than %d SQL filters.", t.path, sql)
	}
	more := len(next) - newSQL - (len(s.rules) - oldSQL)
	if more > 0 && t.topic.index.Len()-t.topic.sql+more > correlations {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' can't have more than %d correlation filters.", t.path, correlations)
	}
	return nil
}

// roomForSubscription fails if another subscription is above the profile's limits (QUO-10).
func (t *Topic) roomForSubscription(s *Subscription, rules []*rule) error {
	most := maxSubscriptions
	switch t.ns.limits {
	case LimitsRelaxed:
		return nil
	case LimitsEmulator:
		most = emulatorSubs
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.topic.subs); n >= most {
		return errorf(CodeQuotaExceeded, t.path, "The topic '%s' has %d subscriptions, which is the maximum.", t.path, n)
	}
	return s.roomLocked(rules)
}
