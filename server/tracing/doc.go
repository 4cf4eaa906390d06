// Package tracing shows the broker's part in distributed traces: it makes OpenTelemetry spans of what happens to
// messages and sends them to a collector, as OTLP over HTTP.
//
// It reads the record of events that the broker keeps anyway, so nothing waits for it: while the collector is slow or
// gone, events stay in the record, which has a bound, and the oldest are forgotten. A [Tracer] has one goroutine, which
// ends with Close, and remembers a bounded number of messages.
//
// Package server/command starts it behind the flag --otlp; package server does not know it, so that sbtest does not
// link the libraries. It never reads a message.
package tracing
