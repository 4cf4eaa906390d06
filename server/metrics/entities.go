package metrics

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"minibus/emulator"
)

// entityCollector collects the metrics of entities: what they hold and what went through them.
type entityCollector struct {
	*families
	o Options
}

var (
	ofEntities    = &families{}
	entities      = ofEntities.add("entities", "Entities by kind.", "kind")
	unshown       = ofEntities.add("entities_without_series", "Entities that have no series of their own because there are too many; the totals count them.")
	totalMessages = ofEntities.add("messages", "Messages held by all entities, by state; active ones include locked and deferred ones.", "state")
	totalTraffic  = ofEntities.add("messages_total", "Messages of all entities by what happened to them since the start.", "event")
	messages      = ofEntities.add("entity_messages", "Messages held by an entity, by state; active ones include locked and deferred ones.", "entity", "kind", "state")
	size          = ofEntities.add("entity_size_bytes", "Size of all messages of an entity.", "entity", "kind")
	traffic       = ofEntities.add("entity_messages_total", "Messages of an entity by what happened to them since the start.", "entity", "kind", "event")
)

var kinds = []struct {
	kind emulator.EntityKind
	name string
}{{emulator.KindQueue, "queue"}, {emulator.KindTopic, "topic"}, {emulator.KindSubscription, "subscription"}}

// Collect implements [prometheus.Collector]. It chooses the entities with series of their own by name alone, so that
// the choice does not change from scrape to scrape.
func (c *entityCollector) Collect(ch chan<- prometheus.Metric) {
	if c.o.Broker == nil {
		return
	}
	ns := c.o.Broker()
	if ns == nil {
		return
	}
	var (
		held  emulator.Counts
		moved emulator.Traffic
		left  = c.o.MaxEntities
		more  int64
	)
	for _, k := range kinds {
		list, total := ns.Page(k.kind, 0, math.MaxInt)
		gauge(ch, entities, int64(total), k.name)
		for _, q := range list {
			counts, t := q.Counts(), q.Traffic()
			add(&held, counts)
			moved.Add(t)
			if left == 0 {
				more++
				continue
			}
			left--
			showEntity(ch, q.Path(), k.name, counts, t)
		}
	}
	gauge(ch, unshown, more)
	for _, s := range states {
		gauge(ch, totalMessages, s.of(held), s.name)
	}
	for _, e := range events {
		counter(ch, totalTraffic, e.of(moved), e.name)
	}
}

func add(sum *emulator.Counts, c emulator.Counts) {
	sum.Active += c.Active
	sum.DeadLetter += c.DeadLetter
	sum.Scheduled += c.Scheduled
	sum.Transfer += c.Transfer
	sum.TransferDeadLetter += c.TransferDeadLetter
	sum.Deferred += c.Deferred
}

func showEntity(ch chan<- prometheus.Metric, path, kind string, c emulator.Counts, t emulator.Traffic) {
	for _, s := range states {
		gauge(ch, messages, s.of(c), path, kind, s.name)
	}
	gauge(ch, size, c.SizeBytes, path, kind)
	for _, e := range events {
		counter(ch, traffic, e.of(t), path, kind, e.name)
	}
}

// states are the values of the label state.
var states = []struct {
	name string
	of   func(emulator.Counts) int64
}{
	{"active", func(c emulator.Counts) int64 { return c.Active }},
	{"deferred", func(c emulator.Counts) int64 { return c.Deferred }},
	{"scheduled", func(c emulator.Counts) int64 { return c.Scheduled }},
	{"dead_letter", func(c emulator.Counts) int64 { return c.DeadLetter }},
	{"transfer", func(c emulator.Counts) int64 { return c.Transfer }},
	{"transfer_dead_letter", func(c emulator.Counts) int64 { return c.TransferDeadLetter }},
}

// events are the values of the label event.
var events = []struct {
	name string
	of   func(emulator.Traffic) int64
}{
	{"stored", func(t emulator.Traffic) int64 { return t.Stored }},
	{"delivered", func(t emulator.Traffic) int64 { return t.Delivered }},
	{"completed", func(t emulator.Traffic) int64 { return t.Completed }},
	{"abandoned", func(t emulator.Traffic) int64 { return t.Abandoned }},
	{"deferred", func(t emulator.Traffic) int64 { return t.Deferred }},
	{"dead_lettered", func(t emulator.Traffic) int64 { return t.DeadLettered }},
	{"expired", func(t emulator.Traffic) int64 { return t.Expired }},
}
