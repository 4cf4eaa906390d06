package frames

import "minibus/internal/amqp"

// Error is the standard's error composite [AMQP 2.8.14]. Its condition is mandatory, but may be missing when read: a
// bad error report is no reason for another error.
type Error struct {
	Condition   amqp.Symbol
	Description string
	Info        amqp.Map
}

// Error implements error, so that a peer's report can be wrapped and logged.
func (e *Error) Error() string {
	if e.Description == "" {
		return string(e.Condition)
	}
	return string(e.Condition) + ": " + e.Description
}

// fields implements [composite]. The description is never written as null, because clients index the fields.
func (e *Error) fields(c *codec) {
	has := true
	c.symbol("", &e.Condition, &has)
	c.text("", &e.Description, &has)
	c.mapping("", &e.Info)
}
