package management

import (
	"strings"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// dispositions has the words of update-disposition. The clients write "defered"; the documentation has both spellings.
var dispositions = map[string]emulator.Outcome{
	"completed": emulator.Complete,
	"abandoned": emulator.Abandon,
	"defered":   emulator.Defer,
	"deferred":  emulator.Defer,
	"suspended": emulator.DeadLetterOutcome,
}

// updateDisposition serves update-disposition: it settles by lock token, from any link or connection (LOCK-9), all
// tokens or none (LOCK-15). A token is enough without a session-id; a session that the request names must be held by
// this connection (DEF-9, DEF-13, SESS-14).
func updateDisposition(c *call, a args) error {
	tokens, err := a.tokens("lock-tokens")
	if err != nil {
		return err
	}
	settlement, err := parseSettlement(a)
	if err != nil {
		return err
	}
	if _, err := c.holder(a); err != nil {
		return err
	}
	c.Fault.TakeLocks(c.Queue, tokens)
	if c.Tx != nil {
		c.finish(c.Tx.Settle(c.Queue, tokens, settlement))
		return nil
	}
	return c.Queue.Settle(tokens, settlement, emulator.By(c.Client, emulator.CompletionFunc(c.finish)))
}

func parseSettlement(a args) (emulator.Settlement, error) {
	const key = "disposition-status"
	var s emulator.Settlement
	word, _, err := a.text(key)
	if err != nil {
		return s, err
	}
	var known bool
	if s.Outcome, known = dispositions[strings.ToLower(word)]; !known {
		return s, wrong(key, a.get(key), "completed, abandoned, suspended or defered")
	}
	properties, err := modifiedProperties(a, s.Outcome)
	if err != nil || s.Outcome == emulator.Complete {
		return s, err // a completed message is gone, and its properties with it (LOCK-14)
	}
	if s.Properties, err = message.EncodeProperties(properties); err != nil {
		return s, argumentError("The argument 'properties-to-modify' cannot be stored: %v.", err)
	}
	return s, nil
}

// modifiedProperties returns the properties to merge into the message. For a dead-lettering these include reason and
// description, if given (DLQ-8); their own arguments win over properties of the same names.
func modifiedProperties(a args, o emulator.Outcome) (amqp.Map, error) {
	given, err := a.properties("properties-to-modify")
	if err != nil || o != emulator.DeadLetterOutcome {
		return given, err
	}
	for _, r := range []struct{ key, property string }{
		{"deadletter-reason", emulator.DeadLetterReason},
		{"deadletter-description", emulator.DeadLetterErrorDescription},
	} {
		text, ok, err := a.text(r.key)
		if err != nil {
			return nil, err
		}
		if ok {
			given = set(given, r.property, text)
		}
	}
	return given, nil
}

// properties returns a map of application properties with string keys, or nil if it is absent or empty. If a key
// occurs twice, the last one counts.
func (a args) properties(key string) (amqp.Map, error) {
	v := a.get(key)
	if v == nil {
		return nil, nil
	}
	m, ok := v.(amqp.Map)
	if !ok {
		return nil, wrong(key, v, "a map")
	}
	if len(m) > maxProperties {
		return nil, argumentError("The argument '%s' has %d entries; at most %d are allowed.",
			key, len(m), maxProperties)
	}
	var plain amqp.Map
	for _, p := range m {
		name, ok := amqp.AsString(p.Key)
		if !ok {
			return nil, argumentError("A key of the argument '%s' is %s; expected a string.", key, found(p.Key))
		}
		if message.Compound(p.Value) {
			return nil, wrong(key+"."+clip(name), p.Value, "a simple value")
		}
		plain = set(plain, name, p.Value)
	}
	return plain, nil
}

// maxProperties bounds the properties that one settlement changes. All headers of a message are at most
// 64 KB (QUO-8), so real clients stay far below.
const maxProperties = 1_000

func set(m amqp.Map, name string, value any) amqp.Map {
	for i := range m {
		if m[i].Key == name {
			m[i].Value = value
			return m
		}
	}
	return append(m, amqp.Pair{Key: name, Value: value})
}

// renewLock serves renew-lock: every lock gets a whole lock duration from now, or none does (LOCK-4 to LOCK-6). For
// messages of a session nothing changes, and the reply has the end of the session's lock (SESS-21). A rollback does not
// undo a renewal in a transaction, and after the end of the transaction a renewal fails.
func renewLock(c *call, a args) error {
	tokens, err := a.tokens("lock-tokens")
	if err != nil {
		return err
	}
	c.Fault.TakeLocks(c.Queue, tokens)
	var untils []int64
	if c.Tx != nil {
		untils, err = c.Tx.Renew(c.Queue, tokens)
	} else {
		untils, err = c.Queue.Renew(tokens, c.Client)
	}
	if err != nil {
		return err
	}
	expirations := make([]amqp.Timestamp, len(untils))
	for i, ms := range untils {
		expirations[i] = amqp.Timestamp(ms)
	}
	c.okField(32+8*len(untils), "expirations", func(dst []byte) []byte {
		return amqp.AppendTimestampArray(dst, expirations)
	})
	return nil
}
