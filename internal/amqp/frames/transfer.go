package frames

import "minibus/internal/amqp"

// Transfer carries a message or a part of one [AMQP 2.7.5]. It does not hold the payload, which follows it in the frame.
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

// AppendTo implements [Performative]. It allocates nothing when dst has room and State is nil.
func (t *Transfer) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeTransfer)
	dst = amqp.AppendUint(dst, t.Handle)
	dst = appendUint(dst, t.DeliveryID, t.HasDeliveryID)
	dst = appendBinary(dst, t.DeliveryTag)
	dst = appendUint(dst, t.MessageFormat, t.HasMessageFormat)
	if t.HasSettled || t.Settled {
		dst = amqp.AppendBool(dst, t.Settled)
	} else {
		dst = amqp.AppendNull(dst)
	}
	dst = amqp.AppendBool(dst, t.More)
	dst = appendUbyte(dst, t.RcvSettleMode, t.HasRcvSettleMode)
	dst = appendState(dst, t.State)
	dst = appendFlag(dst, t.Resume)
	dst = appendFlag(dst, t.Aborted)
	dst = amqp.AppendBool(dst, t.Batchable)
	return amqp.EndList(dst, m, 11)
}

// IsTransfer reports whether the frame body holds a transfer, so that the reader can use [Transfer.Decode] on it.
func IsTransfer(body []byte) bool {
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	return err == nil && code == codeTransfer
}

// Decode decodes a frame body that holds a transfer into t, overwriting all of it, and returns the payload. It allocates
// nothing if there is no delivery state. The delivery tag and the payload alias body.
func (t *Transfer) Decode(body []byte) (payload []byte, err error) {
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	if err != nil {
		return nil, wrap("transfer", err)
	}
	if code != codeTransfer {
		return nil, r.Fail("transfer", amqp.ErrWrongType)
	}
	f := listFields(&r, "transfer")
	if err := t.decode(&f); err != nil {
		return nil, err
	}
	return r.Rest(), nil
}

func (t *Transfer) decode(f *fields) error {
	var ok bool
	t.Handle, ok = f.uint32()
	f.must(ok, "handle")
	t.DeliveryID, t.HasDeliveryID = f.uint32()
	t.DeliveryTag = f.bytes()
	t.MessageFormat, t.HasMessageFormat = f.uint32()
	t.Settled, t.HasSettled = f.bool()
	t.More = f.flag()
	t.RcvSettleMode, t.HasRcvSettleMode = f.uint8()
	t.State = f.state()
	t.Resume = f.flag()
	t.Aborted = f.flag()
	t.Batchable = f.flag()
	return f.done()
}
