// Package frames encodes and decodes AMQP 1.0 frames: the frame header, the nine performatives, the five SASL frames,
// and their parts: errors, sources, targets, delivery states and the messages to a transaction coordinator.
//
// The AMQP server's connections call it, and so do the scripted peers and raw clients of tests. It owns no goroutine and keeps no state. The
// byte slices of a decoded frame (payload, delivery tag, transaction id) alias the bytes it was decoded from and are
// valid as long as those are; its strings are copies.
//
// It writes the dialect that all five official SDKs read: small-ulong descriptors, lists with all their fields,
// null where a field is unset, never list0. It reads every legal encoding: trimmed lists, list0, symbolic
// descriptors, integers of any width. It demands the fields that the standard calls mandatory.
//
// It never reads or writes a socket, never enforces protocol state, limits or windows, and never logs.
package frames
