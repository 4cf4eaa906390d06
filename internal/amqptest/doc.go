// Package amqptest is for tests only: a scripted AMQP peer and an in-memory connection.
//
// [Pipe] is a pair of buffered connections that work inside a testing/synctest bubble. [Peer] speaks raw frames to
// a server under test, in the manner of a conversation: send one performative, want the next one. When a test
// fails the frames of the conversation are printed, when it passes nothing is.
//
// The package owns no goroutine: a peer reads when its test wants something. It never imports a server package, so that
// any of them can use it.
package amqptest
