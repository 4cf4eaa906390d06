package compat

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// In a namespace elsewhere the clock is another one, and the way is longer.
const (
	clockTolerance = 5 * time.Second
	slower         = 3
)

// benchesElsewhere counts the benches in the namespace. Each has entities of its own, which compat-tests/verify removes.
var benchesElsewhere atomic.Int32

// benchElsewhere connects to a namespace, with the prefix of the bench's own entities.
func benchElsewhere(t *testing.T, there harness.Elsewhere) *bench {
	t.Helper()
	return newBench(t, there.Connection, fmt.Sprintf("%s%d-", there.Prefix, benchesElsewhere.Add(1)))
}

// serveEntities runs a server with these entities, or makes them in the namespace that compat-tests/verify names.
func serveEntities(t *testing.T, queues []harness.Queue, topics []harness.Topic) *bench {
	t.Helper()
	t.Parallel()
	there, ok := harness.Namespace()
	if !ok {
		return startServer(t, harness.Options{Config: harness.WriteTopology(t, queues, topics)})
	}
	b := benchElsewhere(t, there)
	c := b.administer()
	b.needTier(c, queues)
	for _, q := range slices.Backward(queues) { // the target of a forward is behind its source
		_, err := c.CreateQueue(b.ctx, b.name(q.Name), &admin.CreateQueueOptions{Properties: b.queueProperties(q)})
		b.must("create queue", err)
	}
	for _, topic := range topics {
		_, err := c.CreateTopic(b.ctx, b.name(topic.Name), &admin.CreateTopicOptions{Properties: &admin.TopicProperties{
			DefaultMessageTimeToLive: optional(topic.TimeToLive)}})
		b.must("create topic", err)
		for _, s := range topic.Subscriptions {
			b.subscribe(c, b.name(topic.Name), s)
		}
	}
	return b
}

// needTier skips the test where the tier has no such queues.
func (b *bench) needTier(c *admin.Client, queues []harness.Queue) {
	b.Helper()
	if !slices.ContainsFunc(queues, func(q harness.Queue) bool { return q.Partitioned }) {
		return
	}
	n, err := c.GetNamespaceProperties(b.ctx, nil)
	if b.must("get the namespace", err); n.SKU == "Premium" {
		b.Skip("the premium tier has no partitioned entities")
	}
}

// subscribe makes a subscription with its rules.
func (b *bench) subscribe(c *admin.Client, topic string, s harness.Subscription) {
	b.Helper()
	q := b.queueProperties(s.Queue)
	properties := &admin.SubscriptionProperties{
		LockDuration: q.LockDuration, RequiresSession: q.RequiresSession, DefaultMessageTimeToLive: q.DefaultMessageTimeToLive,
		DeadLetteringOnMessageExpiration: q.DeadLetteringOnMessageExpiration, MaxDeliveryCount: q.MaxDeliveryCount,
		ForwardTo: q.ForwardTo, Status: q.Status,
	}
	for i, r := range s.Rules {
		if rule := ruleProperties(r); i == 0 {
			properties.DefaultRule = &rule
		}
	}
	_, err := c.CreateSubscription(b.ctx, topic, s.Name, &admin.CreateSubscriptionOptions{Properties: properties})
	b.must("create subscription", err)
	for i, r := range s.Rules {
		if rule := ruleProperties(r); i > 0 {
			_, err := c.CreateRule(b.ctx, topic, s.Name, &admin.CreateRuleOptions{Name: &rule.Name, Filter: rule.Filter, Action: rule.Action})
			b.must("create rule", err)
		}
	}
}

// optional returns nil for a zero value: the default of the namespace.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// queueProperties returns the properties of a queue for the administration.
func (b *bench) queueProperties(q harness.Queue) *admin.QueueProperties {
	p := &admin.QueueProperties{
		LockDuration: optional(q.LockDuration), MaxDeliveryCount: optional(int32(q.MaxDeliveryCount)),
		DefaultMessageTimeToLive: optional(q.TimeToLive), DeadLetteringOnMessageExpiration: optional(q.DeadLetterExpired),
		RequiresSession: optional(q.RequiresSession), RequiresDuplicateDetection: optional(q.DetectDuplicates),
		DuplicateDetectionHistoryTimeWindow: optional(q.DuplicateWindow), EnablePartitioning: optional(q.Partitioned),
		Status: optional(admin.EntityStatus(q.Status)),
	}
	if q.ForwardTo != "" {
		p.ForwardTo = to.Ptr(b.name(q.ForwardTo))
	}
	if q.ForwardDeadLettersTo != "" {
		p.ForwardDeadLetteredMessagesTo = to.Ptr(b.name(q.ForwardDeadLettersTo))
	}
	return p
}

// ruleProperties returns a rule for the administration. A correlation filter has a label and properties, in these tests.
func ruleProperties(r harness.Rule) admin.RuleProperties {
	p := admin.RuleProperties{Name: r.Name, Filter: &admin.SQLFilter{Expression: r.SQL}}
	if r.Correlation != nil {
		label, _ := r.Correlation["Label"].(string)
		properties, _ := r.Correlation["Properties"].(map[string]any)
		p.Filter = &admin.CorrelationFilter{Subject: optional(label), ApplicationProperties: properties}
	}
	if r.Action != "" {
		p.Action = &admin.SQLAction{Expression: r.Action}
	}
	return p
}

// dialElsewhere opens an AMQP connection to the namespace, with the key as a password.
func (b *bench) dialElsewhere() *amqp.Conn {
	b.Helper()
	parsed, err := harness.ParseConnection(b.connection)
	b.must("read", err)
	scheme := "amqps://"
	if parsed.Emulator {
		scheme = "amqp://"
	}
	conn, err := amqp.Dial(b.ctx, scheme+parsed.Host, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain(parsed.KeyName, parsed.Key)})
	b.must("dial", err)
	return conn
}

// name is the name of an entity. Elsewhere it has a prefix.
func (b *bench) name(entity string) string { return b.prefix + entity }

// elsewhere reports whether the bench has no server of its own.
func (b *bench) elsewhere() bool { return b.prefix != "" }

// saw shows what a namespace elsewhere did, also when that is right.
func (b *bench) saw(format string, args ...any) {
	b.Helper()
	if b.elsewhere() {
		b.Logf(format, args...)
	}
}

// pace is a time that a test waits, longer elsewhere.
func (b *bench) pace(d time.Duration) time.Duration {
	if b.elsewhere() {
		return slower * d
	}
	return d
}

// slack is how far the clock of the namespace may be from ours.
func (b *bench) slack() time.Duration {
	if b.elsewhere() {
		return clockTolerance
	}
	return 0
}
