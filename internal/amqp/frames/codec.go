package frames

import (
	"errors"
	"strings"

	"minibus/internal/amqp"
)

// ErrMissingField is wrapped by the error about a mandatory field that is null or missing; the peer gets
// amqp:invalid-field.
var ErrMissingField = errors.New("mandatory field is missing")

// composite is a described list [AMQP 1.4]. It lists its fields once, in the standard's order, by calls to the methods of
// a codec, which then reads, writes or traces them.
type composite interface {
	fields(c *codec)
}

// A codec walks the fields of a composite. Only reading changes the composite. A field that is null, or beyond the end of
// a trimmed list, reads as the zero value. After the first error all later fields do so too.
type codec struct {
	mode mode
	n    int // fields left to read, or written so far

	r    amqp.Reader // reading
	name string      // of the composite, for errors
	err  error

	dst  []byte // writing
	list amqp.Mark

	line *strings.Builder // tracing
}

type mode uint8

const (
	reading mode = iota
	writing
	tracing
)

// reader starts on the list at r, which follows the composite's descriptor.
func reader(r *amqp.Reader, name string) codec {
	n, items, err := r.List()
	return codec{r: items, n: n, name: name, err: wrap(name, err)}
}

// writer starts a list behind dst.
func writer(dst []byte, code byte) codec {
	dst, list := amqp.BeginList(amqp.AppendDescriptor(dst, code))
	return codec{mode: writing, dst: dst, list: list}
}

// written ends the list and returns the bytes.
func (c *codec) written() []byte { return amqp.EndList(c.dst, c.list, c.n) }

// appendComposite writes a whole composite. The call through the interface moves the codec to the heap.
func appendComposite(dst []byte, code byte, v composite) []byte {
	c := writer(dst, code)
	v.fields(&c)
	return c.written()
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

func (c *codec) fail(what string, err error) {
	if c.err == nil {
		c.err = wrap(c.name, c.r.Fail(what, err))
	}
}

// keep records the error of a read and reports whether the field has a value.
func (c *codec) keep(ok bool, err error) bool {
	if err != nil && c.err == nil {
		c.err = wrap(c.name, err)
	}
	return ok && err == nil
}

// next reports whether there is a non-null field to read.
func (c *codec) next() bool {
	if c.err != nil || c.n == 0 {
		return false
	}
	c.n--
	return !c.r.Null()
}

// found stores whether the field just read has a value. Without a place to store that the field is mandatory.
func (c *codec) found(name string, ok bool, err error, has *bool) {
	ok = c.keep(ok, err)
	if has != nil {
		*has = ok
	} else if !ok {
		c.fail(name, ErrMissingField)
	}
}

// done returns the first error of reading, or one about fields or bytes left over.
func (c *codec) done() error {
	if c.err == nil && c.n > 0 {
		c.fail("more fields than are defined", amqp.ErrMalformed)
	}
	if c.err == nil && c.r.Len() > 0 {
		c.fail("bytes after the last field", amqp.ErrMalformed)
	}
	return c.err
}

// put takes dst with one more field.
func (c *codec) put(dst []byte) {
	c.dst = dst
	c.n++
}

// set reports whether to write or trace a field. It writes null for one that has no value.
func (c *codec) set(has *bool) bool {
	if has == nil || *has {
		return true
	}
	if c.mode == writing {
		c.put(amqp.AppendNull(c.dst))
	}
	return false
}
