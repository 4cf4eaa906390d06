// Command capture records what an SDK and a broker say to each other, frame by frame, for the golden vectors of
// internal/amqp/frames/testdata/golden:
//
//	go run ./compat-tests/capture -to localhost:5672 -out FILE            the Go SDK, a scenario of its own
//	go run ./compat-tests/capture -to localhost:5672 -out FILE -- node scenario.mjs
//
// It relays TCP. A command after -- is run with MINIBUS_CONNECTION_STRING pointing at the relay; without one the built-in
// scenario drives azservicebus against the queue "golden". capture.sh records all files anew.
//
// It is run by people. It owns one goroutine for accepting and two per relayed connection, and waits for all of them before
// it writes the file. It never changes a byte of what it relays.
package main
