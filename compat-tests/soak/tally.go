package main

import "sync/atomic"

// tally counts operations.
type tally struct {
	sent, received, settled, deleted, transactions, requests, peeked atomic.Int64
	ids                                                              atomic.Int64
	errors                                                           atomic.Int64 // operations that failed
}
