package frames

import "minibus/internal/amqp"

// Disposition tells the other side the state of a range of deliveries [AMQP 2.7.6]. Without HasLast the range is First
// alone.
type Disposition struct {
	Role      Role // of the sender of the frame
	First     uint32
	Last      uint32
	HasLast   bool
	Settled   bool
	State     DeliveryState
	Batchable bool
}

// Name implements [Performative].
func (d *Disposition) Name() string { return "disposition" }

// AppendTo implements [Performative].
func (d *Disposition) AppendTo(dst []byte) []byte {
	c := writer(dst, codeDisposition)
	d.fields(&c)
	return amqp.EndList(c.dst, c.list, c.count)
}

// Decode decodes a frame body that holds a disposition into d, overwriting all of it. It allocates nothing for
// accepted and released states.
func (d *Disposition) Decode(body []byte) error {
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	if err != nil {
		return wrap("disposition", err)
	}
	if code != codeDisposition {
		return r.Fail("disposition", amqp.ErrWrongType)
	}
	c := reader(&r, "disposition")
	d.fields(&c)
	if err := c.done(); err != nil {
		return err
	}
	if r.Len() > 0 {
		return r.Fail("disposition: bytes after it", amqp.ErrMalformed)
	}
	return nil
}

func (d *Disposition) fields(c *codec) {
	has := true // settled is always written, but may be missing when read
	c.role(&d.Role)
	c.uint32("first", &d.First, nil)
	c.uint32("last", &d.Last, &d.HasLast)
	c.bool("settled", &d.Settled, &has)
	c.state(&d.State)
	c.mark("", &d.Batchable)
}
