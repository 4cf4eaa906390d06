package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"minibus/emulator"
)

// Property is a setting of an entity or a rule, by its name in a Config.json. Its value is a string, a bool, an int64,
// or a structure that becomes JSON.
type Property struct {
	Name  string
	Value any

	standard bool // a file means the same without it, here and in the cloud
}

// Properties are all settings of an entity or a rule, in the order in which files have them.
type Properties []Property

// MarshalJSON writes an object with the settings in their order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, x := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, v := range []any{x.Name, x.Value} {
			if j > 0 {
				b.WriteByte(':')
			}
			if err := e.Encode(v); err != nil {
				return nil, fmt.Errorf("write %s: %w", x.Name, err)
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// needed returns the settings without those that a file can leave out.
func (p Properties) needed() Properties {
	return slices.DeleteFunc(p, func(x Property) bool { return x.standard })
}

// sorted puts the settings into the order of files: those of Microsoft's emulator, then the others, each by name.
func (p Properties) sorted() Properties {
	microsoft := func(x Property) int {
		if slices.Contains(microsoftKeys, x.Name) {
			return 0
		}
		return 1
	}
	slices.SortFunc(p, func(a, b Property) int {
		return cmp.Or(cmp.Compare(microsoft(a), microsoft(b)), strings.Compare(a.Name, b.Name))
	})
	return p
}

// microsoftKeys are the properties that Microsoft's emulator knows.
var microsoftKeys = queueKeys[:9]

// QueueProperties returns all settings of a queue, with the defaults that count for it. keys says whether to show its
// policies with their keys.
func QueueProperties(o emulator.QueueOptions, l emulator.Profile, keys bool) Properties {
	o = o.Effective(l)
	return append(sharedProperties(o), storageProperties(o, keys)...).sorted()
}

// TopicProperties returns those of a topic, without its subscriptions.
func TopicProperties(o emulator.TopicOptions, l emulator.Profile, keys bool) Properties {
	q := o.Queue().Effective(l)
	ordering := Property{"SupportOrdering", !o.EnablePartitioning, true}
	if given := o.Admin.SupportOrdering; given != nil {
		ordering = Property{"SupportOrdering", *given, *given == !o.EnablePartitioning}
	}
	living := Property{"DefaultMessageTimeToLive", lasting(q.DefaultMessageTimeToLive), false}
	return append(storageProperties(q, keys), ordering, living,
		idleProperty(q), batchedProperty(q), statusProperty(q), metadataProperty(q)).sorted()
}

// SubscriptionProperties returns those of a subscription, without its rules.
func SubscriptionProperties(o emulator.SubscriptionOptions, l emulator.Profile) Properties {
	lettering := o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors
	p := append(sharedProperties(o.Queue.Effective(l)),
		Property{"DeadLetteringOnFilterEvaluationExceptions", lettering, lettering})
	if c := o.Client; c != nil {
		p = append(p, Property{"ClientAffineProperties", writtenClient{c.ClientID, c.Durable, c.Shared}, !c.Shared})
	}
	return p.sorted()
}

// writtenClient is to which JMS clients a subscription belongs, in a file.
type writtenClient struct {
	ClientID  string `json:"ClientId"`
	IsDurable bool
	IsShared  bool
}

// sharedProperties are those that queues and subscriptions share.
func sharedProperties(o emulator.QueueOptions) Properties {
	return Properties{
		{"DeadLetteringOnMessageExpiration", o.DeadLetteringOnExpiration, false},
		{"DefaultMessageTimeToLive", lasting(o.DefaultMessageTimeToLive), false},
		{"ForwardTo", o.ForwardTo, o.ForwardTo == ""},
		{"ForwardDeadLetteredMessagesTo", o.ForwardDeadLetteredMessagesTo, o.ForwardDeadLetteredMessagesTo == ""},
		{"LockDuration", FormatDuration(o.LockDuration), false},
		{"MaxDeliveryCount", int64(o.MaxDeliveryCount), false},
		{"RequiresSession", o.RequiresSession, false},
		idleProperty(o), batchedProperty(o), statusProperty(o), metadataProperty(o),
	}
}

// storageProperties are those that queues and topics share.
func storageProperties(o emulator.QueueOptions, keys bool) Properties {
	kilobytes := ProfileStandard.table().DefaultKilobytes
	p := Properties{
		{"RequiresDuplicateDetection", o.RequiresDuplicateDetection, false},
		{"DuplicateDetectionHistoryTimeWindow", FormatDuration(o.DuplicateDetectionWindow), false},
		{"EnablePartitioning", o.EnablePartitioning, !o.EnablePartitioning},
		{"MaxSizeInMegabytes", o.MaxSizeInMegabytes, o.MaxSizeInMegabytes == emulator.DefaultMegabytes},
		{"MaxMessageSizeInKilobytes", o.MaxMessageSizeInKilobytes, o.MaxMessageSizeInKilobytes == kilobytes},
	}
	if rules := o.Admin.AuthorizationRules; keys && len(rules) > 0 {
		p = append(p, Property{"AuthorizationRules", writtenPolicies(rules), false})
	}
	return p
}

func idleProperty(o emulator.QueueOptions) Property {
	return Property{"AutoDeleteOnIdle", lasting(o.AutoDeleteOnIdle), o.AutoDeleteOnIdle <= 0}
}

func batchedProperty(o emulator.QueueOptions) Property {
	on := *o.EnableBatchedOperations
	return Property{"EnableBatchedOperations", on, on}
}

func statusProperty(o emulator.QueueOptions) Property {
	return Property{"Status", string(o.Status), o.Status == emulator.StatusActive}
}

func metadataProperty(o emulator.QueueOptions) Property {
	return Property{"UserMetadata", o.UserMetadata, o.UserMetadata == ""}
}

// lasting writes a duration of which 0 means for ever.
func lasting(d time.Duration) string {
	if d <= 0 {
		d = Forever
	}
	return FormatDuration(d)
}

// writtenPolicy is a policy in a file.
type writtenPolicy struct {
	KeyName      string
	Rights       []string
	PrimaryKey   string
	SecondaryKey string `json:",omitempty"`
}

func writtenPolicies(rules []emulator.AuthorizationRule) (list []writtenPolicy) {
	for _, r := range rules {
		list = append(list, writtenPolicy{r.KeyName, r.Rights, r.PrimaryKey, r.SecondaryKey})
	}
	return list
}
