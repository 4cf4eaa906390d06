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
