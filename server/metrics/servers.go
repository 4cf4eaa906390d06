package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"minibus/amqpserver"
	"minibus/store"
)

var (
	ofAMQP      = &families{}
	amqpNumbers = []number[amqpserver.Stats]{
		{ofAMQP.add("amqp_connections", "Open AMQP connections."),
			prometheus.GaugeValue, func(s amqpserver.Stats) int64 { return s.Connections }},
		{ofAMQP.add("amqp_connections_total", "AMQP connections accepted since the start."),
			prometheus.CounterValue, func(s amqpserver.Stats) int64 { return s.ConnectionsTotal }},
		{ofAMQP.add("amqp_links", "Attached AMQP links."),
			prometheus.GaugeValue, func(s amqpserver.Stats) int64 { return s.Links }},
		{ofAMQP.add("amqp_links_total", "AMQP links attached since the start."),
			prometheus.CounterValue, func(s amqpserver.Stats) int64 { return s.LinksTotal }},
	}
)

var (
	ofStore      = &families{}
	storeNumbers = []number[store.Stats]{
		{ofStore.add("store_commits_total", "Transactions committed to the database."),
			prometheus.CounterValue, func(s store.Stats) int64 { return s.Commits }},
		{ofStore.add("store_changes_total", "Changes that were committed; one transaction has many."),
			prometheus.CounterValue, func(s store.Stats) int64 { return s.Changes }},
		{ofStore.add("store_failed_changes_total", "Changes that could not be committed."),
			prometheus.CounterValue, func(s store.Stats) int64 { return s.Failed }},
		{ofStore.add("store_checkpoints_total", "Copies of the write-ahead log into the database file."),
			prometheus.CounterValue, func(s store.Stats) int64 { return s.Checkpoints }},
		{ofStore.add("store_body_reads_total", "Message bodies read back from the database."),
			prometheus.CounterValue, func(s store.Stats) int64 { return s.BodyReads }},
	}
	storeSeconds = ofStore.add("store_commit_duration_seconds",
		"How long transactions took, from the first change to the end of the commit.")
)

// collectCommits shows how long commits took.
func collectCommits(ch chan<- prometheus.Metric, s store.Stats) {
	buckets := make(map[float64]uint64, len(s.CommitTimes.Buckets))
	var n uint64
	for i, bound := range s.CommitTimes.Bounds {
		n += uint64(s.CommitTimes.Buckets[i])
		buckets[bound.Seconds()] = n
	}
	n += uint64(s.CommitTimes.Buckets[len(s.CommitTimes.Bounds)])
	ch <- prometheus.MustNewConstHistogram(storeSeconds, n, s.CommitTimes.Sum.Seconds(), buckets)
}
