// Package cli is the part of the command line that is a client: it lists and changes entities, sends, peeks at, receives and
// resubmits messages, of a Minibus and of a namespace in Azure alike. It uses the official SDK and nothing that only Minibus has.
//
// Package server calls [Run] for the commands that [Handles] knows. cmd/minibus asks the error for its exit code. The goroutines are
// those of the SDK, which end with the connection, and those that complete a batch of dead letters, which are waited for. It starts no
// server, keeps no state between runs, and writes only to its two outputs. Only the output of
// env, which is for that, has a key; no error has one.
package cli
