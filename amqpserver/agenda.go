package amqpserver

// pumper is a link that sends; the loop calls it when it may have something to send.
type pumper interface {
	// pump sends at most a bounded quantum and reports whether it could go on at once.
	pump() (more bool)
	// queued marks that the link stands in agenda.runnable.
	queued() *bool
}

// agenda holds what the end of a connection's turn has to do.
type agenda struct {
	runnable []pumper    // links that may have something to send
	awaiting []*outgoing // links that wait for room that other links of their session have taken
	dirty    []*session  // with outcomes to write
}

func (a *agenda) run(p pumper) {
	if q := p.queued(); !*q {
		*q = true
		a.runnable = append(a.runnable, p)
	}
}

func (a *agenda) mark(s *session) {
	if !s.dirty {
		s.dirty = true
		a.dirty = append(a.dirty, s)
	}
}

// flush writes the outcomes that this turn has collected.
func (a *agenda) flush() {
	for _, s := range a.dirty {
		s.dirty = false
		s.flushOutcomes()
	}
	clear(a.dirty)
	a.dirty = a.dirty[:0]
}

// resumeAwaiting lets links try again that wait for room that other links of their session have taken. It does so in every turn, for
// that room can come back in many ways: each is an event, causes one by being written, or resumes the links itself.
func (a *agenda) resumeAwaiting() {
	for i, o := range a.awaiting {
		o.resume()
		a.awaiting[i] = nil
	}
	a.awaiting = a.awaiting[:0]
}

// pump lets each link that may have something to send do so once, in turn (DEC-27). A link that could go on goes to the
// end of the line.
func (a *agenda) pump() {
	waiting := a.runnable
	a.runnable = nil
	for i, p := range waiting {
		*p.queued() = false
		if p.pump() {
			a.run(p)
		}
		waiting[i] = nil
	}
	if a.runnable == nil {
		a.runnable = waiting[:0]
	}
}

func (a *agenda) drop() { a.runnable, a.awaiting = nil, nil }
