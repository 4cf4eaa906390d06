// Command capture records the traffic of an SDK and a broker, frame by frame, for the golden vectors of
// internal/amqp/frames/testdata/golden:
//
//	go run ./compat-tests/capture -to localhost:5672 -out FILE            the Go SDK, a scenario of its own
//	go run ./compat-tests/capture -to localhost:5672 -out FILE -- node scenario.mjs
//
// It relays TCP. It runs the command after -- with MINIBUS_CONNECTION_STRING pointing at the relay; without a command its own
// scenario drives azservicebus against the queue "golden". capture.sh records all files again.
//
// Developers run it. It owns one goroutine for accepting and two per relayed connection, and waits for all of them before
// it writes the file. It never changes a byte that it relays.
package main
