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
