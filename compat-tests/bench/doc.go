// Command bench is a load generator for any broker that speaks AMQP 1.0:
//
//	go run ./compat-tests/bench -url amqp://localhost:5672 -target queue.1 -mode both -duration 10s -pid $(pgrep -x minibus)
//	go run ./compat-tests/bench fairness             a light client beside every heavy one
//	go run ./compat-tests/bench report FILE          tables of a -json file, and whether Minibus reaches its aims
//	go run ./compat-tests/bench echo                 a server for mode echo: it prints its -url
//
// Modes: send, receive (receive and accept), both at once, latency (send, receive, accept, one message after another),
// sessions (drain sessions in order, with many receivers at once), idle (hold connections), and echo (what the machine
// itself takes for one thing after another, without a broker). Messages may have ids, sessions and due times. It
// prints rates and percentiles as a table, and as JSON with -json. With the process id of a broker on this machine it
// also prints the broker's processor time for each message, how often its threads waited, how much they wrote, and its
// peak memory; with the address of HTTP of a Minibus, also commits and memory allocated.
//
// Developers, compare.sh, features.sh and topics.sh run it. It owns two goroutines per sending connection and -inflight goroutines in all for
// receiving, and waits for all of them. It looks at the broker only through AMQP, /proc
// and, if told to, /metrics.
package main
