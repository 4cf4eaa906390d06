// Package message reads and patches encoded messages in place. It finds the sections of a message, reads the few
// properties that the broker needs, and writes the message out again: the properties that the broker owns or changes are
// merged in, the sender's other bytes stay as they were.
//
// The broker's domain calls it for the messages that arrive and that it keeps, the protocol adapters for those that they deliver, peek and
// inspect. The package owns no goroutine and keeps no state. A [Message] and everything read from it alias the raw
// bytes, which must not change while it is in use; it is a value, free to copy.
//
// It never decodes a body, except in [Message.BodyValue] for management requests, never re-encodes one, and does not
// know entities, locks or queues. After [Scan] has accepted a message, patching it cannot fail.
package message
