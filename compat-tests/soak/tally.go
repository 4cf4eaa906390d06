package main

import "sync/atomic"

// tally counts operations.
type tally struct {
	sent, received, settled, deleted, transactions, requests, peeked atomic.Int64
	ids                                                              atomic.Int64
	selected, browsed, replies, rolledBack, volatile                 atomic.Int64 // of the JMS clients
	errors                                                           atomic.Int64 // operations that failed
}
