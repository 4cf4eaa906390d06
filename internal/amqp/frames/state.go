package frames

import "minibus/internal/amqp"

// accepted and released have no fields and can't be changed, so all deliveries share them.
var (
	accepted = new(Accepted)
	released = new(Released)
)

// newState returns an empty state for a descriptor code, or nil.
func newState(code uint64) DeliveryState {
	switch code {
	case codeAccepted:
		return accepted
	case codeReleased:
		return released
	case codeRejected:
		return new(Rejected)
	case codeModified:
		return new(Modified)
	case codeReceived:
		return new(Received)
	case codeDeclared:
		return new(Declared)
	case codeTransactionalState:
		return new(TransactionalState)
	}
	return nil
}

// state reads a delivery state.
func (f *fields) state() DeliveryState {
	code, r, ok := f.composite()
	if !ok {
		return nil
	}
	return f.stateOf(code, &r)
}

// outcome reads the outcome in a transactional state, one of the four of [AMQP 3.4]. A transactional state
// inside another would be recursion that the peer controls.
func (f *fields) outcome() DeliveryState {
	code, r, ok := f.composite()
	if !ok {
		return nil
	}
	switch code {
	case codeAccepted, codeReleased, codeRejected, codeModified:
		return f.stateOf(code, &r)
	}
	f.fail("outcome of unknown kind", amqp.ErrWrongType)
	return nil
}

func (f *fields) stateOf(code uint64, r *amqp.Reader) DeliveryState {
	if code == codeAccepted || code == codeReleased {
		// Most dispositions are these. A call through the interface would move the fields to the heap.
		sub := listFields(r, "outcome")
		f.keep(true, sub.done())
		return newState(code)
	}
	s := newState(code)
	if s == nil {
		f.fail("delivery state of unknown kind", amqp.ErrWrongType)
		return nil
	}
	sub := listFields(r, s.Name())
	if !f.keep(true, s.decode(&sub)) {
		return nil
	}
	return s
}
