// Command first measures how long it takes from the start of Minibus to the first message that Azure's client receives. Each round starts a
// fresh Minibus, sends a message and receives it. The times are for docs/performance.md.
//
//	go run ./compat-tests/containers/first                       # docker run minibus
//	go run ./compat-tests/containers/first -binary ./minibus     # the binary
package main
