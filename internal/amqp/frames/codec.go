package frames

import (
	"encoding/hex"
	"errors"
	"math"

	"minibus/internal/amqp"
)

// composite is a described list [AMQP 1.4]. It lists its fields once, in the standard's order, by calls to the
// methods of a codec, which then reads, writes or traces them.
type composite interface {
	fields(c *codec)
}

// A codec walks the fields of a composite. Only reading changes the composite.
type codec struct {
	mode  mode
	input        // reading
	dst   []byte // writing
	list  amqp.Mark
	count int   // fields written so far
	line  *line // tracing
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
	c := codec{input: input{r: items, left: n, name: name}}
	if err != nil {
		c.err = wrap(name, err)
	}
	return c
}

// writer starts a list behind dst.
func writer(dst []byte, code byte) codec {
	dst, list := amqp.BeginList(amqp.AppendDescriptor(dst, code))
	return codec{mode: writing, dst: dst, list: list}
}

// appendComposite writes a whole composite. The call through the interface moves the codec to the heap.
func appendComposite(dst []byte, code byte, v composite) []byte {
	c := writer(dst, code)
	v.fields(&c)
	return amqp.EndList(c.dst, c.list, c.count)
}

// put takes dst with one more field.
func (c *codec) put(dst []byte) {
	c.dst = dst
	c.count++
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

// The methods below walk one field each. Where they take a has, it tells whether the field is set; an unset field is
// null, and a has of nil makes the field mandatory. The name is the standard's. A field without a name is not traced.

func (c *codec) uint32(name string, v *uint32, has *bool) {
	switch {
	case c.mode == reading:
		var ok bool
		var err error
		if *v = 0; c.next() {
			*v, ok, err = c.r.Uint32()
		}
		c.found(name, ok, err, has)
	case !c.set(has):
	case c.mode == writing:
		c.put(amqp.AppendUint(c.dst, *v))
	default:
		c.line.show(name, *v)
	}
}

// nonzero is a number whose default is 0.
func (c *codec) nonzero(name string, v *uint32) {
	has := *v != 0
	c.uint32(name, v, &has)
}

func (c *codec) uint64(name string, v *uint64, has *bool) {
	field(c, name, v, has, (*amqp.Reader).Uint64, amqp.AppendUlong)
}

// field walks a field with the functions of package amqp for its type. The call through a variable moves the codec to
// the heap, so the fields of transfers, dispositions and flows do without it.
func field[T any](
	c *codec, name string, v *T, has *bool, read func(*amqp.Reader) (T, bool, error), write func([]byte, T) []byte,
) {
	switch {
	case c.mode == reading:
		var got T
		var ok bool
		var err error
		if c.next() {
			got, ok, err = read(&c.r)
		}
		*v = got
		c.found(name, ok, err, has)
	case !c.set(has):
	case c.mode == writing:
		c.put(write(c.dst, *v))
	default:
		c.line.show(name, *v)
	}
}

func (c *codec) uint16(name string, v *uint16, has *bool) {
	switch {
	case c.mode == reading:
		*v = uint16(c.narrow(name, has, "ushort", math.MaxUint16))
	case !c.set(has):
	case c.mode == writing:
		c.put(amqp.AppendUshort(c.dst, *v))
	default:
		c.line.show(name, *v)
	}
}

func (c *codec) uint8(name string, v *uint8, has *bool) {
	switch {
	case c.mode == reading:
		*v = uint8(c.narrow(name, has, "ubyte", math.MaxUint8))
	case !c.set(has):
	case c.mode == writing:
		c.put(amqp.AppendUbyte(c.dst, *v))
	default:
		c.line.show(name, *v)
	}
}

// narrow reads a number that is at most so large. A larger one counts as unset.
func (c *codec) narrow(name string, has *bool, what string, most uint32) (v uint32) {
	if c.uint32(name, &v, has); v <= most {
		return v
	}
	if has != nil {
		*has = false
	}
	c.fail(what, amqp.ErrRange)
	return 0
}

func (c *codec) bool(name string, v, has *bool) {
	switch {
	case c.mode == reading:
		var ok bool
		var err error
		if *v = false; c.next() {
			*v, ok, err = c.r.Bool()
		}
		c.found(name, ok, err, has)
	case !c.set(has):
	case c.mode == writing:
		c.put(amqp.AppendBool(c.dst, *v))
	default:
		c.line.show(name, *v)
	}
}

// flag is a boolean whose default is false. It is written even so, and traced only if it is true.
func (c *codec) flag(name string, v *bool) {
	switch {
	case c.mode == reading:
		if *v = false; c.next() {
			var err error
			if *v, _, err = c.r.Bool(); err != nil {
				c.keep(false, err)
			}
		}
	case c.mode == writing:
		c.put(amqp.AppendBool(c.dst, *v))
	case *v && name != "":
		c.line.WriteString(" " + name)
	}
}

// mark is a flag that is null for its default of false.
func (c *codec) mark(name string, v *bool) {
	if c.mode == writing && !*v {
		c.null("")
	} else {
		c.flag(name, v)
	}
}

func (c *codec) role(v *Role) {
	role := bool(*v)
	if c.mode == tracing {
		c.line.show("role", *v)
	} else if c.bool("role", &role, nil); c.mode == reading {
		*v = Role(role)
	}
}

// text is traced if it is not empty.
func (c *codec) text(name string, v *string, has *bool) {
	if c.mode != tracing {
		field(c, name, v, has, (*amqp.Reader).Text, amqp.AppendString)
	} else if *v != "" {
		c.line.quote(name, *v)
	}
}

// symbol is traced if it is not empty.
func (c *codec) symbol(name string, v *amqp.Symbol, has *bool) {
	if c.mode != tracing {
		field(c, name, v, has, readSymbol, amqp.AppendSymbol)
	} else if *v != "" {
		c.line.show(name, plain(*v))
	}
}

func readSymbol(r *amqp.Reader) (amqp.Symbol, bool, error) {
	v, ok, err := r.Text()
	return amqp.Symbol(v), ok, err
}

// maybeSymbol is null if it is empty.
func (c *codec) maybeSymbol(name string, v *amqp.Symbol) {
	has := *v != ""
	c.symbol(name, v, &has)
}

// symbols is a field that may hold one symbol or several [AMQP 1.4]. It is written as an array, and read as a lone
// symbol, an array or, from some clients, a list; of symbols or strings.
func (c *codec) symbols(name string, v *[]amqp.Symbol) {
	switch has := *v != nil; c.mode {
	case writing:
		if c.set(&has) {
			c.put(amqp.AppendSymbolArray(c.dst, *v))
		}
	case reading:
		*v = c.readSymbols()
	case tracing:
		c.line.symbols(name, *v)
	}
}

// mustSymbols is symbols that are mandatory: nil is written as an empty array.
func (c *codec) mustSymbols(name string, v *[]amqp.Symbol) {
	if c.mode == writing {
		c.put(amqp.AppendSymbolArray(c.dst, *v))
	} else if c.symbols(name, v); c.mode == reading {
		c.must(*v != nil, name)
	}
}

func (c *codec) readSymbols() []amqp.Symbol {
	var v any
	c.any(&v)
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
			c.fail("symbols", amqp.ErrWrongType)
			return nil
		}
		out = append(out, amqp.Symbol(s))
	}
	return out
}

// binary is null if it is nil. It reads as nil for null, and never as nil for a binary, and is traced in hex.
func (c *codec) binary(name string, v *[]byte) {
	switch has := *v != nil; c.mode {
	case writing:
		if c.set(&has) {
			c.put(amqp.AppendBinary(c.dst, *v))
		}
	case reading:
		var ok bool
		var err error
		if *v = nil; c.next() {
			*v, ok, err = c.r.Bytes()
		}
		c.keep(ok, err)
	case tracing:
		if has {
			c.line.show(name, hex.EncodeToString(*v))
		}
	}
}

// mustBinary is a binary that is mandatory: nil is written as an empty one.
func (c *codec) mustBinary(name string, v *[]byte) {
	if c.mode == writing {
		c.put(amqp.AppendBinary(c.dst, *v))
	} else if c.binary(name, v); c.mode == reading {
		c.must(*v != nil, name)
	}
}

// must makes the field just read mandatory.
func (c *codec) must(ok bool, name string) {
	if c.mode == reading && !ok {
		c.fail(name, ErrMissingField)
	}
}

// mapping is null if it is nil. Of its values, which may be secret, a trace shows nothing.
func (c *codec) mapping(name string, v *amqp.Map) {
	switch c.mode {
	case writing:
		if *v == nil {
			c.put(amqp.AppendNull(c.dst))
		} else {
			c.put(appendAny(c.dst, *v))
		}
	case reading:
		var got any
		var err error
		if c.next() {
			got, err = c.r.Value()
		}
		c.keep(true, err)
		m, ok := got.(amqp.Map)
		if got != nil && !ok {
			c.fail("map", amqp.ErrWrongType)
		}
		*v = m
	case tracing:
		c.line.keys(name, *v)
	}
}

// any is a field of any type. It is not traced.
func (c *codec) any(v *any) {
	switch c.mode {
	case writing:
		c.put(appendAny(c.dst, *v))
	case reading:
		var err error
		if *v = nil; c.next() {
			*v, err = c.r.Value()
		}
		c.keep(true, err)
	case tracing:
	}
}

// appendAny writes a value that was decoded or built from the types of package amqp. For any other value, a mistake of
// the program, it writes null, so that the frame stays well-formed.
func appendAny(dst []byte, v any) []byte {
	out, err := amqp.AppendValue(dst, v)
	if err != nil {
		return amqp.AppendNull(dst)
	}
	return out
}
