// Package archtest tests the architecture: which package may import which, which package may use which library, in
// which order the chapters of the domain stand, how long a file may be, that links in the pages work, and that
// docs/rules.md explains the sections that comments cite.
//
// It has no code of its own, no importers and no goroutine. Its tests ask the go command for the imports of
// every package of the module; they never use the network and never change a file.
package archtest
