package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/store"
)

// defaultMaxEntities is how many entities have series of their own.
const defaultMaxEntities = 500

// Options say where the numbers come from. Each scrape calls the functions, from any goroutine; one that is nil, or
// returns nil or false, has nothing to show yet.
type Options struct {
	Version     string
	MaxEntities int // entities with series of their own; 0: 500
	Broker      func() *emulator.Broker
	AMQP        func() (amqpserver.Stats, bool)
	Store       func() (store.Stats, bool)
}

func (o Options) broker() (*emulator.Broker, bool) {
	if o.Broker == nil {
		return nil, false
	}
	b := o.Broker()
	return b, b != nil
}

// Metrics holds all metrics of a Minibus. Make one with [New]; its methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  prometheus.Histogram
}

// New returns metrics that read their numbers from the options' functions.
func New(o Options) *Metrics {
	if o.MaxEntities <= 0 {
		o.MaxEntities = defaultMaxEntities
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "http_requests_total",
			Help: "HTTP requests that were answered, by method and status.",
		}, []string{"method", "code"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "http_request_duration_seconds",
			Help:    "How long HTTP requests took, waiting for messages included.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 4, 10),
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1; the label says which version this is.",
		ConstLabels: prometheus.Labels{"version": o.Version},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.requests, m.seconds,
		&collector[*emulator.Broker]{ofEntities, o.broker, nil, func(ch chan<- prometheus.Metric, b *emulator.Broker) {
			collectEntities(ch, b, o.MaxEntities)
		}},
		&collector[amqpserver.Stats]{ofAMQP, o.AMQP, amqpNumbers, nil},
		&collector[store.Stats]{ofStore, o.Store, storeNumbers, collectCommits},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers GET /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// ObserveHTTP counts one answered request. Methods unknown to HTTP count as "other".
func (m *Metrics) ObserveHTTP(method string, status int, took time.Duration) {
	m.requests.WithLabelValues(knownMethod(method), strconv.Itoa(status)).Inc()
	m.seconds.Observe(took.Seconds())
}

// knownMethod returns the method, or "other", so that clients can't add series.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions,
		http.MethodPatch:
		return method
	}
	return "other"
}
