package main

import (
	"minibus/compat-tests/harness"
	"minibus/compat-tests/ledger"
)

const (
	sessionCount = 6
	lockTime     = "PT5S" // short, because a checkpoint waits for the locks of receivers that have ended
	deliveries   = 2000   // the maximum: only a receiver dead-letters messages
	topicName    = "events"
	newsName     = "news" // the topic of the JMS clients
)

// entity is a queue or a subscription, with its name in the ledger.
type entity struct {
	name     string
	topic    string       // of a subscription
	book     string       // the first part of its messages' ids in the ledger
	place    ledger.Place // the place of messages that are available there
	sessions bool
	passing  bool // messages are forwarded out of it; only its dead letters can be peeked
	burying  bool // its dead letters are forwarded
	dying    bool // available messages end in the dead-letter queue after a while
}

// entities lists all entities of the load, except the queues of the administration load. Those that forward come
// before their targets: after an audit has seen one empty, it finds everything in the target.
var entities = []entity{
	{name: "plain", book: "plain", place: ledger.InQueue},
	{name: "deleting", book: "deleting", place: ledger.InQueue},
	{name: "scheduled", book: "scheduled", place: ledger.InQueue},
	{name: "sessions", book: "sessions", place: ledger.InQueue, sessions: true},
	{name: "all", topic: topicName, book: "all", place: ledger.InQueue},
	{name: "odd", topic: topicName, book: "odd", place: ledger.InQueue},
	{name: "third", topic: topicName, book: "third", place: ledger.InQueue},
	{name: "action", topic: topicName, book: "action", place: ledger.InQueue},
	{name: "fwd.source", book: "fwd", place: ledger.InQueue, passing: true},
	{name: "fwd.middle", book: "fwd", place: ledger.InQueue, passing: true},
	{name: "fwd.end", book: "fwd", place: ledger.InTarget},
	{name: "dead.source", book: "dead", place: ledger.InQueue, burying: true},
	{name: "dead.end", book: "dead", place: ledger.InTarget},
	{name: "duplicates", book: "duplicates", place: ledger.InQueue},
	{name: "txn.in", book: "txn", place: ledger.InQueue},
	{name: "txn.out", book: "txn", place: ledger.InTarget},
	{name: "expiring", book: "expiring", place: ledger.InQueue, dying: true},
	{name: "large", book: "large", place: ledger.InQueue},
	{name: "partitioned", book: "partitioned", place: ledger.InQueue},
	{name: "http", book: "http", place: ledger.InQueue},
	{name: "held", book: "held", place: ledger.InQueue},
	{name: "picked", book: "picked", place: ledger.InQueue},
	{name: "rolled", book: "rolled", place: ledger.InQueue},
	{name: "requests", book: "requests", place: ledger.InQueue},
	{name: "replies", book: "replies", place: ledger.InQueue},
	{name: diaryName, topic: newsName, book: "diary", place: ledger.InQueue},
	{name: choresName, topic: newsName, book: "chores", place: ledger.InQueue},
}

// takers maps subscriptions to the messages that they want, by number.
var takers = map[string]func(n int) bool{
	"all":    func(int) bool { return true },
	"odd":    func(n int) bool { return n%2 == 1 },
	"third":  func(n int) bool { return n%3 == 0 },
	"action": func(n int) bool { return n%5 == 0 },
}

// config returns the Config.json.
func config() ([]byte, error) {
	queues := []harness.Queue{
		{Name: "plain"}, {Name: "deleting"}, {Name: "scheduled"}, {Name: "sessions", RequiresSession: true},
		{Name: "fwd.source", ForwardTo: "fwd.middle"}, {Name: "fwd.middle", ForwardTo: "fwd.end"}, {Name: "fwd.end"},
		{Name: "dead.source", ForwardDeadLettersTo: "dead.end"}, {Name: "dead.end"},
		{Name: "duplicates", DetectDuplicates: true, DuplicateWindow: "PT20S"},
		{Name: "txn.in"}, {Name: "txn.out"}, {Name: "expiring", DeadLetterExpired: true},
		{Name: "large", MaxMessageSizeInKilobytes: 4096}, {Name: "partitioned", Partitioned: true}, {Name: "http"},
		{Name: "held"}, {Name: "picked"}, {Name: "rolled"}, {Name: "requests"}, {Name: "replies"},
	}
	for i := range queues {
		prepare(&queues[i])
	}
	subscriptions := []harness.Subscription{
		{Queue: harness.Queue{Name: "all"}},
		{Queue: harness.Queue{Name: "odd"}, Rules: []harness.Rule{{Name: "r", SQL: "n % 2 = 1"}}},
		{Queue: harness.Queue{Name: "third"}, Rules: []harness.Rule{{Name: "r", Correlation: map[string]any{"Properties": map[string]any{"third": "yes"}}}}},
		{Queue: harness.Queue{Name: "action"}, Rules: []harness.Rule{{Name: "r", SQL: "n % 5 = 0", Action: "SET touched = 'yes'"}}},
	}
	for i := range subscriptions {
		prepare(&subscriptions[i].Queue)
	}
	return harness.ConfigText(queues, []harness.Topic{
		{Name: topicName, TimeToLive: "P14D", Subscriptions: subscriptions}, {Name: newsName, TimeToLive: "P14D"},
	})
}

func prepare(q *harness.Queue) {
	q.MaxDeliveryCount, q.TimeToLive, q.LockDuration = deliveries, "P14D", lockTime
}
