package management

import (
	"minibus/emulator"
	"minibus/internal/amqp"
)

// maxPeek is the most messages that one peek returns; clients that want more ask again (PEEK-6).
const maxPeek = 250

// peekMessage serves peek-message: it shows messages from a number on, without touching them. If there are none it
// answers 204 (PEEK-5).
func peekMessage(c *call, a args) {
	p, err := c.parsePeek(a)
	if err != nil {
		c.fail(err)
		return
	}
	if err := c.Queue.Peek(p, c.peeked); err != nil {
		c.fail(err)
	}
}

func (c *call) parsePeek(a args) (p emulator.Peek, err error) {
	const countKey = "message-count"
	p.Sub, p.MaxBytes = c.Sub, c.MaxReplyBytes
	if p.MaxBytes <= 0 {
		p.MaxBytes = int(c.Queue.MaxMessageSize())
	}
	if p.From, err = a.int64("from-sequence-number"); err != nil {
		return p, err
	}
	p.From = max(p.From, 0) // PEEK-12
	n, err := a.int64(countKey)
	if err != nil {
		return p, err
	}
	if n <= 0 {
		return p, wrong(countKey, a.get(countKey), "a number greater than 0") // PEEK-12
	}
	p.Max = int(min(n, maxPeek))
	if p.OmitBody, err = a.flag("omit-message-body"); err != nil {
		return p, err
	}
	p.SessionID, err = c.peekedSession(a)
	return p, err
}

// peekedSession returns the session that a peek is limited to, or nil: the session that the request names, which need not be
// held, or else that of the associated link (PEEK-7, DEC-19).
func (c *call) peekedSession(a args) (*string, error) {
	if !c.hasSessions() {
		return nil, nil
	}
	id, named, err := a.text(sessionKey)
	if err != nil {
		return nil, err
	}
	if !named {
		holder := c.linkHolder()
		if holder == nil {
			return nil, nil
		}
		id, _ = holder.SessionID()
	}
	return &id, nil
}

// peeked replies with the messages of a peek.
func (c *call) peeked(msgs [][]byte, err error) {
	if err != nil {
		c.fail(err)
		return
	}
	if len(msgs) == 0 {
		c.empty()
		return
	}
	const perMessage = 32 // the map around each message
	size := 32
	for _, m := range msgs {
		size += perMessage + len(m)
	}
	c.ok(size, func(dst []byte) []byte {
		return appendField(dst, "messages", func(dst []byte) []byte { return appendMessages(dst, msgs) })
	})
}

func appendMessages(dst []byte, msgs [][]byte) []byte {
	dst, list := amqp.BeginList(dst)
	for _, m := range msgs {
		dst = appendField(dst, "message", func(dst []byte) []byte { return amqp.AppendBinary(dst, m) })
	}
	return amqp.EndList(dst, list, len(msgs))
}
