package emulator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"minibus/emulator/filter"
)

// Status of an entity (STAT).
type Status string

// The statuses that a user can set.
const (
	StatusActive          Status = "Active"
	StatusDisabled        Status = "Disabled"
	StatusSendDisabled    Status = "SendDisabled"
	StatusReceiveDisabled Status = "ReceiveDisabled"
)

// check fails unless the status is one that a user can set (STAT-1, STAT-5). None means active.
func (s Status) check(entity string) error {
	switch s {
	case "", StatusActive, StatusDisabled, StatusSendDisabled, StatusReceiveDisabled:
		return nil
	}
	return errorf(CodeArgument, entity, "The status '%s' of the entity '%s' can't be set.", string(s), entity)
}

// Defaults of the service for entities created through its API (DEC-4), and the default size limit (DEC-2).
const (
	DefaultLockDuration    = time.Minute
	DefaultMaxDelivery     = 10
	defaultMaxMessageBytes = 262_144
	DefaultDedupWindow     = 10 * time.Minute
	DefaultMegabytes       = 1024 // QUO-1
)

// Resolution is that of the broker's times, AMQP's (TIME-7). An entity can't be given a lock or a time to live that
// is shorter.
const Resolution = time.Millisecond

// QueueOptions are the settings of a queue. The zero value of a field means the service's default.
type QueueOptions struct {
	LockDuration                  time.Duration `json:"lockDuration,omitempty"`                  // LOCK-1
	MaxDeliveryCount              int           `json:"maxDeliveryCount,omitempty"`              // DC-7
	DefaultMessageTimeToLive      time.Duration `json:"defaultMessageTimeToLive,omitempty"`      // 0: none
	DeadLetteringOnExpiration     bool          `json:"deadLetteringOnExpiration,omitempty"`     // EXP-6
	RequiresSession               bool          `json:"requiresSession,omitempty"`               // SESS-1
	RequiresDuplicateDetection    bool          `json:"requiresDuplicateDetection,omitempty"`    // DUP-1
	DuplicateDetectionWindow      time.Duration `json:"duplicateDetectionWindow,omitempty"`      // DUP-1
	ForwardTo                     string        `json:"forwardTo,omitempty"`                     // FWD-1
	ForwardDeadLetteredMessagesTo string        `json:"forwardDeadLetteredMessagesTo,omitempty"` // FWD-1
	AutoDeleteOnIdle              time.Duration `json:"autoDeleteOnIdle,omitempty"`              // 0: never (IDLE-1)
	EnablePartitioning            bool          `json:"enablePartitioning,omitempty"`            // PART-1
	MaxSizeInMegabytes            int64         `json:"maxSizeInMegabytes,omitempty"`            // QUO-1
	MaxMessageSizeInKilobytes     int64         `json:"maxMessageSizeInKilobytes,omitempty"`     // QUO-5, DEC-2
	EnableBatchedOperations       *bool         `json:"enableBatchedOperations,omitempty"`
	Status                        Status        `json:"status,omitempty"` // STAT-1
	UserMetadata                  string        `json:"userMetadata,omitempty"`
	Temporary                     bool          `json:"temporary,omitempty"` // ends with a JMS client; fixed
	Admin                         Admin         `json:"admin,omitzero"`
}

// EntityConfig is an entity that must exist, as a configuration names it. Exactly one of Queue and Topic is set.
type EntityConfig struct {
	Path  string
	Queue *QueueOptions
	Topic *TopicOptions
}

func (o QueueOptions) lockDuration() time.Duration {
	if o.LockDuration <= 0 {
		return DefaultLockDuration
	}
	return max(o.LockDuration, Resolution) // older versions took less
}

func (o QueueOptions) maxDelivery() uint32 {
	if o.MaxDeliveryCount <= 0 {
		return DefaultMaxDelivery
	}
	return uint32(min(int64(o.MaxDeliveryCount), 1<<31-1))
}

func (o QueueOptions) maxMessageBytes(l Profile) int64 {
	if o.MaxMessageSizeInKilobytes <= 0 {
		return profiles[l].DefaultKilobytes * 1024
	}
	return o.MaxMessageSizeInKilobytes * 1024
}

// Effective returns the settings with the defaults that count where none is set, under a profile of limits.
func (o QueueOptions) Effective(l Profile) QueueOptions {
	o.LockDuration = cmp.Or(o.LockDuration, DefaultLockDuration)
	o.MaxDeliveryCount = cmp.Or(o.MaxDeliveryCount, DefaultMaxDelivery)
	o.DuplicateDetectionWindow = cmp.Or(o.DuplicateDetectionWindow, DefaultDedupWindow)
	o.MaxSizeInMegabytes = cmp.Or(o.MaxSizeInMegabytes, DefaultMegabytes)
	o.MaxMessageSizeInKilobytes = cmp.Or(o.MaxMessageSizeInKilobytes, profiles[l].DefaultKilobytes)
	o.Status = cmp.Or(o.Status, StatusActive)
	o.EnableBatchedOperations = cmp.Or(o.EnableBatchedOperations, new(true))
	return o
}

func encodeOptions(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode entity options: %w", err)
	}
	return b, nil
}

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
	// without effect: order is always kept (TOP-15)
	SupportOrdering         bool   `json:"supportOrdering,omitempty"`
	EnableBatchedOperations *bool  `json:"enableBatchedOperations,omitempty"`
	Status                  Status `json:"status,omitempty"` // STAT-1
	UserMetadata            string `json:"userMetadata,omitempty"`
	Temporary               bool   `json:"temporary,omitempty"` // ends with a JMS client; fixed at creation
	Admin                   Admin  `json:"admin,omitzero"`

	// Subscriptions are those that a configuration names. They are entities of their own: nothing else looks at them
	// here.
	Subscriptions []SubscriptionOptions `json:"subscriptions,omitempty"`
}

// SubscriptionOptions are the settings of a subscription. Queue holds what it shares with a queue.
type SubscriptionOptions struct {
	Name  string        `json:"name"`
	Queue QueueOptions  `json:"queue"`
	Rules []RuleOptions `json:"rules,omitempty"` // at creation, none given: the implicit $Default (TOP-4)

	// DeadLetteringOnFilterErrors says that a message on which a rule's filter or action fails goes to the
	// dead-letter queue (TOP-10, the service's DeadLetteringOnFilterEvaluationExceptions); nil is true.
	DeadLetteringOnFilterErrors *bool `json:"deadLetteringOnFilterErrors,omitempty"`

	// Client says that the subscription belongs to JMS clients; nil: it does not. It is fixed at creation.
	Client *ClientAffine `json:"client,omitempty"`
}

// ClientAffine says to which JMS clients a subscription belongs and how they use it (JMS-9). The subscription's name
// contains the client id and the durability: NAME$CLIENTID$D or NAME$CLIENTID$ND.
type ClientAffine struct {
	ClientID string `json:"clientId,omitempty"` // "": of clients that have none
	Durable  bool   `json:"durable,omitempty"`  // else it ends with its last consumer
	Shared   bool   `json:"shared,omitempty"`   // else it has one consumer at a time
	Selector string `json:"selector,omitempty"` // of the consumer that made it; its rule may have changed since
}

// The ends of the names of such subscriptions.
const (
	durableEnd  = "$D"
	volatileEnd = "$ND"
)

// ClientAffineOf splits the name of a subscription of JMS clients. It returns nil if the name is not that of one. A
// client id has no $, while the clients' own name may have several.
func ClientAffineOf(full string) (name string, c *ClientAffine) {
	last := strings.LastIndexByte(full, '$')
	if last < 0 {
		return full, nil
	}
	rest, end := full[:last], full[last:]
	durable := strings.EqualFold(end, durableEnd)
	at := strings.LastIndexByte(rest, '$')
	if at < 1 || !durable && !strings.EqualFold(end, volatileEnd) {
		return full, nil
	}
	return rest[:at], &ClientAffine{ClientID: rest[at+1:], Durable: durable}
}

// subscriptionName returns the name of the subscription that clients know by a name of their own.
func (c *ClientAffine) subscriptionName(name string) string {
	if c.Durable {
		return name + "$" + c.ClientID + durableEnd
	}
	return name + "$" + c.ClientID + volatileEnd
}

// Same reports whether two subscriptions belong to the same clients, in the same way.
func (c *ClientAffine) Same(other *ClientAffine) bool {
	if c == nil || other == nil {
		return c == other
	}
	return strings.EqualFold(c.ClientID, other.ClientID) && c.Durable == other.Durable && c.Shared == other.Shared
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

// CorrelationFilter is the conjunction of equalities that it names (TOP-9). A field that is nil is not tested; one
// that points to an empty text is tested against that, as a property that a message does not have is not the same as
// an empty one.
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
		Status: o.Status, UserMetadata: o.UserMetadata, Temporary: o.Temporary, Admin: o.Admin,
	}
}

// filterErrorsToDeadLetter is DeadLetteringOnFilterErrors with its default.
func (o SubscriptionOptions) filterErrorsToDeadLetter() bool {
	return o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors
}

// Admin holds what the administration API stores with an entity and returns, but the broker does not use: texts as a
// client wrote them, settings that only the service's machinery knows, authorization rules. In the zero value none of
// it was ever set, as for an entity of a configuration file.
type Admin struct {
	// AuthorizationRules are the entity's own keys. They count only where access is controlled.
	AuthorizationRules []AuthorizationRule `json:"authorizationRules,omitempty"`

	// ForwardToText and ForwardDeadLetteredText are the URIs that a client gave for the targets; the settings proper
	// hold the targets' paths. A text whose path is another than the setting's is out of date and not shown.
	ForwardToText           string `json:"forwardToText,omitempty"`
	ForwardDeadLetteredText string `json:"forwardDeadLetteredText,omitempty"`
	// InertForwardTo is a ForwardTo that stood out of its place in the description: kept, shown, without effect
	// (DEC-29).
	InertForwardTo string `json:"inertForwardTo,omitempty"`

	// TimeToLiveTicks and AutoDeleteTicks are durations above what a time.Duration can say (292 years) and below .NET's
	// greatest, in units of 100 ns. The settings proper say "never" then.
	TimeToLiveTicks int64 `json:"timeToLiveTicks,omitempty"`
	AutoDeleteTicks int64 `json:"autoDeleteTicks,omitempty"`

	EnableExpress                     bool `json:"enableExpress,omitempty"`
	FilteringMessagesBeforePublishing bool `json:"filteringMessagesBeforePublishing,omitempty"` // topics
	EnableSubscriptionPartitioning    bool `json:"enableSubscriptionPartitioning,omitempty"`    // topics

	// SupportOrdering is the value that a client set for a topic; nil means the default, which depends on partitioning.
	SupportOrdering *bool `json:"supportOrdering,omitempty"`
}

// AuthorizationRule is one named pair of keys with what it allows.
type AuthorizationRule struct {
	KeyName      string   `json:"keyName"`
	Rights       []string `json:"rights"` // Manage, Send, Listen in the order in which they were given
	PrimaryKey   string   `json:"primaryKey"`
	SecondaryKey string   `json:"secondaryKey"`
	ClaimType    string   `json:"claimType,omitempty"`  // "" means SharedAccessKey
	ClaimValue   string   `json:"claimValue,omitempty"` // "" means None
	Created      string   `json:"created,omitempty"`    // as the client wrote it, like Modified; "" if it gave none
	Modified     string   `json:"modified,omitempty"`

	// When an entity got the rule, and when the rule was last changed, in milliseconds since the Unix epoch; 0: an
	// older Minibus did not write it down. The broker sets them.
	CreatedAt  int64 `json:"createdAt,omitempty"`
	ModifiedAt int64 `json:"modifiedAt,omitempty"`
}

// date gives the rules their times. A rule that the old settings have too keeps them as far as it is the same.
func (a *Admin) date(old []AuthorizationRule, now int64) {
	a.AuthorizationRules = slices.Clone(a.AuthorizationRules)
	for i := range a.AuthorizationRules {
		r := &a.AuthorizationRules[i]
		r.CreatedAt, r.ModifiedAt = now, now
		same := func(o AuthorizationRule) bool { return strings.EqualFold(o.KeyName, r.KeyName) }
		if at := slices.IndexFunc(old, same); at >= 0 {
			r.CreatedAt = old[at].CreatedAt
			if unchanged := old[at]; reflect.DeepEqual(unchanged.undated(), r.undated()) {
				r.ModifiedAt = unchanged.ModifiedAt
			}
		}
	}
}

// undated returns the rule without the broker's times.
func (r AuthorizationRule) undated() AuthorizationRule {
	r.CreatedAt, r.ModifiedAt = 0, 0
	return r
}
