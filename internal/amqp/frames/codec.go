package frames

import "minibus/internal/amqp"

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
	return codec{input: input{r: items, left: n, name: name, err: wrap(name, err)}}
}

// writer starts a list behind dst.
func writer(dst []byte, code byte) codec {
	dst, list := amqp.BeginList(amqp.AppendDescriptor(dst, code))
	return codec{mode: writing, dst: dst, list: list}
}

// written ends the list and returns the bytes.
func (c *codec) written() []byte { return amqp.EndList(c.dst, c.list, c.count) }

// appendComposite writes a whole composite. The call through the interface moves the codec to the heap.
func appendComposite(dst []byte, code byte, v composite) []byte {
	c := writer(dst, code)
	v.fields(&c)
	return c.written()
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
