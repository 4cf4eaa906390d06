package frames

import (
	"encoding/hex"

	"minibus/internal/amqp"
)

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
		c.any(&got)
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
