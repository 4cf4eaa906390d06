// Package sas knows what clients of Service Bus show to prove who they are: connection strings, and shared access signatures
// (tokens). A [Ring] of keys verifies tokens.
//
// Package server prints connection strings with it and makes the ring; the front ends (amqpserver, mgmt) ask the ring. There
// are no goroutines and no network, the ring is safe for concurrent use, and nothing here logs what it is given: errors
// never hold a key or a signature.
package sas
