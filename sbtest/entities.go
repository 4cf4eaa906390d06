package sbtest

import (
	"fmt"
	"time"

	"minibus/config"
	"minibus/emulator"
)

// Queue is an [Option] that makes a queue:
//
//	sbtest.Start(t, sbtest.Queue{Name: "orders", LockDuration: 5 * time.Second})
//
// Only the name is required. A field that is left out has the default of Azure Service Bus. Start fails the test
// if the name or a value is out of range; [WithLimits] chooses the ranges.
type Queue struct {
	Name string

	LockDuration     time.Duration // how long a receiver has a message to itself; default a minute
	MaxDeliveryCount int           // deliveries after which a message is dead-lettered; default 10

	DefaultMessageTimeToLive         time.Duration // how long messages live at most; default without end
	DeadLetteringOnMessageExpiration bool          // expired messages are not dropped, but dead-lettered

	RequiresSession bool // take only messages with a session id, and give each session to one receiver at a time

	RequiresDuplicateDetection          bool          // drop messages whose id was sent before
	DuplicateDetectionHistoryTimeWindow time.Duration // how long ids are remembered; default 10 minutes

	ForwardTo                     string // queue or topic that gets the messages
	ForwardDeadLetteredMessagesTo string // queue or topic that gets the dead-lettered messages

	AutoDeleteOnIdle          time.Duration // how long the queue lives without being used; default without end
	EnablePartitioning        bool          // spread the messages over 16 partitions
	MaxMessageSizeInKilobytes int64         // size of the largest message; default 256
	MaxSizeInMegabytes        int64         // of the queue; only [WithLimits] enforces it; default 1024
	Status                    Status        // default active
}

// Topic is an [Option] that makes a topic with its subscriptions:
//
//	sbtest.Start(t, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{
//		{Name: "all"},
//		{Name: "large", Rules: []sbtest.Rule{{SQL: "amount > 1000"}}},
//	}})
//
// Its fields mean the same as those of a [Queue].
type Topic struct {
	Name          string
	Subscriptions []Subscription

	DefaultMessageTimeToLive            time.Duration
	RequiresDuplicateDetection          bool
	DuplicateDetectionHistoryTimeWindow time.Duration
	AutoDeleteOnIdle                    time.Duration
	EnablePartitioning                  bool
	MaxMessageSizeInKilobytes           int64
	MaxSizeInMegabytes                  int64
	Status                              Status
}

// Subscription is a subscription of a [Topic]. The fields that a [Queue] has too mean the same.
type Subscription struct {
	Name  string
	Rules []Rule // a message that matches one of them is copied to the subscription; without rules all are

	LockDuration                     time.Duration
	MaxDeliveryCount                 int
	DefaultMessageTimeToLive         time.Duration
	DeadLetteringOnMessageExpiration bool
	RequiresSession                  bool
	ForwardTo                        string
	ForwardDeadLetteredMessagesTo    string
	AutoDeleteOnIdle                 time.Duration
	Status                           Status

	// DeadLetteringOnFilterEvaluationExceptions moves a message on which a filter or an action fails to the
	// dead-letter queue. It is the default; new(false) drops such messages.
	DeadLetteringOnFilterEvaluationExceptions *bool
}

// Rule selects messages for a [Subscription]. It has one filter, SQL or Correlation. A rule without a filter selects
// all messages.
type Rule struct {
	Name        string // default $Default; the rules of a subscription need different names
	SQL         string // such as "color = 'red' AND sys.Label = 'order'"
	Correlation *Correlation
	Action      string // changes the copy that the subscription gets, such as "SET priority = 'high'"
}

// Correlation is a filter that selects the messages of which all these properties are equal. A text that is empty is
// not compared.
type Correlation struct {
	ContentType      string
	CorrelationID    string
	MessageID        string
	ReplyTo          string
	ReplyToSessionID string
	SessionID        string
	Subject          string
	To               string

	Properties map[string]any // application properties; their types count, as those of the message do
}

// Status says what an entity refuses. Without one it is active and refuses nothing.
type Status string

// The statuses of an entity that is not active.
const (
	Disabled        = Status(emulator.StatusDisabled)        // refuses to send and to receive
	SendDisabled    = Status(emulator.StatusSendDisabled)    // refuses to send
	ReceiveDisabled = Status(emulator.StatusReceiveDisabled) // refuses to receive
)

func (q Queue) apply(o *options) { o.parts = append(o.parts, q.part()) }

func (q Queue) part() config.Part {
	return config.Part{From: fmt.Sprintf("sbtest.Queue{Name: %q}", q.Name), Entity: &emulator.EntityConfig{
		Path: q.Name,
		Queue: &emulator.QueueOptions{
			LockDuration:                  q.LockDuration,
			MaxDeliveryCount:              q.MaxDeliveryCount,
			DefaultMessageTimeToLive:      q.DefaultMessageTimeToLive,
			DeadLetteringOnExpiration:     q.DeadLetteringOnMessageExpiration,
			RequiresSession:               q.RequiresSession,
			RequiresDuplicateDetection:    q.RequiresDuplicateDetection,
			DuplicateDetectionWindow:      q.DuplicateDetectionHistoryTimeWindow,
			ForwardTo:                     q.ForwardTo,
			ForwardDeadLetteredMessagesTo: q.ForwardDeadLetteredMessagesTo,
			AutoDeleteOnIdle:              q.AutoDeleteOnIdle,
			EnablePartitioning:            q.EnablePartitioning,
			MaxMessageSizeInKilobytes:     q.MaxMessageSizeInKilobytes,
			MaxSizeInMegabytes:            q.MaxSizeInMegabytes,
			Status:                        emulator.Status(q.Status),
		},
	}}
}

func (t Topic) apply(o *options) { o.parts = append(o.parts, t.part()) }

func (t Topic) part() config.Part {
	topic := &emulator.TopicOptions{
		DefaultMessageTimeToLive:   t.DefaultMessageTimeToLive,
		RequiresDuplicateDetection: t.RequiresDuplicateDetection,
		DuplicateDetectionWindow:   t.DuplicateDetectionHistoryTimeWindow,
		AutoDeleteOnIdle:           t.AutoDeleteOnIdle,
		EnablePartitioning:         t.EnablePartitioning,
		MaxMessageSizeInKilobytes:  t.MaxMessageSizeInKilobytes,
		MaxSizeInMegabytes:         t.MaxSizeInMegabytes,
		Status:                     emulator.Status(t.Status),
	}
	for _, s := range t.Subscriptions {
		topic.Subscriptions = append(topic.Subscriptions, s.options())
	}
	return config.Part{
		From:   fmt.Sprintf("sbtest.Topic{Name: %q}", t.Name),
		Entity: &emulator.EntityConfig{Path: t.Name, Topic: topic},
	}
}

func (s Subscription) options() emulator.SubscriptionOptions {
	o := emulator.SubscriptionOptions{
		Name: s.Name,
		Queue: emulator.QueueOptions{
			LockDuration:                  s.LockDuration,
			MaxDeliveryCount:              s.MaxDeliveryCount,
			DefaultMessageTimeToLive:      s.DefaultMessageTimeToLive,
			DeadLetteringOnExpiration:     s.DeadLetteringOnMessageExpiration,
			RequiresSession:               s.RequiresSession,
			ForwardTo:                     s.ForwardTo,
			ForwardDeadLetteredMessagesTo: s.ForwardDeadLetteredMessagesTo,
			AutoDeleteOnIdle:              s.AutoDeleteOnIdle,
			Status:                        emulator.Status(s.Status),
		},
		DeadLetteringOnFilterErrors: s.DeadLetteringOnFilterEvaluationExceptions,
	}
	for _, r := range s.Rules {
		o.Rules = append(o.Rules, r.options())
	}
	return o
}

func (r Rule) options() emulator.RuleOptions {
	o := emulator.DefaultRule()
	if r.Name != "" {
		o.Name = r.Name
	}
	if r.SQL != "" || r.Correlation != nil {
		o.SQL, o.Constant = r.SQL, false
	}
	if r.Correlation != nil {
		o.Correlation = r.Correlation.filter()
	}
	o.Action = r.Action
	return o
}

func (c *Correlation) filter() *emulator.CorrelationFilter {
	return &emulator.CorrelationFilter{
		ContentType:      given(c.ContentType),
		CorrelationID:    given(c.CorrelationID),
		MessageID:        given(c.MessageID),
		ReplyTo:          given(c.ReplyTo),
		ReplyToSessionID: given(c.ReplyToSessionID),
		SessionID:        given(c.SessionID),
		Label:            given(c.Subject),
		To:               given(c.To),
		Properties:       c.Properties,
	}
}

// given returns nil for an empty text.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
