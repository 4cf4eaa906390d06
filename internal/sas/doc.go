// Package sas reads and makes the credentials of Service Bus: connection strings, and shared access signatures
// (tokens). A [Ring] of keys verifies tokens.
//
// Package server makes the ring and prints connection strings; the front ends (amqpserver, mgmt) ask the ring; export
// makes tokens. The package has no goroutine and no network, and the ring is safe for concurrent use. It logs
// nothing, and no error holds a key or a signature.
package sas
