// Package storetest tests that a store keeps the contracts of [emulator.Journal] and [emulator.Store].
//
// [Run] is the conformance suite of a journal, [RunStore] that of a store with several namespaces. Package store runs
// them on databases in files and in memory, and this package on [Memory], a store of maps for tests of the domain,
// with failures on demand. The package is for tests only. A Memory owns one goroutine, which lives while there is
// something to commit.
package storetest
