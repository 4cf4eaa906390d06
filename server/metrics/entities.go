package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"minibus/emulator"
)

var (
	ofEntities = &families{}
	namespaces = ofEntities.add("namespaces", "Namespaces.")
	entities   = ofEntities.add("entities", "Entities by kind.", "kind")
	unshown    = ofEntities.add("entities_without_series",
		"Entities that have no series of their own because there are too many; the totals count them.")
	totalMessages = ofEntities.add("messages",
		"Messages held by all entities, by state; active ones include locked and deferred ones.", "state")
	totalTraffic = ofEntities.add("messages_total",
		"Messages of all entities by what happened to them since the start.", "event")
	messages = ofEntities.add("entity_messages", "Messages held by an entity, by state; active ones include "+
		"locked and deferred ones.", "namespace", "entity", "kind", "state")
	size = ofEntities.add("entity_size_bytes", "Size of all messages of an entity.", "namespace", "entity",
		"kind")
	traffic = ofEntities.add("entity_messages_total",
		"Messages of an entity by what happened to them since the start.", "namespace", "entity", "kind", "event")
)

var kinds = []struct {
	kind emulator.EntityKind
	name string
}{{emulator.KindQueue, "queue"}, {emulator.KindTopic, "topic"}, {emulator.KindSubscription, "subscription"}}

// collectEntities shows what entities hold and what went through them. It goes through the namespaces from the
// default one to the newest, and in each through the entities by kind and name. Those that it meets first get the
// series, as many as left. So the choice does not change from scrape to scrape, and a new namespace takes the series
// of none that is older.
func collectEntities(ch chan<- prometheus.Metric, b *emulator.Broker, left int) {
	var (
		held  emulator.Counts
		moved emulator.Traffic
		more  int64
		count = make([]int64, len(kinds))
	)
	all := defaultFirst(b)
	gauge(ch, namespaces, int64(len(all)))
	for _, ns := range all {
		for i, k := range kinds {
			list, total := ns.Entities().Page(k.kind, 0, math.MaxInt)
			count[i] += int64(total)
			for _, e := range list {
				counts, t := e.Counts(), e.Traffic()
				add(&held, counts)
				moved.Add(t)
				if left == 0 {
					more++
					continue
				}
				left--
				showEntity(ch, []string{ns.Name(), e.Path(), k.name}, counts, t)
			}
		}
	}
	for i, k := range kinds {
		gauge(ch, entities, count[i], k.name)
	}
	gauge(ch, unshown, more)
	for _, s := range states {
		gauge(ch, totalMessages, s.of(held), s.name)
	}
	for _, e := range events {
		counter(ch, totalTraffic, e.of(moved), e.name)
	}
}

// defaultFirst returns the default namespace, then the others from the oldest to the newest, those of the same
// millisecond by name.
func defaultFirst(b *emulator.Broker) []*emulator.Namespace {
	all := b.Namespaces()
	slices.SortStableFunc(all, func(x, y *emulator.Namespace) int {
		switch b.Default() {
		case x:
			return -1
		case y:
			return 1
		}
		return cmp.Compare(x.Created(), y.Created())
	})
	return all
}

func add(sum *emulator.Counts, c emulator.Counts) {
	sum.Active += c.Active
	sum.DeadLetter += c.DeadLetter
	sum.Scheduled += c.Scheduled
	sum.Transfer += c.Transfer
	sum.TransferDeadLetter += c.TransferDeadLetter
	sum.Deferred += c.Deferred
}

// showEntity shows the series of an entity, whose labels are its namespace, its path and its kind.
func showEntity(ch chan<- prometheus.Metric, entity []string, c emulator.Counts, t emulator.Traffic) {
	for _, s := range states {
		gauge(ch, messages, s.of(c), append(entity, s.name)...)
	}
	gauge(ch, size, c.SizeBytes, entity...)
	for _, e := range events {
		counter(ch, traffic, e.of(t), append(entity, e.name)...)
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
