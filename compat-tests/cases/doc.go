// Package cases is the ledger of behaviours: what clients of the service rely on, and which test proves that with
// Minibus each SDK gets it.
//
// cases.txt lists the behaviours, the clients, and the reasons why some can't be asked of a client. The suites of
// compat-tests name the behaviours that a test proves, and docs/parity.md shows these claims. When the test has
// passed, its suite notes it in a file of the directory that MINIBUS_PARITY names. The command in
// compat-tests/cases/parity renders the page, and compares what a run noted with the claims: each must have been
// proven. The package's own tests need no SDK.
//
// A last column holds what compat-tests/verify saw on Azure, in files that people sent (compat-tests/verify/seen).
//
// The package owns no goroutine and starts nothing.
package cases
