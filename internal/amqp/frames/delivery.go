package frames

import "minibus/internal/amqp"

// Transfer carries a message or a part of one [AMQP 2.7.5]. It does not hold the payload, which follows it in the
// frame.
type Transfer struct {
	Handle           uint32
	DeliveryID       uint32
	HasDeliveryID    bool
	DeliveryTag      []byte // nil is null; a decoded tag aliases the frame
	MessageFormat    uint32
	HasMessageFormat bool
	Settled          bool
	HasSettled       bool
	More             bool
	RcvSettleMode    uint8
	HasRcvSettleMode bool
	State            DeliveryState
	Resume           bool
	Aborted          bool
	Batchable        bool
}

// Name implements [Performative].
func (t *Transfer) Name() string { return "transfer" }

// AppendTo implements [Performative]. It allocates nothing when dst has room and State is nil. A transfer is written
// for each delivery, so it does without the codec, which takes four times as long.
func (t *Transfer) AppendTo(dst []byte) []byte {
	dst, list := amqp.BeginList(amqp.AppendDescriptor(dst, codeTransfer))
	dst = amqp.AppendUint(dst, t.Handle)
	dst = optional(dst, t.DeliveryID, t.HasDeliveryID, amqp.AppendUint)
	dst = optional(dst, t.DeliveryTag, t.DeliveryTag != nil, amqp.AppendBinary)
	dst = optional(dst, t.MessageFormat, t.HasMessageFormat, amqp.AppendUint)
	dst = optional(dst, t.Settled, t.HasSettled || t.Settled, amqp.AppendBool)
	dst = amqp.AppendBool(dst, t.More)
	dst = optional(dst, t.RcvSettleMode, t.HasRcvSettleMode, amqp.AppendUbyte)
	if t.State != nil {
		dst = t.State.AppendTo(dst)
	} else {
		dst = amqp.AppendNull(dst)
	}
	dst = optional(dst, t.Resume, t.Resume, amqp.AppendBool)
	dst = optional(dst, t.Aborted, t.Aborted, amqp.AppendBool)
	dst = amqp.AppendBool(dst, t.Batchable)
	return amqp.EndList(dst, list, 11)
}

func optional[T any](dst []byte, v T, has bool, write func([]byte, T) []byte) []byte {
	if !has {
		return amqp.AppendNull(dst)
	}
	return write(dst, v)
}

// IsTransfer reports whether the frame body holds a transfer, so that the reader can use [Transfer.Decode] on it.
func IsTransfer(body []byte) bool {
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	return err == nil && code == codeTransfer
}

// Decode decodes a frame body that holds a transfer into t, overwriting all of it, and returns the payload. It
// allocates nothing if there is no delivery state. The delivery tag and the payload alias body.
func (t *Transfer) Decode(body []byte) (payload []byte, err error) {
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	if err != nil {
		return nil, wrap("transfer", err)
	}
	if code != codeTransfer {
		return nil, r.Fail("transfer", amqp.ErrWrongType)
	}
	c := reader(&r, "transfer")
	t.fields(&c)
	if err := c.done(); err != nil {
		return nil, err
	}
	return r.Rest(), nil
}

func (t *Transfer) fields(c *codec) {
	c.uint32("handle", &t.Handle, nil)
	c.uint32("delivery-id", &t.DeliveryID, &t.HasDeliveryID)
	c.binary("delivery-tag", &t.DeliveryTag)
	c.uint32("message-format", &t.MessageFormat, &t.HasMessageFormat)
	has := t.HasSettled || t.HasDeliveryID // the first frame of a delivery decides it, even by leaving it out
	if c.bool("settled", &t.Settled, &has); c.mode == reading {
		t.HasSettled = has
	}
	c.flag("more", &t.More)
	c.uint8("", &t.RcvSettleMode, &t.HasRcvSettleMode)
	c.state(&t.State)
	c.mark("resume", &t.Resume)
	c.mark("aborted", &t.Aborted)
	c.flag("", &t.Batchable)
}

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

// DeliveryState is the state of a delivery at one end; nil is null. It is one of *Received, *Accepted, *Rejected,
// *Released, *Modified [AMQP 3.4], *Declared and *TransactionalState [AMQP 4.5].
type DeliveryState interface {
	// AppendTo appends the described list to dst.
	AppendTo(dst []byte) []byte
	// Name returns the standard's name.
	Name() string

	composite
}

// Received says how much of a message has arrived [AMQP 3.4.1].
type Received struct {
	SectionNumber uint32
	SectionOffset uint64
}

// Accepted says that the message was processed [AMQP 3.4.2].
type Accepted struct{}

// Rejected says that the message is invalid [AMQP 3.4.3]; Service Bus dead-letters it.
type Rejected struct {
	Error *Error
}

// Released says that the message was not processed and may be delivered again [AMQP 3.4.4].
type Released struct{}

// Modified says that the message was not processed and is to be changed [AMQP 3.4.5].
type Modified struct {
	DeliveryFailed     bool
	UndeliverableHere  bool
	MessageAnnotations amqp.Map
}

// Name implements [DeliveryState].
func (*Received) Name() string { return "received" }

// Name implements [DeliveryState].
func (*Accepted) Name() string { return "accepted" }

// Name implements [DeliveryState].
func (*Rejected) Name() string { return "rejected" }

// Name implements [DeliveryState].
func (*Released) Name() string { return "released" }

// Name implements [DeliveryState].
func (*Modified) Name() string { return "modified" }

// AppendTo implements [DeliveryState].
func (s *Received) AppendTo(dst []byte) []byte { return appendComposite(dst, codeReceived, s) }

// AppendTo implements [DeliveryState].
func (s *Accepted) AppendTo(dst []byte) []byte {
	return append(amqp.AppendDescriptor(dst, codeAccepted), emptyList...)
}

// AppendTo implements [DeliveryState].
func (s *Rejected) AppendTo(dst []byte) []byte { return appendComposite(dst, codeRejected, s) }

// AppendTo implements [DeliveryState].
func (s *Released) AppendTo(dst []byte) []byte {
	return append(amqp.AppendDescriptor(dst, codeReleased), emptyList...)
}

// AppendTo implements [DeliveryState]. A DeliveryFailed of false is written as null, as the service does.
func (s *Modified) AppendTo(dst []byte) []byte { return appendComposite(dst, codeModified, s) }

// emptyList is the list of a state without fields: a list8 with its size and its count.
var emptyList = []byte{amqp.CodeList8, 1, 0}

func (s *Received) fields(c *codec) {
	c.uint32("section-number", &s.SectionNumber, nil)
	c.uint64("section-offset", &s.SectionOffset, nil)
}

func (s *Accepted) fields(*codec) {}

func (s *Rejected) fields(c *codec) { c.error(&s.Error) }

func (s *Released) fields(*codec) {}

func (s *Modified) fields(c *codec) {
	c.mark("delivery-failed", &s.DeliveryFailed)
	c.flag("undeliverable-here", &s.UndeliverableHere)
	c.mapping("message-annotations", &s.MessageAnnotations)
}
