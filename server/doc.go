// Package server puts Minibus together. It binds the ports, starts HTTP, which answers 503 until everything is
// ready, opens the store and the broker over it, makes the entities, and serves AMQP last. [Server.Close] takes
// everything down in the opposite order.
//
// Package server/command calls [Start] for the program, sbtest for a test: each gets a running instance in this
// process. What links a command line or a client library belongs to the former, so that sbtest compiles neither.
//
// Goroutines: one for each listener and for the pipe in memory, one for each of the two servers. [Server.Close] ends
// all of them and everything that they started, and waits.
//
// The package has no behaviour of Service Bus; it only knows the order in which things start. It never calls
// os.Exit. It changes no state of the process, except that Settings.User changes the user.
package server
