// Package frames encodes and decodes AMQP 1.0 frames: the frame header, the nine performatives, the five SASL frames,
// and what they carry: errors, sources, targets, delivery states and the messages to a transaction coordinator.
//
// The AMQP server's connections call it, as do scripted peers in tests. It owns no goroutine and keeps no state; a
// decoded frame's byte slices (payload, delivery tag, transaction id) alias the bytes it was decoded from and are
// valid as long as those are, its strings are copies.
//
// What it writes is the dialect that all five official SDKs read: small-ulong descriptors, lists with all their fields,
// null where a field is unset, never list0. What it reads is every legal encoding: trimmed lists, list0, symbolic
// descriptors, integers of any width. Fields that the standard calls mandatory are demanded.
//
// It never reads or writes a socket, never enforces protocol state, limits or windows, and never logs.
package frames
