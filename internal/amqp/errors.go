package amqp

import (
	"errors"
	"fmt"
)

// What a [DecodeError] wraps. A peer that caused any of them is answered with amqp:decode-error.
var (
	// ErrTruncated: a value reaches beyond the bytes that hold it.
	ErrTruncated = errors.New("truncated")
	// ErrMalformed: the bytes are no encoding of the standard.
	ErrMalformed = errors.New("malformed")
	// ErrWrongType: a well-formed value of another type than the place asks for.
	ErrWrongType = errors.New("wrong type")
	// ErrRange: a number that the place cannot hold.
	ErrRange = errors.New("number out of range")
	// ErrTooDeep: values nested deeper than MaxDepth.
	ErrTooDeep = errors.New("nested too deeply")
	// ErrTooMany: more elements than the bytes that are there justify.
	ErrTooMany = errors.New("too many elements")
)

// DecodeError says what could not be decoded, where, and why.
type DecodeError struct {
	What   string // what was being read: a type, a field or a section
	Offset int    // of the offending byte, from the start of the slice that was given
	Err    error  // one of the Err variables of this package
}

// Error implements error.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %s at offset %d: %v", e.What, e.Offset, e.Err)
}

// Unwrap returns the reason, for errors.Is.
func (e *DecodeError) Unwrap() error { return e.Err }
