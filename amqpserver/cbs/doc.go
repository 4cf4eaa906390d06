// Package cbs answers requests to the $cbs node (claims based security), where a client puts a token for each entity
// before it opens links to it.
//
// It is one pure function from a request message to a response message. The connection's loop in amqpserver calls it,
// routes the response, and keeps the [Grant] for the life of the connection. The caller decides through a [Policy]
// which entities exist and which tokens are good: by default any token is good (DEC-10). Package amqpserver verifies
// tokens in its tokens.go, with package sas.
//
// The package owns no goroutine, keeps no state, and never opens a connection, writes a log or reads the clock.
package cbs
