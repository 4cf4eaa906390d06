package frames

import (
	"errors"
	"math"

	"minibus/internal/amqp"
)

// ErrMissingField is wrapped by the error about a mandatory field that is null or missing; the peer gets
// amqp:invalid-field.
var ErrMissingField = errors.New("mandatory field is missing")

// fields reads the fields of a composite in order. Each read consumes one field. A field that is null, or beyond the end of
// a trimmed list, reads as the zero value and false. After the first error all later reads do so too,
// so a composite is decoded by a list of assignments and one check at the end.
type fields struct {
	r    amqp.Reader
	left int    // fields not yet read
	name string // of the composite, for errors
	err  error
}

// listFields starts on the list at r, which follows the composite's descriptor.
func listFields(r *amqp.Reader, name string) fields {
	n, items, err := r.List()
	return fields{r: items, left: n, name: name, err: wrap(name, err)}
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

func (f *fields) fail(what string, err error) {
	if f.err == nil {
		f.err = wrap(f.name, f.r.Fail(what, err))
	}
}

// keep records the error of a read and reports whether the field has a value.
func (f *fields) keep(ok bool, err error) bool {
	if err != nil && f.err == nil {
		f.err = wrap(f.name, err)
	}
	return ok && err == nil
}

// next reports whether there is a non-null field to read.
func (f *fields) next() bool {
	if f.err != nil || f.left == 0 {
		return false
	}
	f.left--
	return !f.r.Null()
}

// must marks the field just read as mandatory.
func (f *fields) must(ok bool, what string) {
	if !ok {
		f.fail(what, ErrMissingField)
	}
}

// done returns the first error, or one about fields or bytes left over.
func (f *fields) done() error {
	if f.err == nil && f.left > 0 {
		f.fail("more fields than are defined", amqp.ErrMalformed)
	}
	if f.err == nil && f.r.Len() > 0 {
		f.fail("bytes after the last field", amqp.ErrMalformed)
	}
	return f.err
}

func (f *fields) uint64() (uint64, bool) {
	if !f.next() {
		return 0, false
	}
	v, ok, err := f.r.Uint64()
	return v, f.keep(ok, err)
}

func (f *fields) uint32() (uint32, bool) {
	if !f.next() {
		return 0, false
	}
	v, ok, err := f.r.Uint32()
	return v, f.keep(ok, err)
}

func (f *fields) uint16() (uint16, bool) {
	v, ok := f.uint32()
	if v > math.MaxUint16 {
		f.fail("ushort", amqp.ErrRange)
		return 0, false
	}
	return uint16(v), ok
}

func (f *fields) uint8() (uint8, bool) {
	v, ok := f.uint32()
	if v > math.MaxUint8 {
		f.fail("ubyte", amqp.ErrRange)
		return 0, false
	}
	return uint8(v), ok
}

func (f *fields) bool() (v, ok bool) {
	if !f.next() {
		return false, false
	}
	v, ok, err := f.r.Bool()
	return v, f.keep(ok, err)
}

// flag is bool for fields whose default is false.
func (f *fields) flag() bool {
	v, _ := f.bool()
	return v
}

// bytes returns nil for null, and never nil for a binary.
func (f *fields) bytes() []byte {
	if !f.next() {
		return nil
	}
	v, ok, err := f.r.Bytes()
	f.keep(ok, err)
	return v
}

func (f *fields) text() (string, bool) {
	if !f.next() {
		return "", false
	}
	v, ok, err := f.r.Text()
	return v, f.keep(ok, err)
}

func (f *fields) symbol() (amqp.Symbol, bool) {
	v, ok := f.text()
	return amqp.Symbol(v), ok
}

// any decodes a field of any type.
func (f *fields) any() any {
	if !f.next() {
		return nil
	}
	v, err := f.r.Value()
	f.keep(true, err)
	return v
}

// mapping decodes a map; it is nil for null and not nil for an empty map.
func (f *fields) mapping() amqp.Map {
	v := f.any()
	m, ok := v.(amqp.Map)
	if v != nil && !ok {
		f.fail("map", amqp.ErrWrongType)
	}
	return m
}

// symbols decodes a field that may hold one symbol or several [AMQP 1.4]: a lone symbol, an array or, from some
// clients, a list; of symbols or strings.
func (f *fields) symbols() []amqp.Symbol {
	v := f.any()
	if v == nil {
		return nil
	}
	items, several := amqp.ItemsOf(v)
	if !several {
		items = []any{v}
	}
	out := make([]amqp.Symbol, 0, len(items))
	for _, item := range items {
		s, ok := amqp.AsString(item)
		if !ok {
			f.fail("symbols", amqp.ErrWrongType)
			return nil
		}
		out = append(out, amqp.Symbol(s))
	}
	return out
}

// composite enters a field that is a described list and returns its code and a Reader at the list.
func (f *fields) composite() (code uint64, r amqp.Reader, ok bool) {
	if !f.next() {
		return 0, amqp.Reader{}, false
	}
	r = f.r
	code, err := descriptor(&r)
	if err == nil {
		err = f.r.Skip()
	}
	return code, r, f.keep(true, err)
}
