package arm

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// entityKind is a set of kinds of entities.
type entityKind uint8

const (
	queue entityKind = 1 << iota
	topic
	subscription
)

// shownEntity is what the table of properties reads. Options has the settings that an entity has whatever it is.
type shownEntity struct {
	kind         entityKind
	options      emulator.QueueOptions
	ordering     bool // of a topic
	filterErrors bool // of a subscription
	client       *emulator.ClientAffine
	counts       emulator.Counts
	times        emulator.Times
	profile      emulator.Profile
	isPremium    bool
}

// form is the JSON form of a property.
type form uint8

const (
	flag form = iota + 1
	integer
	duration
	words
	objectOfClient // clientAffineProperties
	readOnly       // what a body says does not count
)

// tiers say in which tiers a property can have another value than its default.
type tiers uint8

const (
	everyTier tiers = iota
	notBasic
)

// entityProperty is a property of queues, topics or subscriptions.
type entityProperty struct {
	name  string
	kinds entityKind
	form  form
	tier  tiers
	show  func(e *shownEntity) any // nil: left out
}

// entityProperties are all. Which values they may have, which of them can't be changed, and their defaults, the
// documents of the administration say, into which a body is translated. Their elements have the same names, with a
// capital letter; forwardTo must come before those that follow it there.
var entityProperties = []entityProperty{
	{"lockDuration", queue | subscription, duration, everyTier, func(e *shownEntity) any {
		return iso(or(e.options.LockDuration, emulator.DefaultLockDuration), 0)
	}},
	{"requiresSession", queue | subscription, flag, notBasic, func(e *shownEntity) any {
		return e.options.RequiresSession
	}},
	{"forwardTo", queue | subscription, words, notBasic, func(e *shownEntity) any {
		return given(e.options.ForwardTo)
	}},
	{"forwardDeadLetteredMessagesTo", queue | subscription, words, notBasic, func(e *shownEntity) any {
		return given(e.options.ForwardDeadLetteredMessagesTo)
	}},
	{"defaultMessageTimeToLive", queue | topic | subscription, duration, notBasic, func(e *shownEntity) any {
		return iso(e.options.DefaultMessageTimeToLive, e.options.Admin.TimeToLiveTicks)
	}},
	{"deadLetteringOnMessageExpiration", queue | subscription, flag, everyTier, func(e *shownEntity) any {
		return e.options.DeadLetteringOnExpiration
	}},
	{"deadLetteringOnFilterEvaluationExceptions", subscription, flag, everyTier, func(e *shownEntity) any {
		return e.filterErrors
	}},
	{"maxDeliveryCount", queue | subscription, integer, everyTier, func(e *shownEntity) any {
		return or(e.options.MaxDeliveryCount, emulator.DefaultMaxDelivery)
	}},
	{"autoDeleteOnIdle", queue | topic | subscription, duration, notBasic, func(e *shownEntity) any {
		return iso(e.options.AutoDeleteOnIdle, e.options.Admin.AutoDeleteTicks)
	}},
	{"requiresDuplicateDetection", queue | topic, flag, notBasic, func(e *shownEntity) any {
		return e.options.RequiresDuplicateDetection
	}},
	{"duplicateDetectionHistoryTimeWindow", queue | topic, duration, everyTier, func(e *shownEntity) any {
		return iso(or(e.options.DuplicateDetectionWindow, emulator.DefaultDedupWindow), 0)
	}},
	{"enablePartitioning", queue | topic, flag, everyTier, func(e *shownEntity) any {
		return e.options.EnablePartitioning
	}},
	{"maxSizeInMegabytes", queue | topic, integer, everyTier, (*shownEntity).megabytes},
	{"maxMessageSizeInKilobytes", queue | topic, integer, everyTier, func(e *shownEntity) any {
		return or(e.options.MaxMessageSizeInKilobytes, e.profile.Limits().DefaultKilobytes)
	}},
	{"enableBatchedOperations", queue | topic | subscription, flag, everyTier, func(e *shownEntity) any {
		return e.options.EnableBatchedOperations == nil || *e.options.EnableBatchedOperations
	}},
	{"enableExpress", queue | topic, flag, notBasic, func(e *shownEntity) any { return e.options.Admin.EnableExpress }},
	{"supportOrdering", topic, flag, everyTier, func(e *shownEntity) any { return e.ordering }},
	{"status", queue | topic | subscription, words, everyTier, func(e *shownEntity) any {
		return string(or(e.options.Status, emulator.StatusActive))
	}},
	{"userMetadata", queue | topic | subscription, words, everyTier, func(e *shownEntity) any {
		return given(e.options.UserMetadata)
	}},
	{"isClientAffine", subscription, flag, everyTier, func(e *shownEntity) any {
		return e.client != nil
	}},
	{"clientAffineProperties", subscription, objectOfClient, everyTier, func(e *shownEntity) any {
		if e.client == nil {
			return nil
		}
		return object{"clientId": e.client.ClientID, "isDurable": e.client.Durable, "isShared": e.client.Shared}
	}},

	{"createdAt", queue | topic | subscription, readOnly, everyTier, func(e *shownEntity) any {
		return instant(e.times.Created)
	}},
	{"updatedAt", queue | topic | subscription, readOnly, everyTier, func(e *shownEntity) any {
		return instant(e.times.Updated)
	}},
	{"accessedAt", queue | topic | subscription, readOnly, everyTier, func(e *shownEntity) any {
		return instant(e.times.Accessed)
	}},
	{"sizeInBytes", queue | topic, readOnly, everyTier, func(e *shownEntity) any { return e.counts.SizeBytes }},
	{"messageCount", queue | subscription, readOnly, everyTier, func(e *shownEntity) any {
		c := e.counts
		return c.Active + c.DeadLetter + c.Scheduled + c.Transfer + c.TransferDeadLetter
	}},
	{"subscriptionCount", topic, readOnly, everyTier, func(e *shownEntity) any { return e.counts.Subscriptions }},
	{"countDetails", queue | topic | subscription, readOnly, everyTier, func(e *shownEntity) any {
		return object{
			"activeMessageCount": e.counts.Active, "deadLetterMessageCount": e.counts.DeadLetter,
			"scheduledMessageCount": e.counts.Scheduled, "transferMessageCount": e.counts.Transfer,
			"transferDeadLetterMessageCount": e.counts.TransferDeadLetter,
		}
	}},
}

// or returns v, or its default.
func or[T comparable](v, initial T) T {
	var none T
	if v == none {
		return initial
	}
	return v
}

// given returns a text, or nil for none.
func given(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// iso returns a duration as .NET writes it. None is never; ticks are one that is too long for d.
func iso(d time.Duration, ticks int64) string {
	switch {
	case d > 0:
		return atom.SpanOf(d).String()
	case ticks > 0:
		return atom.TimeSpan(ticks).String()
	}
	return atom.MaxTimeSpan.String()
}

// megabytes returns the size as the entity shows it: with the factor of partitions, which Premium does not have.
func (e *shownEntity) megabytes() any {
	return atom.ShownSize(e.profile, e.options.MaxSizeInMegabytes, e.options.EnablePartitioning && !e.isPremium)
}

// properties returns an entity as answers show it.
func (e *shownEntity) properties() object {
	o := object{}
	for _, p := range entityProperties {
		if p.kinds&e.kind == 0 {
			continue
		}
		if v := p.show(e); v != nil {
			o[p.name] = v
		}
	}
	return o
}

// text returns the value of a property as an element of the administration's documents has it. ok is false for JSON
// of another form.
func (p *entityProperty) text(value json.RawMessage) (text string, ok bool) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), p.form == flag
	case json.Number:
		return v.String(), p.form == integer
	case string:
		switch p.form {
		case flag:
			return v, strings.EqualFold(v, "true") || strings.EqualFold(v, "false") // as the text of a parameter
		case integer:
			_, err := strconv.ParseInt(v, 10, 64)
			return v, err == nil
		}
		return v, true
	}
	return "", false
}

// document translates the properties of a body into a document of the administration. What is left out, null, or an
// empty text has its default there.
func (c *call) document(kind entityKind, element string, properties map[string]json.RawMessage) (*atom.Element, error) {
	var children []*atom.Element
	for _, p := range entityProperties {
		value, ok := property(properties, p.name)
		if !ok || p.kinds&kind == 0 || p.form == readOnly {
			continue
		}
		if p.form == objectOfClient {
			child, err := clientElement(value)
			if err != nil {
				return nil, err
			}
			if child != nil {
				children = append(children, child)
			}
			continue
		}
		text, ok := p.text(value)
		if !ok {
			return nil, badRequest("InvalidRequestContent", "The value %.60s of the property '%s' has the wrong type.",
				value, p.name)
		}
		if text == "" || p.name == "maxSizeInMegabytes" && text == "0" {
			continue
		}
		children = append(children, atom.NewElement(upper(p.name), text))
	}
	return atom.NewElement(element, "", children...), nil
}

// clientElement translates clientAffineProperties. None of them, as tools send for other subscriptions, is nothing.
func clientElement(value json.RawMessage) (*atom.Element, error) {
	var client struct {
		ClientID            string `json:"clientId"`
		IsDurable, IsShared *bool
	}
	if err := json.Unmarshal(value, &client); err != nil {
		return nil, badRequest("InvalidRequestContent", "The value %.60s of the property 'clientAffineProperties' has "+
			"the wrong type.", value)
	}
	if client.ClientID == "" && client.IsDurable == nil && client.IsShared == nil {
		return nil, nil
	}
	children := []*atom.Element{atom.NewElement("ClientId", client.ClientID)}
	for name, set := range map[string]*bool{"IsDurable": client.IsDurable, "IsShared": client.IsShared} {
		if set != nil {
			children = append(children, atom.NewElement(name, strconv.FormatBool(*set)))
		}
	}
	return atom.NewElement("ClientAffineProperties", "", children...), nil
}

// upper returns the name of a property as the administration's documents have it.
func upper(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
