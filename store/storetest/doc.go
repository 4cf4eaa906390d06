// Package storetest proves that a journal keeps the contract of [emulator.Journal].
//
// [Run] is the conformance suite. The store package calls it for databases in files and in memory, and a second
// implementation would call it too. [Memory] is a journal of maps for tests of the domain, with failures on demand.
// The package is for tests only. A Memory owns one goroutine, which lives while there is something to commit.
package storetest
