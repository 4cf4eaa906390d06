// Package frames encodes and decodes AMQP 1.0 frames: the frame header, the nine performatives, the five SASL frames,
// and their parts: errors, sources, targets, delivery states and the messages to a transaction coordinator.
//
// The AMQP server's connections use it, and the scripted peers and raw clients of tests. It owns no goroutine and
// keeps no state. The byte slices of a decoded frame (payload, delivery tag, transaction id) alias the bytes of the
// frame and are valid as long as those; its strings are copies.
//
// It writes the dialect that all five official SDKs read: small-ulong descriptors, lists with all their fields,
// null for an unset field, never list0. It reads every legal encoding: trimmed lists, list0, symbolic
// descriptors, integers of any width. It refuses frames without a mandatory field.
//
// It never reads or writes a socket, never enforces protocol state, limits or windows, and never logs.
package frames
