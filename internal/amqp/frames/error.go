package frames

import "minibus/internal/amqp"

// Error is the standard's error composite [AMQP 2.8.14]. Condition is mandatory there; one that a peer leaves out is
// read as empty, because a bad report of an error is no reason for another.
type Error struct {
	Condition   amqp.Symbol
	Description string
	Info        amqp.Map
}

// Error implements the error interface, so that what a peer reported can be wrapped and logged.
func (e *Error) Error() string {
	if e.Description == "" {
		return string(e.Condition)
	}
	return string(e.Condition) + ": " + e.Description
}

// appendError writes all three fields, the description never null: clients index them.
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
