package management

import (
	"maps"
	"math"
	"slices"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// addRule serves add-rule: it adds a rule to a subscription, for messages that are sent later (TOP-8).
func addRule(c *call, a args) error {
	o, err := parseRule(a)
	if err != nil {
		return err
	}
	s, err := c.subscription()
	if err != nil {
		return err
	}
	return s.AddRule(o, emulator.CompletionFunc(c.finish))
}

// removeRule serves remove-rule (TOP-8).
func removeRule(c *call, a args) error {
	name, err := a.needText("rule-name")
	if err != nil {
		return err
	}
	s, err := c.subscription()
	if err != nil {
		return err
	}
	return s.RemoveRule(name, emulator.CompletionFunc(c.finish))
}

// subscription returns the subscription whose rules a request is about.
func (c *call) subscription() (*emulator.Subscription, error) {
	if err := c.refuseSubQueue("rules"); err != nil {
		return nil, err
	}
	return c.Queue.Subscription()
}

// enumerateRules serves enumerate-rules: a subscription's rules by name, page by page (TOP-16). A short page is the
// last. An empty one has a status and a condition of its own.
func enumerateRules(c *call, a args) error {
	rules, err := c.listRules(a)
	if err != nil {
		return err
	}
	if len(rules) == 0 {
		dst := make([]byte, 0, envelopeSize)
		c.reply(c.appendEnvelope(dst, statusNoContent, amqp.CondRulesNotFound, "No rules found"))
		return nil
	}
	c.okField(256*len(rules), "rules", func(dst []byte) []byte { return appendRules(dst, rules) })
	return nil
}

func (c *call) listRules(a args) ([]emulator.RuleOptions, error) {
	if err := c.refuseSubQueue("rules"); err != nil {
		return nil, err
	}
	if err := c.Queue.CanBrowse(emulator.Main); err != nil { // the service opens a browser for it
		return nil, err
	}
	skip, err := a.count("skip", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	top, err := a.count("top", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	s, err := c.Queue.Subscription()
	if err != nil {
		return nil, err
	}
	return s.Rules(skip, top)
}

// parseRule reads the arguments of add-rule. It ignores the name within the description, which some SDKs repeat.
func parseRule(a args) (o emulator.RuleOptions, err error) {
	if o.Name, err = a.needText("rule-name"); err != nil {
		return o, err
	}
	description, ok, err := a.sub("rule-description")
	if err == nil && !ok {
		err = wrong("rule-description", nil, "a map")
	}
	if err != nil {
		return o, err
	}
	sql, hasSQL, err := description.sub("sql-filter")
	if err != nil {
		return o, err
	}
	correlation, hasCorrelation, err := description.sub("correlation-filter")
	switch {
	case err != nil:
		return o, err
	case hasSQL == hasCorrelation:
		return o, argumentError(
			"The argument 'rule-description' has %s; expected one of 'sql-filter' and 'correlation-filter'.",
			map[bool]string{true: "two filters", false: "no filter"}[hasSQL])
	case hasSQL:
		o.SQL, err = sql.needText("expression")
	default:
		o.Correlation, err = parseCorrelation(correlation)
	}
	if err != nil {
		return o, err
	}
	action, ok, err := description.sub("sql-rule-action")
	if err == nil && ok {
		o.Action, _, err = action.text("expression")
	}
	return o, err
}

// parseCorrelation reads a correlation filter. Null fields are not tested; an empty text is tested like any other.
func parseCorrelation(a args) (*emulator.CorrelationFilter, error) {
	f := &emulator.CorrelationFilter{}
	for i, to := range correlationFields(f) {
		text, ok, err := a.text(correlationKeys[i])
		if err != nil {
			return nil, err
		}
		if ok {
			*to = &text
		}
	}
	properties, ok, err := a.sub("properties")
	if err != nil || !ok {
		return f, err
	}
	f.Properties = make(emulator.Values, len(properties.fields))
	for _, p := range properties.fields {
		name, ok := amqp.AsString(p.Key)
		if !ok {
			return nil, argumentError("A key of the argument 'properties' is %s; expected a string.", found(p.Key))
		}
		f.Properties[name] = p.Value
	}
	return f, nil
}

// correlationKeys has the keys of a correlation filter's fields, in the order in which replies have them.
var correlationKeys = [...]string{
	"correlation-id", "message-id", "to", "reply-to", "label", "session-id", "reply-to-session-id", "content-type",
}

// correlationFields returns the fields in the order of correlationKeys.
func correlationFields(f *emulator.CorrelationFilter) [len(correlationKeys)]**string {
	return [...]**string{
		&f.CorrelationID, &f.MessageID, &f.To, &f.ReplyTo,
		&f.Label, &f.SessionID, &f.ReplyToSessionID, &f.ContentType,
	}
}

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
		value := emulator.PlainValue(f.Properties[name])
		if whole, err := amqp.AppendValue(amqp.AppendString(dst, name), value); err == nil {
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
