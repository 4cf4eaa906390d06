package emulator

// waiter is a consumer's place in the line of a shelf. The queue's mutex guards it.
type waiter struct {
	notify     func() // immutable
	closed     bool   // it takes nothing more
	inLine     bool
	prev, next *waiter
	want       int // how many messages it would take
	promise    int // how many the last poke promised; 0 when it is not poked
}

// line is the consumers that wait for a message, in the order in which they granted credit (ORD-4, DEC-27).
// The queue's mutex guards it.
type line struct {
	first, last *waiter
	promised    int // messages that poked consumers may still come and take
}

func (l *line) pushBack(w *waiter) {
	w.inLine, w.prev, w.next = true, l.last, nil
	if l.last != nil {
		l.last.next = w
	} else {
		l.first = w
	}
	l.last = w
}

func (l *line) pushFront(w *waiter) {
	w.inLine, w.prev, w.next = true, nil, l.first
	if l.first != nil {
		l.first.prev = w
	} else {
		l.last = w
	}
	l.first = w
}

func (l *line) remove(w *waiter) {
	if !w.inLine {
		return
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	w.inLine, w.prev, w.next = false, nil, nil
}
