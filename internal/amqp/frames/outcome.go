package frames

import "minibus/internal/amqp"

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
