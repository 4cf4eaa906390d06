package management

import (
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// maxPeek is the most messages that one peek returns; clients that want more ask again (PEEK-6).
const maxPeek = 250

// peekMessage serves peek-message: a look at the messages from a number on, without touching them. Nothing there is
// 204 (PEEK-5).
func peekMessage(c *call, a args) {
	from, count, omitBody, err := parsePeek(a)
	if err != nil {
		c.fail(err)
		return
	}
	if err := c.refuseSession(a); err != nil {
		c.fail(err)
		return
	}
	limit := c.MaxReplyBytes
	if limit <= 0 {
		limit = int(c.Queue.MaxMessageSize())
	}
	if err := c.Queue.Peek(c.Sub, from, count, limit, omitBody, c.peeked); err != nil {
		c.fail(err)
	}
}

func parsePeek(a args) (from int64, count int, omitBody bool, err error) {
	const countKey = "message-count"
	if from, err = a.int64("from-sequence-number"); err != nil {
		return 0, 0, false, err
	}
	n, err := a.int64(countKey)
	if err != nil {
		return 0, 0, false, err
	}
	if n <= 0 {
		return 0, 0, false, wrong(countKey, a.get(countKey), "a number greater than 0") // PEEK-12
	}
	omitBody, err = a.flag("omit-message-body")
	return max(from, 0), int(min(n, maxPeek)), omitBody, err
}

// peeked replies with what a peek found.
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

// refuseSession refuses to peek one session of an entity that has sessions: as long as they are not served, an answer
// would mix them all. On an entity without sessions a session-id means nothing and is ignored, as it is in a
// dead-letter queue (DLQ-6).
func (c *call) refuseSession(a args) error {
	id, given, err := a.text("session-id")
	if err != nil || !given || c.Sub != emulator.Main || !c.Queue.Options().RequiresSession {
		return err
	}
	return &emulator.Error{
		Code:   emulator.CodeNotImplemented,
		Entity: c.Queue.Path(),
		Text:   fmt.Sprintf("A peek of the session '%s' is not implemented.", clip(id)),
	}
}
