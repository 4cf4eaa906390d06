// Command rules prints which tests prove which rule, one rule a line:
//
//	go run ./internal/rules            every rule that a test names, and the claimed ones that no test names
//	go run ./internal/rules LOCK DC-7  only these groups or rules
//
// A test names a rule by its id, without the dash, in the test's name: TestLOCK4_RenewSetsNowPlusDuration. It may
// name several: TestSCHED2_SCHED3_CancelledNeverArrives. docs/rules.md lists the rules that Minibus claims to
// implement. The exit status is 1 if a claimed rule has no test; this package's own test fails then, too.
//
// Developers and continuous integration run it. It owns no goroutine and never changes a file.
package main
