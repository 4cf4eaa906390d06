package metrics

import "github.com/prometheus/client_golang/prometheus"

// namespace begins the name of every metric of Minibus.
const namespace = "minibus"

// families are the metrics of one collector. add names each once, and Describe describes them.
type families struct{ all []*prometheus.Desc }

// add makes a metric.
func (f *families) add(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	f.all = append(f.all, d)
	return d
}

// Describe implements [prometheus.Collector].
func (f *families) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range f.all {
		ch <- d
	}
}

// number is a metric that shows one number of S.
type number[S any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(S) int64
}

// collector collects the metrics of a server: its numbers, and what more shows.
type collector[S any] struct {
	*families
	stats   func() (S, bool) // see [Options]
	numbers []number[S]
	more    func(chan<- prometheus.Metric, S) // nil: nothing
}

// Collect implements [prometheus.Collector].
func (c *collector[S]) Collect(ch chan<- prometheus.Metric) {
	if c.stats == nil {
		return
	}
	s, ok := c.stats()
	if !ok {
		return
	}
	for _, n := range c.numbers {
		show(ch, n.kind, n.desc, n.of(s))
	}
	if c.more != nil {
		c.more(ch, s)
	}
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, v int64, labels ...string) {
	show(ch, prometheus.CounterValue, d, v, labels...)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v int64, labels ...string) {
	show(ch, prometheus.GaugeValue, d, v, labels...)
}

func show(ch chan<- prometheus.Metric, kind prometheus.ValueType, d *prometheus.Desc, v int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, kind, float64(v), labels...)
}
