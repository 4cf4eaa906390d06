package server

import (
	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/server/metrics"
	"minibus/store"
)

// metrics makes the metrics of GET /metrics. They show nothing before ready is set, after which the fields that they
// read no longer change.
func (a *Server) metrics() *metrics.Metrics {
	return metrics.New(metrics.Options{
		Version: Version(),
		Broker: func() *emulator.Broker {
			if !a.ready.Load() {
				return nil
			}
			return a.broker
		},
		AMQP: func() (amqpserver.Stats, bool) {
			if !a.ready.Load() {
				return amqpserver.Stats{}, false
			}
			return a.amqp.Stats(), true
		},
		Store: func() (store.Stats, bool) {
			if !a.ready.Load() {
				return store.Stats{}, false
			}
			return a.store.Stats(), true
		},
	})
}
