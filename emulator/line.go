package emulator

// line is the consumers that wait for a message, in the order in which they granted credit (ORD-4, DEC-27).
// The queue's mutex guards it.
type line struct {
	first, last *Consumer
	promised    int // messages that poked consumers may still come and take
}

func (l *line) pushBack(c *Consumer) {
	c.inLine, c.prev, c.next = true, l.last, nil
	if l.last != nil {
		l.last.next = c
	} else {
		l.first = c
	}
	l.last = c
}

func (l *line) pushFront(c *Consumer) {
	c.inLine, c.prev, c.next = true, nil, l.first
	if l.first != nil {
		l.first.prev = c
	} else {
		l.last = c
	}
	l.first = c
}

func (l *line) remove(c *Consumer) {
	if !c.inLine {
		return
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.last = c.prev
	}
	c.inLine, c.prev, c.next = false, nil, nil
}
