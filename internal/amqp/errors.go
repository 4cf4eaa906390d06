package amqp

import (
	"errors"
	"fmt"
)

// The reasons that a [DecodeError] wraps. The answer to a peer that caused one is amqp:decode-error.
var (
	// ErrTruncated: a value reaches beyond the bytes that hold it.
	ErrTruncated = errors.New("truncated")
	// ErrMalformed: the bytes are not an encoding of the standard.
	ErrMalformed = errors.New("malformed")
	// ErrWrongType: the value is well-formed but has another type than expected.
	ErrWrongType = errors.New("wrong type")
	// ErrRange: the number does not fit.
	ErrRange = errors.New("number out of range")
	// ErrTooDeep: values nested deeper than MaxDepth.
	ErrTooDeep = errors.New("nested too deeply")
	// ErrTooMany: more elements than the remaining bytes can hold.
	ErrTooMany = errors.New("too many elements")
)

// DecodeError says what could not be decoded, where, and why.
type DecodeError struct {
	What   string // what was being read: a type, a field or a section
	Offset int    // of the offending byte, from the start of the slice given to the decoder
	Err    error  // one of the Err variables of this package
}

// Error implements error.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %s at offset %d: %v", e.What, e.Offset, e.Err)
}

// Unwrap returns the reason, for errors.Is.
func (e *DecodeError) Unwrap() error { return e.Err }
