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

// appendError writes all three fields. The description is never null, because clients index the fields.
func appendError(dst []byte, e *Error) []byte {
	if e == nil {
		return amqp.AppendNull(dst)
	}
	dst, m := begin(dst, codeError)
	dst = amqp.AppendSymbol(dst, e.Condition)
	dst = amqp.AppendString(dst, e.Description)
	dst = appendMap(dst, e.Info)
	return amqp.EndList(dst, m, 3)
}

func (e *Error) decode(r *amqp.Reader) error {
	f := listFields(r, "error")
	e.Condition, _ = f.symbol()
	e.Description, _ = f.text()
	e.Info = f.mapping()
	return f.done()
}

func (f *fields) error() *Error {
	code, r, ok := f.composite()
	if !ok {
		return nil
	}
	if code != codeError {
		f.fail("error of unknown kind", amqp.ErrWrongType)
		return nil
	}
	e := new(Error)
	f.keep(true, e.decode(&r))
	return e
}
