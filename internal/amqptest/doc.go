// Package amqptest has a scripted AMQP peer and an in-memory connection, for tests only.
//
// [Pipe] makes two buffered connections that work inside a testing/synctest bubble. [Peer] speaks raw frames to
// a server under test, as in a conversation: send one performative, want the next one. When a test
// fails it prints the frames of the conversation.
//
// The package owns no goroutine: a peer reads when its test wants something. A deadline of a connection runs a
// timer's callback. The package never imports a server package, so that all of them can use it.
package amqptest
