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
func (s *Declared) AppendTo(dst []byte) []byte { return appendComposite(dst, codeDeclared, s) }

// AppendTo implements [DeliveryState].
func (s *TransactionalState) AppendTo(dst []byte) []byte {
	return appendComposite(dst, codeTransactionalState, s)
}

func (s *Declared) fields(c *codec) { c.mustBinary("txn-id", &s.TxnID) }

func (s *TransactionalState) fields(c *codec) {
	c.mustBinary("txn-id", &s.TxnID)
	c.outcome(&s.Outcome)
}

// ControlMessage is a message from a client to the transaction coordinator: *Declare or *Discharge.
type ControlMessage interface {
	// AppendTo appends the message's only section, an amqp-value, to dst.
	AppendTo(dst []byte) []byte

	composite
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
	return appendComposite(amqp.AppendDescriptor(dst, codeAMQPValue), codeDeclare, d)
}

// AppendTo implements [ControlMessage].
func (d *Discharge) AppendTo(dst []byte) []byte {
	return appendComposite(amqp.AppendDescriptor(dst, codeAMQPValue), codeDischarge, d)
}

func (d *Declare) fields(c *codec) { c.any(&d.GlobalID) }

func (d *Discharge) fields(c *codec) {
	c.mustBinary("txn-id", &d.TxnID)
	c.flag("fail", &d.Fail)
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
	if code != codeDeclare && code != codeDischarge {
		return nil, r.Fail("coordinator message", amqp.ErrWrongType)
	}
	k := kindOf(code)
	c := reader(&r, k.name)
	m := k.empty().(ControlMessage)
	m.fields(&c)
	if err := c.done(); err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, r.Fail("coordinator message: bytes after it", amqp.ErrMalformed)
	}
	return m, nil
}
