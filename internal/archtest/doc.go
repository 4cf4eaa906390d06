// Package archtest holds the architecture as tests: which package may import which, which package may use which library, in which
// order the chapters of the domain stand, how long a file may be, that the pages link to what exists, and that they explain what
// comments cite.
//
// It has no code of its own, no importers and no goroutine. Its tests ask the go command for the imports of
// every package of the module; they never look at the network and never change a file.
package archtest
