package frames

import "minibus/internal/amqp"

// Detach ends a link, or with Closed false only suspends it [AMQP 2.7.7].
type Detach struct {
	Handle uint32
	Closed bool
	Error  *Error
}

// Name implements [Performative].
func (d *Detach) Name() string { return "detach" }

// AppendTo implements [Performative].
func (d *Detach) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeDetach)
	dst = amqp.AppendUint(dst, d.Handle)
	dst = amqp.AppendBool(dst, d.Closed)
	dst = appendError(dst, d.Error)
	return amqp.EndList(dst, m, 3)
}

func (d *Detach) decode(f *fields) error {
	var ok bool
	d.Handle, ok = f.uint32()
	f.must(ok, "handle")
	d.Closed = f.flag()
	d.Error = f.error()
	return f.done()
}

// End ends the session of its frame's channel [AMQP 2.7.8].
type End struct {
	Error *Error
}

// Name implements [Performative].
func (e *End) Name() string { return "end" }

// AppendTo implements [Performative].
func (e *End) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeEnd)
	return amqp.EndList(appendError(dst, e.Error), m, 1)
}

func (e *End) decode(f *fields) error {
	e.Error = f.error()
	return f.done()
}

// Close ends the connection [AMQP 2.7.9].
type Close struct {
	Error *Error
}

// Name implements [Performative].
func (c *Close) Name() string { return "close" }

// AppendTo implements [Performative].
func (c *Close) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeClose)
	return amqp.EndList(appendError(dst, c.Error), m, 1)
}

func (c *Close) decode(f *fields) error {
	c.Error = f.error()
	return f.done()
}
