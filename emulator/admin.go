package emulator

import (
	"reflect"
	"slices"
	"strings"
)

// Admin holds what the administration API stores with an entity and returns, but the broker does not use: texts as a
// client wrote them, settings that only the service's machinery knows, authorization rules. In the zero value none of
// it was ever set, as for an entity of a configuration file.
type Admin struct {
	// AuthorizationRules are the entity's own keys. They count only where access is controlled.
	AuthorizationRules []AuthorizationRule `json:"authorizationRules,omitempty"`

	// ForwardToText and ForwardDeadLetteredText are the URIs that a client gave for the targets; the settings proper hold
	// the targets' paths. A text whose path is another than the setting's is out of date and not shown.
	ForwardToText           string `json:"forwardToText,omitempty"`
	ForwardDeadLetteredText string `json:"forwardDeadLetteredText,omitempty"`
	// InertForwardTo is a ForwardTo that stood out of its place in the description: kept, shown, without effect (DEC-29).
	InertForwardTo string `json:"inertForwardTo,omitempty"`

	// TimeToLiveTicks and AutoDeleteTicks are durations above what a time.Duration can say (292 years) and below .NET's
	// greatest, in units of 100 ns. The settings proper say "never" then.
	TimeToLiveTicks int64 `json:"timeToLiveTicks,omitempty"`
	AutoDeleteTicks int64 `json:"autoDeleteTicks,omitempty"`

	EnableExpress                     bool `json:"enableExpress,omitempty"`
	FilteringMessagesBeforePublishing bool `json:"filteringMessagesBeforePublishing,omitempty"` // topics
	EnableSubscriptionPartitioning    bool `json:"enableSubscriptionPartitioning,omitempty"`    // topics
	IsClientAffine                    bool `json:"isClientAffine,omitempty"`                    // subscriptions

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

	// When an entity got the rule, and when the rule was last changed, in milliseconds since the Unix epoch; 0: an older
	// Minibus did not write it down. The broker sets them.
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
