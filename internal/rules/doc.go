// Command rules prints which test proves which rule, one rule a line:
//
//	go run ./internal/rules            every rule that a test names, and the claimed ones that no test names
//	go run ./internal/rules LOCK DC-7  only these groups or rules
//
// A test names a rule by carrying its id, without the dash, in its name: TestLOCK4_RenewSetsNowPlusDuration, or several:
// TestSCHED2_SCHED3_CancelledNeverArrives. docs/rules.md lists the rules that Minibus claims to implement. The exit status is 1
// when a claimed rule has no test, and this package's own test fails then as well.
//
// People and continuous integration run it. It owns no goroutine and never changes a file.
package main
