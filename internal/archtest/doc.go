// Package archtest holds the architecture as tests: which package may import which, who may use which library, and how
// long a file may be.
//
// It has no code of its own and nobody imports it. It owns no goroutine. Its tests ask the go command for the imports of
// every package of the module; they never look at the network and never change a file.
package archtest
