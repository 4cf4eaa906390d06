// Package harness builds the minibus binary once per test process and runs it as a child, for black-box
// tests.
//
// The tests of compat-tests and the commands soak and bench use it. It owns one goroutine per started server, which waits for the
// child's end. It never looks inside the server: all its knowledge comes from the command line, the ports file, the log, HTTP and /proc.
package harness
