package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// newDesc describes a metric of Minibus.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("minibus_"+name, help, labels, nil)
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, v int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v int64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
}

// amqpCollector shows the AMQP server.
type amqpCollector struct{ o Options }

var (
	amqpConnections      = newDesc("amqp_connections", "Open AMQP connections.")
	amqpConnectionsTotal = newDesc("amqp_connections_total", "AMQP connections accepted since the start.")
	amqpLinks            = newDesc("amqp_links", "Attached AMQP links.")
	amqpLinksTotal       = newDesc("amqp_links_total", "AMQP links attached since the start.")
)

// Describe implements [prometheus.Collector].
func (c *amqpCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{amqpConnections, amqpConnectionsTotal, amqpLinks, amqpLinksTotal} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *amqpCollector) Collect(ch chan<- prometheus.Metric) {
	if c.o.AMQP == nil {
		return
	}
	s, ok := c.o.AMQP()
	if !ok {
		return
	}
	gauge(ch, amqpConnections, s.Connections)
	counter(ch, amqpConnectionsTotal, s.ConnectionsTotal)
	gauge(ch, amqpLinks, s.Links)
	counter(ch, amqpLinksTotal, s.LinksTotal)
}

// storeCollector shows the journal.
type storeCollector struct{ o Options }

var (
	storeCommits     = newDesc("store_commits_total", "Transactions committed to the database.")
	storeChanges     = newDesc("store_changes_total", "Changes that were committed; one transaction has many.")
	storeFailed      = newDesc("store_failed_changes_total", "Changes that could not be committed.")
	storeCheckpoints = newDesc("store_checkpoints_total", "Copies of the write-ahead log into the database file.")
	storeBodyReads   = newDesc("store_body_reads_total", "Message bodies read back from the database.")
	storeSeconds     = newDesc("store_commit_duration_seconds", "How long transactions took, from the first change to the end of the commit.")
)

// Describe implements [prometheus.Collector].
func (c *storeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{storeCommits, storeChanges, storeFailed, storeCheckpoints, storeBodyReads, storeSeconds} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *storeCollector) Collect(ch chan<- prometheus.Metric) {
	if c.o.Store == nil {
		return
	}
	s, ok := c.o.Store()
	if !ok {
		return
	}
	counter(ch, storeCommits, s.Commits)
	counter(ch, storeChanges, s.Changes)
	counter(ch, storeFailed, s.Failed)
	counter(ch, storeCheckpoints, s.Checkpoints)
	counter(ch, storeBodyReads, s.BodyReads)
	buckets := make(map[float64]uint64, len(s.CommitTimes.Buckets))
	var n uint64
	for i, bound := range s.CommitTimes.Bounds {
		n += uint64(s.CommitTimes.Buckets[i])
		buckets[bound.Seconds()] = n
	}
	n += uint64(s.CommitTimes.Buckets[len(s.CommitTimes.Bounds)])
	ch <- prometheus.MustNewConstHistogram(storeSeconds, n, s.CommitTimes.Sum.Seconds(), buckets)
}
