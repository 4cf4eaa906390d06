// Package harness builds the minibus binary once per test process and runs it as a child: the black box of the
// compatibility tests.
//
// The tests of compat-tests and the commands soak and bench call it. It owns one goroutine per started server, which waits for the
// child's end. It never looks inside the server: everything it knows comes from the command line, the ports file, the log and HTTP.
package harness
