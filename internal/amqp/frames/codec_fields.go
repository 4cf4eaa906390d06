package frames

import (
	"math"

	"minibus/internal/amqp"
)

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
