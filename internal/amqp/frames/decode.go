package frames

import "minibus/internal/amqp"

// Performative is the body of a frame: one of *Open, *Begin, *Attach, *Flow, *Transfer, *Disposition, *Detach, *End and
// *Close on AMQP frames, *SASLMechanisms, *SASLInit, *SASLChallenge, *SASLResponse and *SASLOutcome on SASL frames.
type Performative interface {
	// AppendTo appends the described list, with all fields, to dst.
	AppendTo(dst []byte) []byte
	// Name returns the standard's name.
	Name() string
}

// decodable is implemented by all performatives.
type decodable interface {
	Performative
	decode(f *fields) error
}

// DecodeBody decodes the body of a frame of either type. The caller checks which performatives are allowed
// there. For an empty body, a heartbeat, it returns nil, nil, nil. The bytes after a transfer are the payload; after any other
// performative they are an error. Byte slices in p and payload alias body. Errors wrap those of package amqp (the peer gets
// amqp:decode-error) or [ErrMissingField].
func DecodeBody(body []byte) (p Performative, payload []byte, err error) {
	if len(body) == 0 {
		return nil, nil, nil
	}
	r := amqp.NewReader(body)
	code, err := descriptor(&r)
	if err != nil {
		return nil, nil, wrap("performative", err)
	}
	d := newPerformative(code)
	if d == nil {
		return nil, nil, r.Fail("performative of unknown kind", amqp.ErrMalformed)
	}
	f := listFields(&r, d.Name())
	if err := d.decode(&f); err != nil {
		return nil, nil, err
	}
	if code == codeTransfer {
		return d, r.Rest(), nil
	}
	if err := noPayload(&r, d); err != nil {
		return nil, nil, err
	}
	return d, nil, nil
}

func noPayload(r *amqp.Reader, p Performative) error {
	if r.Len() > 0 {
		return r.Fail(p.Name()+": bytes after it", amqp.ErrMalformed)
	}
	return nil
}

func newPerformative(code uint64) decodable {
	switch code {
	case codeOpen:
		return new(Open)
	case codeBegin:
		return new(Begin)
	case codeAttach:
		return new(Attach)
	case codeFlow:
		return new(Flow)
	case codeTransfer:
		return new(Transfer)
	case codeDisposition:
		return new(Disposition)
	case codeDetach:
		return new(Detach)
	case codeEnd:
		return new(End)
	case codeClose:
		return new(Close)
	}
	return newSASL(code)
}

func newSASL(code uint64) decodable {
	switch code {
	case codeMechanisms:
		return new(SASLMechanisms)
	case codeInit:
		return new(SASLInit)
	case codeChallenge:
		return new(SASLChallenge)
	case codeResponse:
		return new(SASLResponse)
	case codeOutcome:
		return new(SASLOutcome)
	}
	return nil
}
