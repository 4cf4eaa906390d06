// Package server puts Minibus together: it reads the configuration, binds the ports, opens the store and the broker over it,
// puts the AMQP and HTTP servers in front, and takes everything down again in the opposite order.
//
// cmd/minibus calls [Run], which is the whole program but for signals and the exit code. sbtest calls [Start], which is the
// same without a command line: a running instance in this process.
//
// Goroutines: one per bound port, one per server; [Server.Close] ends all of them and everything they started, and waits.
//
// The package holds no behaviour of Service Bus; it only knows in which order things come up. It never calls os.Exit and
// touches no state of the process except where [Run] says so (memory tuning, privileges).
package server
