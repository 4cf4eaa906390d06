package frames

import "minibus/internal/amqp"

// Declared is the outcome of a [Declare]: the transaction's id [AMQP 4.5.5].
type Declared struct {
	TxnID []byte
}

// TransactionalState puts a delivery, or its outcome, under a transaction [AMQP 4.5.6].
type TransactionalState struct {
	TxnID   []byte
	Outcome DeliveryState // nil, *Accepted, *Rejected, *Released or *Modified
}

// Name implements [DeliveryState].
func (*Declared) Name() string { return "declared" }

// Name implements [DeliveryState].
func (*TransactionalState) Name() string { return "transactional-state" }

// AppendTo implements [DeliveryState].
func (s *Declared) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeDeclared)
	return amqp.EndList(amqp.AppendBinary(dst, s.TxnID), m, 1)
}

// AppendTo implements [DeliveryState].
func (s *TransactionalState) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeTransactionalState)
	dst = amqp.AppendBinary(dst, s.TxnID)
	dst = appendState(dst, s.Outcome)
	return amqp.EndList(dst, m, 2)
}

func (s *Declared) decode(f *fields) error {
	s.TxnID = f.bytes()
	f.must(s.TxnID != nil, "txn-id")
	return f.done()
}

func (s *TransactionalState) decode(f *fields) error {
	s.TxnID = f.bytes()
	f.must(s.TxnID != nil, "txn-id")
	s.Outcome = f.outcome()
	return f.done()
}

// ControlMessage is a message from a client to the transaction coordinator: *Declare or *Discharge.
type ControlMessage interface {
	// AppendTo appends the message's only section, an amqp-value, to dst.
	AppendTo(dst []byte) []byte

	decode(f *fields) error
}

// Declare asks for a new transaction [AMQP 4.5.2].
type Declare struct {
	GlobalID any // of a distributed transaction; decoded so that it can be refused
}

// Discharge ends a transaction; with Fail it rolls it back [AMQP 4.5.3].
type Discharge struct {
	TxnID []byte
	Fail  bool
}

// AppendTo implements [ControlMessage].
func (d *Declare) AppendTo(dst []byte) []byte {
	dst, m := begin(amqp.AppendDescriptor(dst, codeAMQPValue), codeDeclare)
	return amqp.EndList(appendAny(dst, d.GlobalID), m, 1)
}

// AppendTo implements [ControlMessage].
func (d *Discharge) AppendTo(dst []byte) []byte {
	dst, m := begin(amqp.AppendDescriptor(dst, codeAMQPValue), codeDischarge)
	dst = amqp.AppendBinary(dst, d.TxnID)
	return amqp.EndList(amqp.AppendBool(dst, d.Fail), m, 2)
}

func (d *Declare) decode(f *fields) error {
	d.GlobalID = f.any()
	return f.done()
}

func (d *Discharge) decode(f *fields) error {
	d.TxnID = f.bytes()
	f.must(d.TxnID != nil, "txn-id")
	d.Fail = f.flag()
	return f.done()
}

// DecodeControl decodes the body of a message to the transaction coordinator, with or without the amqp-value section
// around it. A transaction id aliases body.
func DecodeControl(body []byte) (ControlMessage, error) {
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	if err == nil && code == codeAMQPValue {
		code, err = descriptor(&r)
	}
	if err != nil {
		return nil, wrap("coordinator message", err)
	}
	var c ControlMessage
	var f fields
	switch code {
	case codeDeclare:
		c, f = new(Declare), listFields(&r, "declare")
	case codeDischarge:
		c, f = new(Discharge), listFields(&r, "discharge")
	default:
		return nil, r.Fail("coordinator message", amqp.ErrWrongType)
	}
	if err := c.decode(&f); err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, r.Fail("coordinator message: bytes after it", amqp.ErrMalformed)
	}
	return c, nil
}
