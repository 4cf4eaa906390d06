package frames

import (
	"bytes"
	"slices"

	"minibus/internal/amqp"
)

// Performative is the body of a frame: one of *Open, *Begin, *Attach, *Flow, *Transfer, *Disposition, *Detach, *End and
// *Close on AMQP frames, *SASLMechanisms, *SASLInit, *SASLChallenge, *SASLResponse and *SASLOutcome on SASL frames.
type Performative interface {
	// AppendTo appends the described list, with all fields, to dst.
	AppendTo(dst []byte) []byte
	// Name returns the standard's name.
	Name() string

	composite
}

// DecodeBody decodes the body of a frame of either type. The caller checks which performatives are allowed there. For
// an empty body, a heartbeat, it returns nothing. The bytes after a transfer are the payload; after any other
// performative they are an error. Byte slices in p and payload alias body. Errors wrap those of package amqp (the
// peer gets amqp:decode-error) or [ErrMissingField].
func DecodeBody(body []byte) (p Performative, payload []byte, err error) {
	if len(body) == 0 {
		return nil, nil, nil
	}
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	if err != nil {
		return nil, nil, wrap("performative", err)
	}
	k := kindOf(code)
	if k == nil || code > codeClose && code < codeMechanisms { // a composite, but no performative
		return nil, nil, r.Fail("performative of unknown kind", amqp.ErrMalformed)
	}
	p = k.empty().(Performative)
	c := reader(&r, k.name)
	p.fields(&c)
	if err := c.done(); err != nil {
		return nil, nil, err
	}
	if code == codeTransfer {
		return p, r.Rest(), nil
	}
	if r.Len() > 0 {
		return nil, nil, r.Fail(k.name+": bytes after it", amqp.ErrMalformed)
	}
	return p, nil, nil
}

// Descriptor codes [AMQP 2.7, 2.8, 3.4, 3.5, 4.5, 5.3.3].
const (
	codeOpen        = 0x10
	codeBegin       = 0x11
	codeAttach      = 0x12
	codeFlow        = 0x13
	codeTransfer    = 0x14
	codeDisposition = 0x15
	codeDetach      = 0x16
	codeEnd         = 0x17
	codeClose       = 0x18
	codeError       = 0x1d

	codeReceived = 0x23
	codeAccepted = 0x24
	codeRejected = 0x25
	codeReleased = 0x26
	codeModified = 0x27
	codeSource   = 0x28
	codeTarget   = 0x29

	codeCoordinator        = 0x30
	codeDeclare            = 0x31
	codeDischarge          = 0x32
	codeDeclared           = 0x33
	codeTransactionalState = 0x34

	codeMechanisms = 0x40
	codeInit       = 0x41
	codeChallenge  = 0x42
	codeResponse   = 0x43
	codeOutcome    = 0x44

	codeAMQPValue = 0x77 // the message section around declare and discharge
)

// unknownCode stands for a descriptor that this package does not know.
const unknownCode = ^uint64(0)

// A kind is a kind of composite.
type kind struct {
	code  uint64
	name  string // in the symbolic descriptor: amqp:name:list
	empty func() composite
}

// kinds has all kinds, in the order of their codes.
var kinds = []kind{
	{codeOpen, "open", func() composite { return new(Open) }},
	{codeBegin, "begin", func() composite { return new(Begin) }},
	{codeAttach, "attach", func() composite { return new(Attach) }},
	{codeFlow, "flow", func() composite { return new(Flow) }},
	{codeTransfer, "transfer", func() composite { return new(Transfer) }},
	{codeDisposition, "disposition", func() composite { return new(Disposition) }},
	{codeDetach, "detach", func() composite { return new(Detach) }},
	{codeEnd, "end", func() composite { return new(End) }},
	{codeClose, "close", func() composite { return new(Close) }},
	{codeError, "error", func() composite { return new(Error) }},
	{codeReceived, "received", func() composite { return new(Received) }},
	{codeAccepted, "accepted", func() composite { return accepted }},
	{codeRejected, "rejected", func() composite { return new(Rejected) }},
	{codeReleased, "released", func() composite { return released }},
	{codeModified, "modified", func() composite { return new(Modified) }},
	{codeSource, "source", func() composite { return new(Source) }},
	{codeTarget, "target", func() composite { return new(Target) }},
	{codeCoordinator, "coordinator", func() composite { return new(Coordinator) }},
	{codeDeclare, "declare", func() composite { return new(Declare) }},
	{codeDischarge, "discharge", func() composite { return new(Discharge) }},
	{codeDeclared, "declared", func() composite { return new(Declared) }},
	{codeTransactionalState, "transactional-state", func() composite { return new(TransactionalState) }},
	{codeMechanisms, "sasl-mechanisms", func() composite { return new(SASLMechanisms) }},
	{codeInit, "sasl-init", func() composite { return new(SASLInit) }},
	{codeChallenge, "sasl-challenge", func() composite { return new(SASLChallenge) }},
	{codeResponse, "sasl-response", func() composite { return new(SASLResponse) }},
	{codeOutcome, "sasl-outcome", func() composite { return new(SASLOutcome) }},
}

// accepted and released have no fields and can't be changed, so all deliveries share them.
var (
	accepted = new(Accepted)
	released = new(Released)
)

// kindOf returns nil for a code that is not a composite's.
func kindOf(code uint64) *kind {
	for i := range kinds {
		if kinds[i].code == code {
			return &kinds[i]
		}
	}
	return nil
}

// descriptor reads a descriptor, translating the symbolic form.
func descriptor(r *amqp.Reader) (uint64, error) {
	code, name, err := r.Descriptor()
	if name != nil && err == nil {
		code = codeOf(name)
	}
	return code, err
}

// codeOf returns the code of a symbolic descriptor. The conversions do not allocate.
func codeOf(symbol []byte) uint64 {
	if string(symbol) == "amqp:amqp-value:*" {
		return codeAMQPValue
	}
	name, isAMQP := bytes.CutPrefix(symbol, []byte("amqp:"))
	name, isList := bytes.CutSuffix(name, []byte(":list"))
	for i := range kinds {
		if isAMQP && isList && kinds[i].name == string(name) {
			return kinds[i].code
		}
	}
	return unknownCode
}

// nested writes or traces a field that is a composite.
func (c *codec) nested(code byte, v composite) {
	if c.mode == writing {
		c.put(appendComposite(c.dst, code, v))
	} else {
		v.fields(&codec{mode: tracing, line: c.line})
	}
}

// null writes a null. A trace shows it if it has a name.
func (c *codec) null(name string) {
	if c.mode == writing {
		c.put(amqp.AppendNull(c.dst))
	} else {
		c.line.show(name, "null")
	}
}

// The codes that may stand where a composite is expected. An outcome [AMQP 3.4] is the state in a transactional
// state: another transactional state there would be recursion that the peer controls.
var (
	errorCodes   = []uint64{codeError}
	sourceCodes  = []uint64{codeSource}
	targetCodes  = []uint64{codeTarget, codeCoordinator}
	outcomeCodes = []uint64{codeAccepted, codeReleased, codeRejected, codeModified}
	stateCodes   = append([]uint64{codeReceived, codeDeclared, codeTransactionalState}, outcomeCodes...)
)

// readNested reads a field that is a composite of one of the codes. It returns nil for null.
func (c *codec) readNested(what string, codes []uint64) composite {
	if !c.next() {
		return nil
	}
	r := c.r
	code, err := descriptor(&r)
	if err == nil {
		err = c.r.Skip()
	}
	if !c.keep(true, err) {
		return nil
	}
	if !slices.Contains(codes, code) {
		c.fail(what+" of unknown kind", amqp.ErrWrongType)
		return nil
	}
	k := kindOf(code)
	v := k.empty()
	if code == codeAccepted || code == codeReleased {
		// Most dispositions are these. A call through the interface would move the codec to the heap.
		sub := reader(&r, "outcome")
		c.keep(true, sub.done())
		return v
	}
	sub := reader(&r, k.name)
	v.fields(&sub)
	c.keep(true, sub.done())
	return v
}

// error is null if it is nil.
func (c *codec) error(v **Error) {
	switch {
	case c.mode == reading:
		*v, _ = c.readNested("error", errorCodes).(*Error)
	case *v == nil:
		c.null("")
	case c.mode == writing:
		c.nested(codeError, *v)
	default:
		c.line.quote("error", (*v).Error())
	}
}

// source is null if it is nil. The trace shows that, because it means a refused link.
func (c *codec) source(v **Source) {
	switch {
	case c.mode == reading:
		*v, _ = c.readNested("source", sourceCodes).(*Source)
	case *v == nil:
		c.null("source")
	default:
		c.nested(codeSource, *v)
	}
}

// target is a target or a coordinator. It is traced like a source.
func (c *codec) target(v **Target, coordinator **Coordinator) {
	switch {
	case c.mode == reading:
		got := c.readNested("target", targetCodes)
		*v, _ = got.(*Target)
		*coordinator, _ = got.(*Coordinator)
	case *coordinator != nil:
		c.nested(codeCoordinator, *coordinator)
	case *v == nil:
		c.null("target")
	default:
		c.nested(codeTarget, *v)
	}
}

// state is any delivery state.
func (c *codec) state(v *DeliveryState) {
	switch {
	case c.mode == reading:
		*v, _ = c.readNested("delivery state", stateCodes).(DeliveryState)
	case *v == nil:
		c.null("")
	case c.mode == writing:
		c.put((*v).AppendTo(c.dst))
	default:
		c.line.show("state", (*v).Name())
		(*v).fields(&codec{mode: tracing, line: c.line})
	}
}

func (c *codec) outcome(v *DeliveryState) {
	if c.mode == reading {
		*v, _ = c.readNested("outcome", outcomeCodes).(DeliveryState)
	} else {
		c.state(v)
	}
}
