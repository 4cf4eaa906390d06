// Package message reads and patches encoded messages in place. It finds the sections of a message, reads the few
// properties that the broker needs, and writes the message out again: it merges in the properties that the broker
// owns or changes, and leaves the sender's other bytes as they were.
//
// The domain uses it for messages that arrive and that it keeps, the protocol adapters for messages that they
// deliver, peek and inspect. The package owns no goroutine and keeps no state. A [Message] and everything read from
// it alias the raw bytes, which must not change while it is in use. A Message is a value and may be copied.
//
// It never re-encodes a body, decodes one only in [Message.BodyValue] for management requests, and does not
// know entities, locks or queues. After [Scan] has accepted a message, patching it cannot fail.
package message
