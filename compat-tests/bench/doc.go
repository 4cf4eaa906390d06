// Command bench is a load generator for any broker that speaks AMQP 1.0:
//
//	go run ./compat-tests/bench -url amqp://localhost:5672 -target queue.1 -mode both -duration 10s -pid $(pgrep minibus)
//	go run ./compat-tests/bench report FILE          the medians of a -json file as a table
//
// Modes: send only, receive only (receive and accept), both at once, latency (send, receive, accept, one message after
// another), sessions (drain sessions in order, with many receivers at once), and idle (hold connections). Messages may carry
// ids, sessions and due times. It prints rates and percentiles as a table, and as JSON with -json; given the process id of a broker on this
// machine also the processor time that a message cost it and its peak of memory.
//
// It is run by people and by compare.sh. It owns two goroutines per sending connection, -inflight goroutines in all for
// receiving, and waits for all of them. It never looks at the broker by any other way than AMQP and /proc.
package main
