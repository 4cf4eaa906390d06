// Package amqp is the AMQP 1.0 type system: it decodes values from a byte slice and appends values to one.
//
// All packages above that touch the wire use it: internal/amqp/frames for performatives,
// internal/amqp/message for message sections, and the protocol adapters for maps and lists in message bodies.
//
// The package owns no goroutine and no state; every function may be called from any goroutine. Decoding accepts each
// encoding that the standard allows [AMQP 1.6]; encoding picks the smallest one. There are two ways to read:
// [Decode] builds Go values, [Reader] walks encoded values in place without allocating.
//
// It never allocates for a count or a size that the input only claims, never recurses deeper than [MaxDepth], never
// panics on any input, never logs and does no I/O. Decoded binaries alias the input; strings are copies.
package amqp
