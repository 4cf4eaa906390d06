package mgmt

import (
	"minibus/emulator"
	"minibus/mgmt/atom"
)

// broker is the domain as the administration sees it: what it needs of [emulator.Namespace], in the terms of the API.
// Operations return once their change is durable, and after the links of a changed entity were told (LOCK-17). Their errors
// are of type *emulator.Error; CodeNotFound and CodeAlreadyExists speak of the entity that the operation is about.
type broker interface {
	namespace
	queues
	topics
	subscriptions
	rules
}

// namespace is what concerns all entities.
type namespace interface {
	Name() string
	Now() int64     // the broker's time in milliseconds
	Created() int64 // when the namespace was created, in milliseconds
	Limits() emulator.Limits
	// Kind returns 0 if no queue or topic has that path.
	Kind(path string) emulator.EntityKind
	// Entities returns the number of queues and topics.
	Entities() int
	// Delete removes a queue or a topic.
	Delete(path string) error
}

type queues interface {
	Queue(path string) (atom.Queue, error)
	// Queues returns a page of all queues in the ordinal order of their paths.
	Queues(skip, top int) []atom.Queue
	CreateQueue(path string, o emulator.QueueOptions) (atom.Queue, error)
	UpdateQueue(path string, o emulator.QueueOptions) (atom.Queue, error)
}

type topics interface {
	Topic(path string) (atom.Topic, error)
	Topics(skip, top int) []atom.Topic
	CreateTopic(path string, o emulator.TopicOptions) (atom.Topic, error)
	UpdateTopic(path string, o emulator.TopicOptions) (atom.Topic, error)
}

// newSubscription is a subscription to be made, with the rule that it begins with.
type newSubscription struct {
	name         string
	options      emulator.QueueOptions
	filterErrors bool
	rule         atom.Rule
}

// subscriptions fail with CodeNotFound if there is no such topic.
type subscriptions interface {
	Subscription(topic, name string) (atom.Subscription, error)
	Subscriptions(topic string, skip, top int) ([]atom.Subscription, error)
	CreateSubscription(topic string, s newSubscription) (atom.Subscription, error)
	UpdateSubscription(topic, name string, o emulator.QueueOptions, filterErrors bool) (atom.Subscription, error)
	DeleteSubscription(topic, name string) error
}

// rules fail with CodeNotFound if there is no such subscription or rule.
type rules interface {
	Rule(topic, subscription, name string) (atom.Rule, error)
	Rules(topic, subscription string, skip, top int) ([]atom.Rule, error)
	AddRule(topic, subscription string, r atom.Rule) (atom.Rule, error)
	UpdateRule(topic, subscription string, r atom.Rule) (atom.Rule, error)
	RemoveRule(topic, subscription, name string) error
}
