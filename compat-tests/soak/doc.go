// Command soak loads a Minibus for any length of time, breaks things meanwhile, and compares what is left with a
// ledger:
//
//	go run ./compat-tests/soak -duration 1h             every feature and every fault, with checkpoints
//	go run ./compat-tests/soak -rounds 1000             short lives, ended by kill -9 and SIGTERM in turns
//	go run ./compat-tests/soak -duration 5m -only term  one kind of fault
//
// The client is the official Go SDK, or compat-tests/rawclient where the SDK lacks something (transactions, counting
// what arrives on a broken connection, what JMS clients do). A proxy stands between clients and broker, so that the
// soak can break connections without the help of either. At a checkpoint the load rests. The soak peeks at all stored
// messages, compares them with the ledger, counts them and takes them out; the broker's memory at rest must not have
// grown. It also peeks and compares after each restart.
//
// A finding ends the run with exit code 1; the soak then keeps database, log and ledger in a directory, which it
// prints. It prints a line each half minute, and a summary as JSON at the end.
//
// Developers run it, and a test runs it for half a minute. It owns a goroutine for each worker of the load, one for
// the proxy and two for each proxied connection, one for the child, and short-lived ones that check and drain; it
// waits for all of them. It looks at the broker only through the network, /proc and the log.
//
// Add a new fault to the table in faults.go. Add a new kind of load as a worker in a load_*.go file, started in
// load.go, and say in topology.go where its messages can be.
package main
