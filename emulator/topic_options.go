package emulator

import (
	"time"

	"minibus/emulator/filter"
)

// TopicOptions are the settings of a topic, and, where a configuration names them, its subscriptions. The zero value of
// a field means the service's default.
type TopicOptions struct {
	DefaultMessageTimeToLive   time.Duration `json:"defaultMessageTimeToLive,omitempty"`   // EXP-2
	RequiresDuplicateDetection bool          `json:"requiresDuplicateDetection,omitempty"` // DUP-1
	DuplicateDetectionWindow   time.Duration `json:"duplicateDetectionWindow,omitempty"`   // DUP-1
	AutoDeleteOnIdle           time.Duration `json:"autoDeleteOnIdle,omitempty"`           // IDLE-1
	EnablePartitioning         bool          `json:"enablePartitioning,omitempty"`         // PART-1
	MaxSizeInMegabytes         int64         `json:"maxSizeInMegabytes,omitempty"`         // QUO-1
	MaxMessageSizeInKilobytes  int64         `json:"maxMessageSizeInKilobytes,omitempty"`  // QUO-5
	SupportOrdering            bool          `json:"supportOrdering,omitempty"`            // without effect: order is always kept (TOP-15)
	EnableBatchedOperations    *bool         `json:"enableBatchedOperations,omitempty"`
	Status                     Status        `json:"status,omitempty"` // STAT-1
	UserMetadata               string        `json:"userMetadata,omitempty"`
	Admin                      Admin         `json:"admin,omitzero"`

	// Subscriptions are those that a configuration names. They are entities of their own: nothing else looks at them here.
	Subscriptions []SubscriptionOptions `json:"subscriptions,omitempty"`
}

// SubscriptionOptions are the settings of a subscription. Queue holds what it shares with a queue.
type SubscriptionOptions struct {
	Name  string        `json:"name"`
	Queue QueueOptions  `json:"queue"`
	Rules []RuleOptions `json:"rules,omitempty"` // at creation, none given: the implicit $Default (TOP-4)

	// DeadLetteringOnFilterErrors says that a message on which a rule's filter or action fails goes to the dead-letter queue
	// (TOP-10, the service's DeadLetteringOnFilterEvaluationExceptions); nil is true.
	DeadLetteringOnFilterErrors *bool `json:"deadLetteringOnFilterErrors,omitempty"`
}

// DefaultRuleName is the name of the rule that a new subscription has (TOP-4).
const DefaultRuleName = "$Default"

// RuleOptions are a rule. Exactly one of SQL and Correlation is set.
type RuleOptions struct {
	Name        string             `json:"name"` // compared without case, within its subscription
	SQL         string             `json:"sql,omitempty"`
	Constant    bool               `json:"constant,omitempty"`   // SQL spells out the service's true or false filter
	Parameters  Values             `json:"parameters,omitempty"` // of SQL
	Correlation *CorrelationFilter `json:"correlation,omitempty"`

	Action           string `json:"action,omitempty"`           // "": none
	ActionParameters Values `json:"actionParameters,omitempty"` // of Action

	CreatedAt int64 `json:"createdAt,omitempty"` // milliseconds since the Unix epoch; set by the broker
}

// DefaultRule returns the rule that takes everything, which a subscription has unless others are given (TOP-4).
func DefaultRule() RuleOptions {
	return RuleOptions{Name: DefaultRuleName, SQL: filter.TrueText, Constant: true}
}

// IsTrue reports whether the filter is the service's true filter, which is not the same as a SQL filter of that text.
func (o *RuleOptions) IsTrue() bool { return o.Constant && o.SQL == filter.TrueText }

// IsFalse reports whether the filter is the service's false filter.
func (o *RuleOptions) IsFalse() bool { return o.Constant && o.SQL == filter.FalseText }

// CorrelationFilter is the conjunction of equalities that it names (TOP-9). A field that is nil is not tested; one that
// points to an empty text is tested against that, as a property that a message does not have is not the same as an empty one.
type CorrelationFilter struct {
	ContentType      *string `json:"contentType,omitempty"`
	CorrelationID    *string `json:"correlationId,omitempty"`
	Label            *string `json:"label,omitempty"`
	MessageID        *string `json:"messageId,omitempty"`
	ReplyTo          *string `json:"replyTo,omitempty"`
	ReplyToSessionID *string `json:"replyToSessionId,omitempty"`
	SessionID        *string `json:"sessionId,omitempty"`
	To               *string `json:"to,omitempty"`
	Properties       Values  `json:"properties,omitempty"` // application properties; the type counts
}

// Queue returns what the topic's settings are for the entity that keeps its scheduled messages.
func (o TopicOptions) Queue() QueueOptions {
	return QueueOptions{
		DefaultMessageTimeToLive: o.DefaultMessageTimeToLive, RequiresDuplicateDetection: o.RequiresDuplicateDetection,
		DuplicateDetectionWindow: o.DuplicateDetectionWindow, AutoDeleteOnIdle: o.AutoDeleteOnIdle,
		EnablePartitioning: o.EnablePartitioning, MaxSizeInMegabytes: o.MaxSizeInMegabytes,
		MaxMessageSizeInKilobytes: o.MaxMessageSizeInKilobytes, EnableBatchedOperations: o.EnableBatchedOperations,
		Status: o.Status, UserMetadata: o.UserMetadata, Admin: o.Admin,
	}
}

// filterErrorsToDeadLetter is DeadLetteringOnFilterErrors with its default.
func (o SubscriptionOptions) filterErrorsToDeadLetter() bool {
	return o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors
}
