// Package metrics shows what a running Minibus does, in the format of Prometheus.
//
// Package server makes one [Metrics], and gives its handler and its observer to mgmt: GET /metrics, and the HTTP requests. The broker,
// the AMQP server and the store count messages themselves, in plain numbers; this package
// reads those when it is scraped. So a message's path pays for no label, no map and no lock of the library's.
//
// The package owns no goroutine and changes nothing. It bounds how many entities have series of their own; the totals
// count all of them.
package metrics
