// Package command is the command line of Minibus. It runs the server, and has the commands that look at a server
// from its own machine or at what a server would use: export, cert, hosts, healthcheck, doctor, support-bundle.
// Package cli has the commands of a client.
//
// cmd/minibus calls [Run], which is the whole program except for signals and the exit code. Goroutines: those of
// package server, and one that reads standard input, which ends with the process. The package never calls os.Exit.
// It tunes the garbage collector of the process when it runs a server.
package command
