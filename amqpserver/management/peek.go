package management

import "minibus/emulator"

// maxPeek is the most messages that one peek returns; clients that want more ask again (PEEK-6).
const maxPeek = 250

// peekMessage serves peek-message: it shows messages from a number on, without touching them. If there are none it
// answers 204 (PEEK-5).
func peekMessage(c *call, a args) error {
	p, err := c.parsePeek(a)
	if err != nil {
		return err
	}
	return c.Queue.Peek(p, c.peeked)
}

func (c *call) parsePeek(a args) (p emulator.Peek, err error) {
	const countKey = "message-count"
	p.Sub = c.Sub
	p.Reserve = c.Reserve
	if p.MaxBytes = c.MaxReplyBytes; p.MaxBytes <= 0 {
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

// peekedSession returns the session that a peek is limited to, or nil: the session that the request names, which need
// not be held, or else that of the associated link (PEEK-7, DEC-19).
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

func (c *call) peeked(ds []*emulator.Delivery, err error) {
	switch {
	case err != nil:
		c.fail(err)
	case len(ds) == 0:
		c.empty()
	default:
		c.messages(ds, false)
	}
}
