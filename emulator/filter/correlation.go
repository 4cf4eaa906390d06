package filter

import (
	"cmp"
	"fmt"
	"slices"
)

// Correlation is a correlation filter: equalities that must all hold. Values compare type-strictly, so that the text
// "2" is not the number 2, while numbers of different widths compare by value, since every SDK encodes them in its
// own way. It never raises an error. A Correlation is immutable.
type Correlation struct {
	tests    []equality
	required []anyOf
}

// NewCorrelation makes a correlation filter from the system properties and the user properties that it tests. Empty
// strings are tested too. A filter that tests nothing selects every message. It is an error to test a system property
// that correlation filters do not have, or against a value that is null or opaque.
func NewCorrelation(system map[SystemProperty]string, user map[string]Value) (*Correlation, error) {
	c := &Correlation{}
	for p, text := range system {
		if !correlates(p) {
			return nil, fmt.Errorf("make correlation filter: it cannot test the system property %s", p)
		}
		c.tests = append(c.tests, equality{Property: brokerProperty(p), Value: String(text)})
	}
	for name, v := range user {
		if familyOf(v.kind) == familyNone {
			return nil, fmt.Errorf("make correlation filter: property %q has a value of type %s", name, v.kind)
		}
		c.tests = append(c.tests, equality{Property: userProperty(name), Value: v})
	}
	slices.SortFunc(c.tests, func(a, b equality) int {
		return cmp.Or(cmp.Compare(a.Property.User, b.Property.User), cmp.Compare(a.Property.System, b.Property.System))
	})
	for _, test := range c.tests {
		c.required = append(c.required, appendEquality(anyOf{}, test.Property, test.Value))
	}
	return c, nil
}

// correlates reports whether correlation filters can test the property.
func correlates(p SystemProperty) bool {
	switch p {
	case CorrelationID, MessageID, To, ReplyTo, Label, SessionID, ReplyToSessionID, ContentType:
		return true
	}
	return false
}

// Match reports whether the filter selects the message.
func (c *Correlation) Match(m Message) bool {
	for _, test := range c.tests {
		if !sameValue(test.Property.of(m), test.Value) {
			return false
		}
	}
	return true
}

// sameValue reports whether two values are equal and of one family of types.
func sameValue(a, b Value) bool {
	return familyOf(a.kind) == familyOf(b.kind) && Compare(Equal, a, b) == True
}

// Eval is Match in the form that both kinds of filters share. The error is always nil.
func (c *Correlation) Eval(m Message) (Tri, error) { return triOf(c.Match(m)), nil }

// needs returns each equality as a condition of its own.
func (c *Correlation) needs() []anyOf { return c.required }
