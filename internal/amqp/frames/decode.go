package frames

import "minibus/internal/amqp"

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
// an empty body, a heartbeat, it returns nil, nil, nil. The bytes after a transfer are the payload; after any other
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
	if k == nil || !isPerformative(code) {
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
	if err := noPayload(&r, p); err != nil {
		return nil, nil, err
	}
	return p, nil, nil
}

func isPerformative(code uint64) bool { return code <= codeClose || code >= codeMechanisms }

func noPayload(r *amqp.Reader, p Performative) error {
	if r.Len() > 0 {
		return r.Fail(p.Name()+": bytes after it", amqp.ErrMalformed)
	}
	return nil
}
