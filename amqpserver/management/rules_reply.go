package management

import (
	"maps"
	"slices"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// Descriptor codes of rules and their parts (amqp-data-plane 0.3).
const (
	codeRule        = 0x0000013700000004
	codeEmptyAction = 0x0000013700000005
	codeSQLAction   = 0x0000013700000006
	codeSQLFilter   = 0x0000001370000006
	codeTrueFilter  = 0x0000001370000007
	codeFalseFilter = 0x0000001370000008
	codeCorrelation = 0x0000001370000009
)

// compatibilityLevel of SQL texts; it has only one value. Clients cast it to an int.
const compatibilityLevel = 20

// appendRules appends a list of maps, each with one rule.
func appendRules(dst []byte, rules []emulator.RuleOptions) []byte {
	dst, m := amqp.BeginList(dst)
	for i := range rules {
		dst = appendField(dst, "rule-description", func(dst []byte) []byte { return appendRule(dst, &rules[i]) })
	}
	return amqp.EndList(dst, m, len(rules))
}

func appendRule(dst []byte, o *emulator.RuleOptions) []byte {
	dst, m := amqp.BeginList(appendCode(dst, codeRule))
	dst = appendFilter(dst, o)
	dst = appendAction(dst, o)
	dst = amqp.AppendString(dst, o.Name)
	dst = amqp.AppendTimestamp(dst, amqp.Timestamp(o.CreatedAt))
	return amqp.EndList(dst, m, 4)
}

func appendFilter(dst []byte, o *emulator.RuleOptions) []byte {
	switch {
	case o.Correlation != nil:
		return appendCorrelationFilter(dst, o.Correlation)
	case o.IsTrue():
		return appendNothing(dst, codeTrueFilter)
	case o.IsFalse():
		return appendNothing(dst, codeFalseFilter)
	}
	return appendSQL(dst, codeSQLFilter, o.SQL)
}

// appendAction appends the action, never a null: clients do not expect one.
func appendAction(dst []byte, o *emulator.RuleOptions) []byte {
	if o.Action == "" {
		return appendNothing(dst, codeEmptyAction)
	}
	return appendSQL(dst, codeSQLAction, o.Action)
}

func appendSQL(dst []byte, code uint64, text string) []byte {
	dst, m := amqp.BeginList(appendCode(dst, code))
	dst = amqp.AppendInt(amqp.AppendString(dst, text), compatibilityLevel)
	return amqp.EndList(dst, m, 2)
}

// appendCorrelationFilter appends the fields, null where they are not tested, and the properties, which are never null.
func appendCorrelationFilter(dst []byte, f *emulator.CorrelationFilter) []byte {
	dst, m := amqp.BeginList(appendCode(dst, codeCorrelation))
	for _, text := range correlationFields(f) {
		if *text == nil {
			dst = amqp.AppendNull(dst)
			continue
		}
		dst = amqp.AppendString(dst, **text)
	}
	dst, properties := amqp.BeginMap(dst)
	n := 0
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if whole, err := amqp.AppendValue(amqp.AppendString(dst, name), emulator.PlainValue(f.Properties[name])); err == nil {
			dst = whole // stored values always have an encoding
			n++
		}
	}
	dst = amqp.EndMap(dst, properties, n)
	return amqp.EndList(dst, m, len(correlationKeys)+1)
}

// appendNothing appends a described empty list, in the short form that the service writes here.
func appendNothing(dst []byte, code uint64) []byte {
	return append(appendCode(dst, code), amqp.CodeList0)
}

// appendCode appends a descriptor, a ulong in its full width.
func appendCode(dst []byte, code uint64) []byte {
	return amqp.AppendUlong(append(dst, amqp.CodeDescribed), code)
}
