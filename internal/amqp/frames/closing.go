package frames

// Detach ends a link, or with Closed false only suspends it [AMQP 2.7.7].
type Detach struct {
	Handle uint32
	Closed bool
	Error  *Error
}

// Name implements [Performative].
func (d *Detach) Name() string { return "detach" }

// AppendTo implements [Performative].
func (d *Detach) AppendTo(dst []byte) []byte { return appendComposite(dst, codeDetach, d) }

func (d *Detach) fields(c *codec) {
	has := true // closed is always written, but may be missing when read
	c.uint32("handle", &d.Handle, nil)
	c.bool("closed", &d.Closed, &has)
	c.error(&d.Error)
}

// End ends the session of its frame's channel [AMQP 2.7.8].
type End struct {
	Error *Error
}

// Name implements [Performative].
func (e *End) Name() string { return "end" }

// AppendTo implements [Performative].
func (e *End) AppendTo(dst []byte) []byte { return appendComposite(dst, codeEnd, e) }

func (e *End) fields(c *codec) { c.error(&e.Error) }

// Close ends the connection [AMQP 2.7.9].
type Close struct {
	Error *Error
}

// Name implements [Performative].
func (e *Close) Name() string { return "close" }

// AppendTo implements [Performative].
func (e *Close) AppendTo(dst []byte) []byte { return appendComposite(dst, codeClose, e) }

func (e *Close) fields(c *codec) { c.error(&e.Error) }
