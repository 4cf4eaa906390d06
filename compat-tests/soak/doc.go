// Command soak loads a Minibus for as long as one likes, breaks things meanwhile, and compares what is left with a ledger:
//
//	go run ./compat-tests/soak -duration 1h             every feature and every fault, with checkpoints
//	go run ./compat-tests/soak -rounds 1000             short lives, ended by kill -9 and SIGTERM in turns
//	go run ./compat-tests/soak -duration 5m -only term  one kind of fault
//
// The official Go SDK is the client, and compat-tests/rawclient where it can't do a thing: transactions, and counting what a
// broken connection still brought. A proxy stands between clients and broker, so that connections can be broken without
// either's help. At a checkpoint the load rests, everything that is stored is peeked at, compared with the ledger, counted,
// and taken out; the broker's memory at rest must not have grown. After each restart everything is peeked at and compared.
//
// A finding ends the run with exit code 1, and database, log and ledger stay where it says. A line is printed each half
// minute, a summary as JSON at the end.
//
// People run it, and a test runs it for half a minute. It owns a goroutine for each worker of the load, two for each proxied
// connection, and one for the child; it waits for all of them. It never looks into the broker by any other way than the
// network, /proc and the log.
//
// A new fault goes into the table in faults.go. A new kind of load is a worker in a load_*.go file, started in load.go; where its
// messages can be is said in topology.go.
package main
