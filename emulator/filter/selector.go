package filter

import (
	"slices"
	"strings"
)

// Selector is a compiled message selector of JMS 2.0 (section 3.8.1 of its specification). It is immutable, and a
// [Matcher] whose Eval never fails. It differs from a SQL filter:
//
//   - names are those of application properties, in exactly their case, or of JMS headers;
//   - a bare boolean property is a condition, and there is BETWEEN; functions, parameters and scopes do not exist;
//   - text and booleans are only equal or not, and operands whose types do not fit make a condition false;
//   - a missing property makes it unknown, as in a filter, and so does arithmetic that fails.
type Selector struct {
	text     string
	tree     predicate
	run      tester
	required []anyOf
}

// ParseSelector reads a selector. The error is a *syntaxError or errTooLong.
func ParseSelector(text string) (*Selector, error) {
	p, err := newParser(text, selectors, nil)
	if err != nil {
		return nil, err
	}
	tree := p.selector()
	if err := p.finish(); err != nil {
		return nil, err
	}
	c := compiler{selector: true}
	s := &Selector{text: text, tree: tree, run: c.predicate(tree)}
	s.required = requirements(s.run)
	return s, nil
}

// Eval evaluates the selector on a message. Only True selects it. The error is always nil.
func (s *Selector) Eval(m Message) (Tri, error) { return s.run.test(m) }

// Selects reports whether the selector selects a message.
func (s *Selector) Selects(m Message) bool {
	t, _ := s.run.test(m)
	return t == True
}

// Explain says what Eval says, and why. It costs much more.
func (s *Selector) Explain(m Message) Explanation {
	outcome, reasons, _ := explainer{m: m, selector: true}.predicate(s.tree, True)
	return Explanation{Outcome: outcome, Reasons: reasons}
}

// String returns the selector as it was written.
func (s *Selector) String() string { return s.text }

func (s *Selector) needs() []anyOf { return s.required }

// selectorKeywords are reserved in any spelling of upper and lower case.
var selectorKeywords = func() map[string]tokenKind {
	words := make(map[string]tokenKind)
	for _, k := range []tokenKind{tokAnd, tokOr, tokNot, tokIs, tokNull, tokIn, tokLike, tokEscape, tokBetween, tokTrue,
		tokFalse} {
		words[tokenNames[k]] = k
	}
	return words
}()

// selectorHeaders are the headers that a selector can read.
var selectorHeaders = map[string]SystemProperty{
	"JMSMessageID": JMSMessageID, "JMSCorrelationID": JMSCorrelationID, "JMSType": Label,
	"JMSDeliveryMode": JMSDeliveryMode, "JMSPriority": JMSPriority, "JMSTimestamp": JMSTimestamp,
	"JMSXGroupID": JMSXGroupID, "JMSXGroupSeq": JMSXGroupSeq, "JMSXUserID": JMSXUserID,
}

// selectorNulls are the headers that are null in every selector.
var selectorNulls = []string{
	"JMSDestination", "JMSReplyTo", "JMSExpiration", "JMSRedelivered", "JMSDeliveryTime", "JMSXDeliveryCount",
	"JMSXAppID", "JMSXProducerTXID", "JMSXConsumerTXID", "JMSXRcvTimestamp", "JMSXState",
}

// selectorName makes the node for a name.
func selectorName(name string) evaluator {
	if p, ok := selectorHeaders[name]; ok {
		return systemValue{p}
	}
	if slices.Contains(selectorNulls, name) {
		return fixedValue{Null()}
	}
	return exactValue{name}
}

// exactValue reads the application property that has exactly that name.
type exactValue struct{ name string }

func (n exactValue) value(m Message) (Value, error) {
	v, _ := m.Exact(n.name)
	return v, nil
}

// selectorArithmetic makes arithmetic null where it fails or would join texts, if it is a selector's.
func (c *compiler) selectorArithmetic(n evaluator) evaluator {
	if c.selector {
		return nullOnError{n}
	}
	return n
}

type nullOnError struct{ x evaluator }

func (n nullOnError) value(m Message) (Value, error) {
	if v, err := n.x.value(m); err == nil && isNumber(v.kind) {
		return v, nil
	}
	return Null(), nil
}

// compareInSelector is Compare for selectors: numbers compare with numbers; texts with texts and booleans with
// booleans, for equality only. All else is false.
func compareInSelector(c Comparison, a, b Value) Tri {
	switch {
	case a.IsUnknown() || b.IsUnknown():
		return Unknown
	case isNumber(a.kind) && isNumber(b.kind):
		return compareNumbers(c, a, b)
	case a.kind == b.kind && (a.kind == KindString || a.kind == KindBool) && c <= NotEqual:
		return compareSame(c, a, b)
	}
	return False
}

// noPrefix begins a message id that has no ID: before it, as clients show it.
const noPrefix = "ID:AMQP_NO_PREFIX:"

// asStored returns the text with which a header is compared. A message id that its sender gave without ID: can be
// written as it is or as clients show it.
func asStored(header, text operand) operand {
	h, isName := header.(property)
	t, isLiteral := text.(literal)
	if !isName || !isLiteral || h.name != "JMSMessageID" || t.value.kind != KindString {
		return text
	}
	return literal{String(strings.TrimPrefix(t.value.str, noPrefix))}
}
