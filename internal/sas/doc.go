// Package sas knows the two texts that clients of Service Bus carry: connection strings and shared access signatures.
//
// internal/app prints connection strings with it; the front ends check tokens with it. It is pure: no goroutines, no state,
// no network, and it never logs what it is given.
package sas
