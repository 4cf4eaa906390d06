// Package storetest tests that a journal keeps the contract of [emulator.Journal].
//
// [Run] is the conformance suite. Package store runs it on databases in files and in memory, and this package on
// [Memory], a journal of maps for tests of the domain, with failures on demand.
// The package is for tests only. A Memory owns one goroutine, which lives while there is something to commit.
package storetest
