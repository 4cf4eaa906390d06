package cli

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

var queues = kind[admin.QueueProperties]{
	name: "queue", plural: "queues", argument: "QUEUE",
	columns: []string{"NAME", "STATUS", "ACTIVE", "DEAD-LETTER", "SCHEDULED", "TRANSFER", "TRANSFER-DLQ", "BYTES"},
	row: func(e entity) []string {
		c := e.Counts
		return []string{e.Name, e.status(), number(c.Active), number(c.DeadLetter), number(c.Scheduled), number(c.Transfer),
			number(c.TransferDeadLetter), number(e.SizeInBytes)}
	},
	create: func(ctx context.Context, c *admin.Client, path string, p *admin.QueueProperties) (admin.QueueProperties, error) {
		r, err := c.CreateQueue(ctx, path, &admin.CreateQueueOptions{Properties: p})
		return r.QueueProperties, err
	},
	update: func(ctx context.Context, c *admin.Client, path string, p admin.QueueProperties) (admin.QueueProperties, error) {
		r, err := c.UpdateQueue(ctx, path, p, nil)
		return r.QueueProperties, err
	},
	remove: func(ctx context.Context, c *admin.Client, path string) error {
		_, err := c.DeleteQueue(ctx, path, nil)
		return err
	},
	get: func(ctx context.Context, c *admin.Client, path string) (*admin.QueueProperties, error) {
		r, err := c.GetQueue(ctx, path, nil)
		if err != nil || r == nil {
			return nil, err
		}
		return &r.QueueProperties, nil
	},
	state: func(ctx context.Context, c *admin.Client, path string) (*runtimeState, error) {
		r, err := c.GetQueueRuntimeProperties(ctx, path, nil)
		if err != nil || r == nil {
			return nil, err
		}
		return new(stateOfQueue(r.QueueRuntimeProperties)), nil
	},
	list: func(ctx context.Context, c *admin.Client, _ string) (map[string]admin.QueueProperties, map[string]runtimeState, error) {
		items, err := pages(ctx, c.NewListQueuesPager(nil), func(r admin.ListQueuesResponse) []admin.QueueItem { return r.Queues })
		if err != nil {
			return nil, nil, err
		}
		states, err := pages(ctx, c.NewListQueuesRuntimePropertiesPager(nil),
			func(r admin.ListQueuesRuntimePropertiesResponse) []admin.QueueRuntimePropertiesItem {
				return r.QueueRuntimeProperties
			})
		properties, held := make(map[string]admin.QueueProperties), make(map[string]runtimeState)
		for _, q := range items {
			properties[q.QueueName] = q.QueueProperties
		}
		for _, s := range states {
			held[s.QueueName] = stateOfQueue(s.QueueRuntimeProperties)
		}
		return properties, held, err
	},
}

func stateOfQueue(r admin.QueueRuntimeProperties) runtimeState {
	return runtimeState{
		Counts: counts{Active: &r.ActiveMessageCount, DeadLetter: &r.DeadLetterMessageCount, Scheduled: &r.ScheduledMessageCount,
			Transfer: &r.TransferMessageCount, TransferDeadLetter: &r.TransferDeadLetterMessageCount, Total: &r.TotalMessageCount},
		SizeInBytes: &r.SizeInBytes, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, AccessedAt: r.AccessedAt,
	}
}

var topics = kind[admin.TopicProperties]{
	name: "topic", plural: "topics", argument: "TOPIC",
	columns: []string{"NAME", "STATUS", "SUBSCRIPTIONS", "SCHEDULED", "BYTES"},
	row: func(e entity) []string {
		return []string{e.Name, e.status(), number(e.Counts.Subscriptions), number(e.Counts.Scheduled), number(e.SizeInBytes)}
	},
	create: func(ctx context.Context, c *admin.Client, path string, p *admin.TopicProperties) (admin.TopicProperties, error) {
		r, err := c.CreateTopic(ctx, path, &admin.CreateTopicOptions{Properties: p})
		return r.TopicProperties, err
	},
	update: func(ctx context.Context, c *admin.Client, path string, p admin.TopicProperties) (admin.TopicProperties, error) {
		r, err := c.UpdateTopic(ctx, path, p, nil)
		return r.TopicProperties, err
	},
	remove: func(ctx context.Context, c *admin.Client, path string) error {
		_, err := c.DeleteTopic(ctx, path, nil)
		return err
	},
	get: func(ctx context.Context, c *admin.Client, path string) (*admin.TopicProperties, error) {
		r, err := c.GetTopic(ctx, path, nil)
		if err != nil || r == nil {
			return nil, err
		}
		return &r.TopicProperties, nil
	},
	state: func(ctx context.Context, c *admin.Client, path string) (*runtimeState, error) {
		r, err := c.GetTopicRuntimeProperties(ctx, path, nil)
		if err != nil || r == nil {
			return nil, err
		}
		return new(stateOfTopic(r.TopicRuntimeProperties)), nil
	},
	list: func(ctx context.Context, c *admin.Client, _ string) (map[string]admin.TopicProperties, map[string]runtimeState, error) {
		items, err := pages(ctx, c.NewListTopicsPager(nil), func(r admin.ListTopicsResponse) []admin.TopicItem { return r.Topics })
		if err != nil {
			return nil, nil, err
		}
		states, err := pages(ctx, c.NewListTopicsRuntimePropertiesPager(nil),
			func(r admin.ListTopicsRuntimePropertiesResponse) []admin.TopicRuntimePropertiesItem {
				return r.TopicRuntimeProperties
			})
		properties, held := make(map[string]admin.TopicProperties), make(map[string]runtimeState)
		for _, q := range items {
			properties[q.TopicName] = q.TopicProperties
		}
		for _, s := range states {
			held[s.TopicName] = stateOfTopic(s.TopicRuntimeProperties)
		}
		return properties, held, err
	},
}

func stateOfTopic(r admin.TopicRuntimeProperties) runtimeState {
	return runtimeState{
		Counts:      counts{Scheduled: &r.ScheduledMessageCount, Subscriptions: &r.SubscriptionCount},
		SizeInBytes: &r.SizeInBytes, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, AccessedAt: r.AccessedAt,
	}
}

var subscriptions = kind[admin.SubscriptionProperties]{
	name: "subscription", plural: "subscriptions", argument: "TOPIC/SUBSCRIPTION",
	columns: []string{"NAME", "STATUS", "ACTIVE", "DEAD-LETTER", "TRANSFER", "TRANSFER-DLQ"},
	row: func(e entity) []string {
		c := e.Counts
		return []string{e.path(), e.status(), number(c.Active), number(c.DeadLetter), number(c.Transfer), number(c.TransferDeadLetter)}
	},
	create: func(ctx context.Context, c *admin.Client, path string, p *admin.SubscriptionProperties) (admin.SubscriptionProperties, error) {
		topic, name, _ := splitSubscription(path)
		r, err := c.CreateSubscription(ctx, topic, name, &admin.CreateSubscriptionOptions{Properties: p})
		return r.SubscriptionProperties, err
	},
	update: func(ctx context.Context, c *admin.Client, path string, p admin.SubscriptionProperties) (admin.SubscriptionProperties, error) {
		topic, name, _ := splitSubscription(path)
		r, err := c.UpdateSubscription(ctx, topic, name, p, nil)
		return r.SubscriptionProperties, err
	},
	remove: func(ctx context.Context, c *admin.Client, path string) error {
		topic, name, _ := splitSubscription(path)
		_, err := c.DeleteSubscription(ctx, topic, name, nil)
		return err
	},
	get: func(ctx context.Context, c *admin.Client, path string) (*admin.SubscriptionProperties, error) {
		topic, name, _ := splitSubscription(path)
		r, err := c.GetSubscription(ctx, topic, name, nil)
		if err != nil || r == nil {
			return nil, err
		}
		return &r.SubscriptionProperties, nil
	},
	state: func(ctx context.Context, c *admin.Client, path string) (*runtimeState, error) {
		topic, name, _ := splitSubscription(path)
		r, err := c.GetSubscriptionRuntimeProperties(ctx, topic, name, nil)
		if err != nil || r == nil {
			return nil, err
		}
		return new(stateOfSubscription(r.SubscriptionRuntimeProperties)), nil
	},
	list: listSubscriptions,
}

func stateOfSubscription(r admin.SubscriptionRuntimeProperties) runtimeState {
	return runtimeState{
		Counts: counts{Active: &r.ActiveMessageCount, DeadLetter: &r.DeadLetterMessageCount,
			Transfer: &r.TransferMessageCount, TransferDeadLetter: &r.TransferDeadLetterMessageCount, Total: &r.TotalMessageCount},
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, AccessedAt: r.AccessedAt,
	}
}

// listSubscriptions lists those of a topic, or of all topics.
func listSubscriptions(ctx context.Context, c *admin.Client, parent string) (map[string]admin.SubscriptionProperties, map[string]runtimeState, error) {
	parents := []string{parent}
	if parent == "" {
		items, err := pages(ctx, c.NewListTopicsPager(nil), func(r admin.ListTopicsResponse) []admin.TopicItem { return r.Topics })
		if err != nil {
			return nil, nil, err
		}
		parents = nil
		for _, t := range items {
			parents = append(parents, t.TopicName)
		}
	}
	properties, held := make(map[string]admin.SubscriptionProperties), make(map[string]runtimeState)
	for _, topic := range parents {
		items, err := pages(ctx, c.NewListSubscriptionsPager(topic, nil),
			func(r admin.ListSubscriptionsResponse) []admin.SubscriptionPropertiesItem { return r.Subscriptions })
		if err != nil {
			return nil, nil, fmt.Errorf("topic %s: %w", topic, err)
		}
		states, err := pages(ctx, c.NewListSubscriptionsRuntimePropertiesPager(topic, nil),
			func(r admin.ListSubscriptionsRuntimePropertiesResponse) []admin.SubscriptionRuntimePropertiesItem {
				return r.SubscriptionRuntimeProperties
			})
		if err != nil {
			return nil, nil, fmt.Errorf("topic %s: %w", topic, err)
		}
		for _, s := range items {
			properties[topic+"/"+s.SubscriptionName] = s.SubscriptionProperties
		}
		for _, s := range states {
			held[topic+"/"+s.SubscriptionName] = stateOfSubscription(s.SubscriptionRuntimeProperties)
		}
	}
	return properties, held, nil
}
