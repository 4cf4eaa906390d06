package frames

import "minibus/internal/amqp"

// DeliveryState is the state of a delivery at one end; nil is null. It is one of *Received, *Accepted, *Rejected,
// *Released, *Modified [AMQP 3.4], *Declared and *TransactionalState [AMQP 4.5].
type DeliveryState interface {
	// AppendTo appends the described list to dst.
	AppendTo(dst []byte) []byte
	// Name returns the standard's name.
	Name() string

	decode(f *fields) error
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
func (s *Received) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeReceived)
	dst = amqp.AppendUint(dst, s.SectionNumber)
	dst = amqp.AppendUlong(dst, s.SectionOffset)
	return amqp.EndList(dst, m, 2)
}

// AppendTo implements [DeliveryState].
func (s *Accepted) AppendTo(dst []byte) []byte { return appendEmpty(dst, codeAccepted) }

// AppendTo implements [DeliveryState].
func (s *Rejected) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeRejected)
	return amqp.EndList(appendError(dst, s.Error), m, 1)
}

// AppendTo implements [DeliveryState].
func (s *Released) AppendTo(dst []byte) []byte { return appendEmpty(dst, codeReleased) }

// AppendTo implements [DeliveryState]. A DeliveryFailed of false is written as null, as the service does.
func (s *Modified) AppendTo(dst []byte) []byte {
	dst, m := begin(dst, codeModified)
	dst = appendFlag(dst, s.DeliveryFailed)
	dst = amqp.AppendBool(dst, s.UndeliverableHere)
	dst = appendMap(dst, s.MessageAnnotations)
	return amqp.EndList(dst, m, 3)
}

// appendEmpty writes a state without fields as an empty list8.
func appendEmpty(dst []byte, code byte) []byte {
	return append(amqp.AppendDescriptor(dst, code), amqp.CodeList8, 1, 0)
}

func (s *Received) decode(f *fields) error {
	var ok bool
	s.SectionNumber, ok = f.uint32()
	f.must(ok, "section-number")
	s.SectionOffset, ok = f.uint64()
	f.must(ok, "section-offset")
	return f.done()
}

func (s *Accepted) decode(f *fields) error { return f.done() }

func (s *Rejected) decode(f *fields) error {
	s.Error = f.error()
	return f.done()
}

func (s *Released) decode(f *fields) error { return f.done() }

func (s *Modified) decode(f *fields) error {
	s.DeliveryFailed = f.flag()
	s.UndeliverableHere = f.flag()
	s.MessageAnnotations = f.mapping()
	return f.done()
}
