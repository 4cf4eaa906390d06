// Package metrics shows what a running Minibus does, in the format of Prometheus.
//
// Package server makes one [Metrics], and gives its handler, for GET /metrics, and its observer of HTTP requests to
// mgmt. The broker, the AMQP server and the store count messages themselves, in plain numbers, which this package
// reads when it is scraped. So a message's path pays for no label, map or lock of the library.
//
// The package owns no goroutine and changes nothing. It bounds how many entities have series of their own; the
// totals count all of them.
package metrics
