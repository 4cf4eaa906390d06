// Package metrics shows what a running Minibus does in the format of Prometheus.
//
// Package server makes one [Metrics], gives its handler to mgmt (GET /metrics) and its observer to the HTTP server. Everything
// about messages is counted where it happens, by the broker, the AMQP server and the store, in plain numbers; this package
// reads them when it is scraped. So a message's path pays for no label, no map and no lock of the library's.
//
// It owns no goroutine, and it never changes anything. How many entities have series of their own is bounded; the totals
// count them all.
package metrics
