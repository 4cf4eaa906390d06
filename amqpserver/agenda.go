package amqpserver

// runnable is a link that sends; the loop calls it when it may have something to send.
type runnable interface {
	// pump sends at most a bounded quantum and reports whether it could go on at once.
	pump() (more bool)
	// inRunQueue marks that the link stands in agenda.runnable.
	inRunQueue() *bool
}

// runQueue holds what the end of a connection's turn has to do.
type runQueue struct {
	runnable []runnable      // links that may have something to send
	blocked  []*outgoingLink // links that wait for room that other links of their session have taken
	dirty    []*session      // with outcomes to write
}

func (a *runQueue) add(p runnable) {
	if q := p.inRunQueue(); !*q {
		*q = true
		a.runnable = append(a.runnable, p)
	}
}

func (a *runQueue) markDirty(s *session) {
	if !s.dirty {
		s.dirty = true
		a.dirty = append(a.dirty, s)
	}
}

// flushOutcomes writes the outcomes that this turn has collected.
func (a *runQueue) flushOutcomes() {
	for _, s := range a.dirty {
		s.dirty = false
		s.flushOutcomes()
	}
	clear(a.dirty)
	a.dirty = a.dirty[:0]
}

// resumeBlocked lets links try again that wait for room that other links of their session have taken. It does so in every turn, for
// that room can come back in many ways: each is an event, causes one by being written, or resumes the links itself.
func (a *runQueue) resumeBlocked() {
	for i, o := range a.blocked {
		o.resume()
		a.blocked[i] = nil
	}
	a.blocked = a.blocked[:0]
}

// pump lets each link that may have something to send do so once, in turn (DEC-27). A link that could go on goes to the
// end of the line.
func (a *runQueue) pump() {
	waiting := a.runnable
	a.runnable = nil
	for i, p := range waiting {
		*p.inRunQueue() = false
		if p.pump() {
			a.add(p)
		}
		waiting[i] = nil
	}
	if a.runnable == nil {
		a.runnable = waiting[:0]
	}
}

func (a *runQueue) drop() { a.runnable, a.blocked = nil, nil }
