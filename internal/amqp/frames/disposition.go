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
	dst, m := begin(dst, codeDisposition)
	dst = amqp.AppendBool(dst, bool(d.Role))
	dst = amqp.AppendUint(dst, d.First)
	dst = appendUint(dst, d.Last, d.HasLast)
	dst = amqp.AppendBool(dst, d.Settled)
	dst = appendState(dst, d.State)
	dst = appendFlag(dst, d.Batchable)
	return amqp.EndList(dst, m, 6)
}

// Decode decodes a frame body that holds a disposition into d, overwriting all of it. It allocates nothing for accepted and
// released states.
func (d *Disposition) Decode(body []byte) error {
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	if err != nil {
		return wrap("disposition", err)
	}
	if code != codeDisposition {
		return r.Fail("disposition", amqp.ErrWrongType)
	}
	f := listFields(&r, "disposition")
	if err := d.decode(&f); err != nil {
		return err
	}
	return noPayload(&r, d)
}

func (d *Disposition) decode(f *fields) error {
	role, ok := f.bool()
	f.must(ok, "role")
	d.Role = Role(role)
	d.First, ok = f.uint32()
	f.must(ok, "first")
	d.Last, d.HasLast = f.uint32()
	d.Settled = f.flag()
	d.State = f.state()
	d.Batchable = f.flag()
	return f.done()
}
