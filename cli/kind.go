package cli

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// kind is a kind of entity: queues, topics, subscriptions. P is the SDK's structure of their properties. Paths of a
// kind without a parent are names; those of subscriptions are TOPIC/NAME.
type kind[P any] struct {
	name, plural string
	argument     string // its path in the help
	columns      []string

	create func(context.Context, *admin.Client, string, *P) (P, error)
	update func(context.Context, *admin.Client, string, P) (P, error)
	remove func(context.Context, *admin.Client, string) error
	get    func(context.Context, *admin.Client, string) (*P, error) // nil if there is none
	state  func(context.Context, *admin.Client, string) (*runtimeState, error)

	// list returns the properties and states of all entities, of one topic if the kind has parents.
	list func(ctx context.Context, c *admin.Client, parent string) (map[string]P, map[string]runtimeState, error)
	row  func(entity) []string
}

// runtimeState is what an entity holds.
type runtimeState struct {
	Counts                           counts
	SizeInBytes                      *int64
	CreatedAt, UpdatedAt, AccessedAt time.Time
}

// counts are the numbers of messages by state. The service counts deferred messages as active ones.
type counts struct {
	Active             *int32 `json:"active,omitempty"`
	DeadLetter         *int32 `json:"deadLetter,omitempty"`
	Scheduled          *int32 `json:"scheduled,omitempty"`
	Transfer           *int32 `json:"transfer,omitempty"`
	TransferDeadLetter *int32 `json:"transferDeadLetter,omitempty"`
	Total              *int64 `json:"total,omitempty"`
	Subscriptions      *int32 `json:"subscriptions,omitempty"`
}

// entity is an entity as JSON.
type entity struct {
	Kind        string         `json:"kind"`
	Name        string         `json:"name"`
	Topic       string         `json:"topic,omitempty"`
	Counts      *counts        `json:"counts,omitempty"`
	SizeInBytes *int64         `json:"sizeInBytes,omitempty"`
	CreatedAt   *time.Time     `json:"createdAt,omitempty"`
	UpdatedAt   *time.Time     `json:"updatedAt,omitempty"`
	AccessedAt  *time.Time     `json:"accessedAt,omitempty"`
	Properties  map[string]any `json:"properties"`
}

func (e entity) path() string {
	if e.Topic != "" {
		return e.Topic + "/" + e.Name
	}
	return e.Name
}

func (e entity) status() string {
	if s, ok := e.Properties["Status"].(admin.EntityStatus); ok {
		return string(s)
	}
	return ""
}

// describe makes the entity of a path from its properties and, if known, its state. Queues and topics are in lower
// case, as the service lists them, although it answers with the spelling of the request.
func (k *kind[P]) describe(path string, properties *P, state *runtimeState) entity {
	e := entity{Kind: k.name, Name: strings.ToLower(path), Properties: asMap(properties)}
	if topic, name, ok := splitSubscription(path); ok && k.name == "subscription" {
		e.Topic, e.Name = strings.ToLower(topic), name
	}
	if state != nil {
		e.Counts, e.SizeInBytes = &state.Counts, state.SizeInBytes
		e.CreatedAt = moment(state.CreatedAt)
		e.UpdatedAt = moment(state.UpdatedAt)
		e.AccessedAt = moment(state.AccessedAt)
	}
	return e
}

// moment leaves out the year 1, which stands for never.
func moment(t time.Time) *time.Time {
	if t.Year() <= 1 {
		return nil
	}
	t = t.UTC()
	return &t
}

// splitSubscription takes the path of a subscription apart: TOPIC/NAME or TOPIC/Subscriptions/NAME.
func splitSubscription(path string) (topic, name string, ok bool) {
	const between = "/subscriptions/"
	if i := strings.Index(strings.ToLower(path), between); i > 0 {
		topic, name = path[:i], path[i+len(between):]
	} else if i := strings.LastIndexByte(path, '/'); i > 0 {
		topic, name = path[:i], path[i+1:]
	}
	return topic, name, topic != "" && name != "" && !strings.Contains(name, "/")
}

// absolute makes the targets of forwards addresses, as the SDKs for other languages do: the service demands it.
func (a *app) absolute(properties any) {
	_ = eachProperty(properties, func(name string, field reflect.Value) error {
		if !strings.HasPrefix(name, "Forward") || field.IsNil() {
			return nil
		}
		switch target := field.Elem().String(); {
		case target == "":
			field.SetZero()
		case !strings.Contains(target, "://"):
			host, _, _ := strings.Cut(a.target.Host(), "/")
			field.Elem().SetString("sb://" + host + "/" + target)
		}
		return nil
	})
}

// pages collects the items of all pages of a list.
func pages[R, T any](ctx context.Context, pager *runtime.Pager[R], items func(R) []T) (all []T, err error) {
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		all = append(all, items(page)...)
	}
	return all, nil
}

// sorted returns the entities of a list in the order of their names, which the service compares without case.
func sorted[P any](k *kind[P], properties map[string]P, states map[string]runtimeState) (all []entity) {
	for path, p := range properties {
		var state *runtimeState
		if s, ok := states[path]; ok {
			state = &s
		}
		all = append(all, k.describe(path, &p, state))
	}
	slices.SortFunc(all, func(a, b entity) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.path()), strings.ToLower(b.path())),
			cmp.Compare(a.path(), b.path()))
	})
	return all
}

// number formats a count for a table.
func number[N int32 | int64](n *N) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

var queues = kind[admin.QueueProperties]{
	name: "queue", plural: "queues", argument: "QUEUE",
	columns: []string{"NAME", "STATUS", "ACTIVE", "DEAD-LETTER", "SCHEDULED", "TRANSFER", "TRANSFER-DLQ", "BYTES"},
	row: func(e entity) []string {
		c := e.Counts
		return []string{e.Name, e.status(), number(c.Active), number(c.DeadLetter), number(c.Scheduled),
			number(c.Transfer),
			number(c.TransferDeadLetter), number(e.SizeInBytes)}
	},
	create: func(ctx context.Context, c *admin.Client, path string, p *admin.QueueProperties) (admin.QueueProperties,
		error) {
		r, err := c.CreateQueue(ctx, path, &admin.CreateQueueOptions{Properties: p})
		return r.QueueProperties, err
	},
	update: func(ctx context.Context, c *admin.Client, path string, p admin.QueueProperties) (admin.QueueProperties,
		error) {
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
	list: func(ctx context.Context, c *admin.Client, _ string) (map[string]admin.QueueProperties,
		map[string]runtimeState, error) {
		items, err := pages(ctx, c.NewListQueuesPager(nil),
			func(r admin.ListQueuesResponse) []admin.QueueItem { return r.Queues })
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
		Counts: counts{Active: &r.ActiveMessageCount, DeadLetter: &r.DeadLetterMessageCount,
			Scheduled: &r.ScheduledMessageCount,
			Transfer:  &r.TransferMessageCount, TransferDeadLetter: &r.TransferDeadLetterMessageCount,
			Total: &r.TotalMessageCount},
		SizeInBytes: &r.SizeInBytes, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, AccessedAt: r.AccessedAt,
	}
}

var topics = kind[admin.TopicProperties]{
	name: "topic", plural: "topics", argument: "TOPIC",
	columns: []string{"NAME", "STATUS", "SUBSCRIPTIONS", "SCHEDULED", "BYTES"},
	row: func(e entity) []string {
		return []string{e.Name, e.status(), number(e.Counts.Subscriptions), number(e.Counts.Scheduled),
			number(e.SizeInBytes)}
	},
	create: func(ctx context.Context, c *admin.Client, path string, p *admin.TopicProperties) (admin.TopicProperties,
		error) {
		r, err := c.CreateTopic(ctx, path, &admin.CreateTopicOptions{Properties: p})
		return r.TopicProperties, err
	},
	update: func(ctx context.Context, c *admin.Client, path string, p admin.TopicProperties) (admin.TopicProperties,
		error) {
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
	list: func(ctx context.Context, c *admin.Client, _ string) (map[string]admin.TopicProperties,
		map[string]runtimeState, error) {
		items, err := pages(ctx, c.NewListTopicsPager(nil),
			func(r admin.ListTopicsResponse) []admin.TopicItem { return r.Topics })
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
		return []string{e.path(), e.status(), number(c.Active), number(c.DeadLetter), number(c.Transfer),
			number(c.TransferDeadLetter)}
	},
	create: func(ctx context.Context, c *admin.Client, path string,
		p *admin.SubscriptionProperties) (admin.SubscriptionProperties, error) {
		topic, name, _ := splitSubscription(path)
		r, err := c.CreateSubscription(ctx, topic, name, &admin.CreateSubscriptionOptions{Properties: p})
		return r.SubscriptionProperties, err
	},
	update: func(ctx context.Context, c *admin.Client, path string,
		p admin.SubscriptionProperties) (admin.SubscriptionProperties, error) {
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
			Transfer: &r.TransferMessageCount, TransferDeadLetter: &r.TransferDeadLetterMessageCount,
			Total: &r.TotalMessageCount},
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, AccessedAt: r.AccessedAt,
	}
}

// listSubscriptions lists those of a topic, or of all topics.
func listSubscriptions(ctx context.Context, c *admin.Client,
	parent string) (map[string]admin.SubscriptionProperties, map[string]runtimeState, error) {
	parents := []string{parent}
	if parent == "" {
		items, err := pages(ctx, c.NewListTopicsPager(nil),
			func(r admin.ListTopicsResponse) []admin.TopicItem { return r.Topics })
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
