// Command parity keeps docs/parity.md, the page that shows which behaviours of the service each SDK gets from Minibus:
//
//	go run ./compat-tests/cases/parity              render the page anew from what the suites claim
//	go run ./compat-tests/cases/parity -check DIR   fail unless a run of all suites noted all of that in DIR (MINIBUS_PARITY)
//	go run ./compat-tests/cases/parity -oldest -check DIR   the same for the oldest releases of the SDKs
//
// MINIBUS_DOTNET_SDK=none says that neither .NET nor the suite of its SDK is there, and that -check must not ask for it.
//
// It is run by people and by continuous integration, and owns no goroutine.
package main
