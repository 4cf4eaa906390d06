package amqpserver

import (
	"sync/atomic"
	"time"
	"unicode/utf8"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/dotnet"
)

// Keys of link properties that concern session receivers.
const (
	keyTimeout     = "com.microsoft:timeout"          // how long to wait for a session, ms
	keyLockedUntil = "com.microsoft:locked-until-utc" // end of the session's lock, .NET ticks
)

// acceptWait is how long a client waits for the next session if it names no timeout (SESS-8).
const acceptWait = 65 * time.Second

// sessionFilter says which session a receiver wants (amqp-data-plane 4.3).
type sessionFilter struct {
	id         string
	next       bool // any available one: the value was null. The empty string is an id (SESS-34)
	described  bool
	descriptor any // of the value, if it had one; the answer needs the same form, or one client can't read it
}

// readSessionFilter returns the session filter of an attach, nil if there is none.
func readSessionFilter(filters amqp.Map) (*sessionFilter, error) {
	v, ok := filters.Get(keySessionFilter)
	if !ok {
		return nil, nil
	}
	f := new(sessionFilter)
	if d, ok := v.(amqp.Described); ok {
		if id, ok := splitID(d); ok {
			return &sessionFilter{id: id}, nil
		}
		f.described = true
		f.descriptor = d.Descriptor
		v = d.Value
	}
	if v == nil {
		f.next = true
		return f, nil
	}
	if f.id, ok = amqp.AsString(v); !ok {
		return nil, linkErrorf(amqp.CondInvalidField, "The filter '%s' must be a string or null.", keySessionFilter)
	}
	return f, nil
}

// splitID puts together a session id of two characters that older versions of one client encode as a described value,
// the first character as the descriptor of the second (amqp-data-plane 10, trap 38).
func splitID(d amqp.Described) (id string, ok bool) {
	first, ok1 := amqp.AsString(d.Descriptor)
	second, ok2 := amqp.AsString(d.Value)
	if !ok1 || !ok2 || utf8.RuneCountInString(first) != 1 || utf8.RuneCountInString(second) != 1 {
		return "", false
	}
	return first + second, true
}

// value returns the filter of the answer: the id of the locked session, in the form of the question.
func (f *sessionFilter) value(id string) any {
	if f.described {
		return amqp.Described{Descriptor: f.descriptor, Value: id}
	}
	return id
}

// sessionAccept holds a session receiver's wait for its session, and the form of the answer.
type sessionAccept struct {
	filter  *sessionFilter
	cancel  func()                            // ends the wait; nil for a session that was named
	timer   *time.Timer                       // on the real clock (DEC-35)
	granted atomic.Pointer[emulator.Consumer] // set under the queue's mutex; does not change after cancel
}

// openSession locks a session for the link: a named session at once or not at all (SESS-6, SESS-7), the next one as
// soon as one is available (SESS-8).
func (o *outgoingLink) openSession(a *frames.Attach, f *sessionFilter, mode emulator.ReceiveMode) error {
	if o.node.sub != emulator.Main {
		const text = "A dead-letter queue has no sessions; attach without a session filter."
		return amqpError{condition: amqp.CondNotAllowed, text: text, entity: o.entity(), ends: endsLink} // DLQ-6
	}
	o.accept = &sessionAccept{filter: f}
	// The domain says that the session is lost from any goroutine, under the queue's mutex (SESS-15).
	lost := func(err error) { o.detachSoon(err, o.queue) }
	accept := emulator.Accept{Mode: mode, Notify: o.notify, Lost: lost, Client: o.client()}
	var err error
	if !f.next {
		o.consumer, err = o.queue.Sessions().Accept(f.id, accept)
		return err
	}
	c := o.s.c
	o.accept.cancel, err = o.queue.Sessions().AcceptNext(accept, func(consumer *emulator.Consumer) {
		o.accept.granted.Store(consumer)
		c.post(o.sessionGranted)
	})
	if err != nil {
		return err
	}
	o.opening = a
	wait := acceptWait
	v, _ := a.Properties.Get(keyTimeout)
	if ms, ok := amqp.AsUint32(v); ok {
		wait = time.Duration(ms) * time.Millisecond
	}
	o.accept.timer = time.AfterFunc(wait, func() { c.post(o.sessionTimedOut) })
	return nil
}

// sessionGranted answers the attach of a client that waited for a session.
func (o *outgoingLink) sessionGranted() {
	if o.released || o.opening == nil {
		return // the client gave up; release has taken care of the session
	}
	a := o.opening
	o.opening = nil
	o.accept.timer.Stop()
	o.consumer = o.accept.granted.Load()
	o.touch()
	o.answer(a)
	o.due = true
	o.s.c.runQueue.add(o)
}

// sessionTimedOut tells a client that it has waited in vain. It does not get a session that becomes available later
// (SESS-9).
func (o *outgoingLink) sessionTimedOut() {
	if o.released || o.opening == nil || o.accept.granted.Load() != nil {
		return // the answer is given, or on its way
	}
	o.detach(amqpError{condition: amqp.CondTimeout, entity: o.entity(),
		text: "The operation did not complete within the allotted time: no session was available to be accepted."})
}

// cancelAccept ends a wait, and frees a session that was granted meanwhile.
func (o *outgoingLink) cancelAccept() {
	w := o.accept
	if w == nil || w.cancel == nil {
		return
	}
	w.timer.Stop()
	w.cancel()
	if c := w.granted.Load(); c != nil && o.consumer == nil {
		c.Close()
	}
}

// describeSession adds to the answer the id of the locked session and the end of its lock.
func (o *outgoingLink) describeSession(answer *frames.Attach) {
	id, _ := o.consumer.SessionID()
	answer.Source.Filter = amqp.Map{{Key: amqp.Symbol(keySessionFilter), Value: o.accept.filter.value(id)}}
	until := dotnet.OfUnixMilli(o.consumer.SessionLockedUntil())
	answer.Properties = amqp.Map{{Key: amqp.Symbol(keyLockedUntil), Value: until}}
}

// lockError returns the error for a client that settles a delivery after its lock has ended. If the link has lost its
// session, the error is about the session's lock (SESS-15).
func (o *outgoingLink) lockError(err error) error {
	if o.accept == nil || amqpErrorOf(err).condition != amqp.CondMessageLockLost {
		return err
	}
	if lost := o.consumer.HoldsSession(); lost != nil {
		return lost
	}
	return err
}
