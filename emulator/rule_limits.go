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
