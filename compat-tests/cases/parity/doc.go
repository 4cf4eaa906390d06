// Command parity keeps docs/parity.md, the page that shows which behaviours of the service each SDK gets from Minibus:
//
//	go run ./compat-tests/cases/parity              render the page anew, after the tests that it links to have moved
//	go run ./compat-tests/cases/parity -merge DIR   take over what a run of the suites noted in DIR (MINIBUS_PARITY), and render
//	go run ./compat-tests/cases/parity -check DIR   fail unless a run of all suites noted what the page says
//	go run ./compat-tests/cases/parity -oldest -check DIR   the same for the oldest releases of the SDKs
//
// MINIBUS_DOTNET_SDK=none says that neither .NET nor the suite of its SDK is there, and that -check must not ask for it.
//
// It is run by people and by continuous integration, and owns no goroutine.
package main
