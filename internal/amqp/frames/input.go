package frames

import (
	"errors"

	"minibus/internal/amqp"
)

// ErrMissingField is wrapped by the error about a mandatory field that is null or missing; the peer gets
// amqp:invalid-field.
var ErrMissingField = errors.New("mandatory field is missing")

// input reads the fields of a list. A field that is null, or beyond the end of a trimmed list, reads as the zero
// value. After the first error all later fields do so too.
type input struct {
	r    amqp.Reader
	left int    // fields left to read
	name string // of the composite, for errors
	err  error
}

// wrap puts the composite's name before what could not be decoded.
func wrap(name string, err error) error {
	if err == nil {
		return nil // before e, whose address below costs an allocation
	}
	var e *amqp.DecodeError
	if !errors.As(err, &e) {
		return err
	}
	return &amqp.DecodeError{What: name + ": " + e.What, Offset: e.Offset, Err: e.Err}
}

func (in *input) fail(what string, err error) {
	if in.err == nil {
		in.err = wrap(in.name, in.r.Fail(what, err))
	}
}

// keep records the error of a read and reports whether the field has a value.
func (in *input) keep(ok bool, err error) bool {
	if err != nil && in.err == nil {
		in.err = wrap(in.name, err)
	}
	return ok && err == nil
}

// next reports whether there is a non-null field to read.
func (in *input) next() bool {
	if in.err != nil || in.left == 0 {
		return false
	}
	in.left--
	return !in.r.Null()
}

// found stores whether the field just read has a value. Without a place to store that the field is mandatory.
func (in *input) found(name string, ok bool, err error, has *bool) {
	if has != nil {
		*has = ok && err == nil
	}
	if err != nil || has == nil && !ok {
		in.missing(name, err)
	}
}

// missing is the rare part of found.
func (in *input) missing(name string, err error) {
	if in.keep(true, err) {
		in.fail(name, ErrMissingField)
	}
}

// done returns the first error of reading, or one about fields or bytes left over.
func (in *input) done() error {
	if in.err == nil && in.left > 0 {
		in.fail("more fields than are defined", amqp.ErrMalformed)
	}
	if in.err == nil && in.r.Len() > 0 {
		in.fail("bytes after the last field", amqp.ErrMalformed)
	}
	return in.err
}
