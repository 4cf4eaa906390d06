// Package cli is the command line: the commands of a client, and what all commands share, which are help, errors with
// a guess, and completion. A client's commands list and change entities, send, peek at, receive and resubmit messages,
// of a Minibus and of a namespace in Azure alike, with Microsoft's SDK for Go; others steer a Minibus by its control
// API.
//
// Package server/command calls [Run] with the command that runs the server and those beside it. cmd/minibus asks the
// error for its exit code. The goroutines are those of the SDK, which end with the connection, and those that complete
// a batch of dead letters, which are waited for. The package starts no server, keeps no state between runs, and writes
// only to its two outputs. Only the output of env, which is for that, has a key; no error has one.
//
// To add a command, write a function that makes it, and list it in addTo (root.go). A test wants a line in
// compat-tests/cli in which it succeeds, one in which it fails, and one that reads its JSON.
package cli
