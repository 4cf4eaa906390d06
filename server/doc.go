// Package server puts Minibus together. It binds the ports, starts HTTP, which answers 503 until everything is ready, opens the store
// and the broker over it, makes the entities, and serves AMQP last. [Server.Close] takes everything down in the opposite order.
//
// cmd/minibus calls [Run], which is the whole program except for signals and the exit code. sbtest calls [Start], which is the
// same without a command line: a running instance in this process.
//
// Goroutines: one for each listener and for the pipe in memory, one for each of the two servers. [Server.Close] ends all of them and
// everything that they started, and waits.
//
// The package has no behaviour of Service Bus; it only knows the order in which things start. It never calls os.Exit. It
// changes no state of the process, except that [Run] tunes the garbage collector and Settings.User changes the user.
package server
