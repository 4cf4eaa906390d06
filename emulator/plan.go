package emulator

import (
	"reflect"
	"strings"
)

// Action is the kind of a [Planned] change.
type Action uint8

// What there is.
const (
	ActionKeep   Action = iota // nothing: it is as the configuration says
	ActionCreate               // it is made
	ActionChange               // settings or rules of it change
	ActionDelete               // it is deleted, as the configuration does not have it
	ActionLeave                // nothing: the configuration does not have it, and leaves such entities alone
	ActionRefuse               // it can't be made what the configuration says
)

// Settings are those of an entity. One of them is set.
type Settings struct {
	Queue        *QueueOptions
	Topic        *TopicOptions // without its subscriptions
	Subscription *SubscriptionOptions
}

// Planned is the change of an entity that a configuration asks for.
type Planned struct {
	Path     string
	Kind     EntityKind
	Action   Action
	Old, New Settings // none set: there is no such entity before or afterwards
	Fixed    []string // settings that would differ and can't be changed, by their names in a Config.json
	Why      error    // why it is refused

	entity *Entity
	topic  string // of a subscription: the path of its topic
}

// Preview says what Apply would do with a list, for each entity of the list and of the namespace, and why it would be
// refused as a whole. It changes nothing.
func (c Configuration) Preview(list []EntityConfig, prune bool) (plan []Planned, refused error) {
	c.ns.admin.Lock()
	defer c.ns.admin.Unlock()
	plan = c.planAll(list, prune)
	return plan, c.refusal(plan, list)
}

// refusal returns why a plan can't be carried out.
func (c Configuration) refusal(plan []Planned, list []EntityConfig) error {
	changes := false
	for _, p := range plan {
		if p.Why != nil {
			return p.Why
		}
		changes = changes || p.changes()
	}
	if !changes {
		return nil
	}
	return c.dryRun(list, plan)
}

// changes reports whether anything is to be done.
func (p *Planned) changes() bool { return p.Action != ActionKeep && p.Action != ActionLeave }

// planAll compares a list with the namespace. With prune it deletes what the list does not have.
func (c Configuration) planAll(list []EntityConfig, prune bool) (plan []Planned) {
	named := make(map[string]bool, len(list))
	for _, e := range list {
		e.Path = nameOf(e.Path)
		named[e.Path] = true
		if e.Topic == nil {
			plan = append(plan, c.planQueue(e))
			continue
		}
		plan = append(plan, c.planTopic(e))
		for _, o := range e.Topic.Subscriptions {
			named[strings.ToLower(subscriptionPath(e.Path, o.Name))] = true
			plan = append(plan, c.planSubscription(e.Path, o))
		}
	}
	action := ActionLeave
	if prune {
		action = ActionDelete
	}
	for _, q := range c.ns.catalog.entities(anyKind) {
		if !named[strings.ToLower(q.path)] && !q.transient() {
			plan = append(plan, Planned{Path: q.path, Kind: q.kind, Action: action, Old: q.Settings(), entity: q})
		}
	}
	return plan
}

// Settings returns the settings of the entity, of a subscription with its rules.
func (q *Entity) Settings() Settings {
	switch {
	case q.topic != nil:
		return Settings{Topic: new(q.topic.Options())}
	case q.subscription != nil:
		return Settings{Subscription: new(q.subscription.Options())}
	}
	return Settings{Queue: new(q.Options())}
}

func (c Configuration) planQueue(e EntityConfig) Planned {
	o := *e.Queue
	o.nameTargets()
	p := Planned{Path: e.Path, Kind: KindQueue, Action: ActionCreate, New: Settings{Queue: &o}}
	q := c.ns.catalog.lookUp(e.Path)
	if q == nil {
		o.Admin.date(nil, c.ns.Now())
		return p
	}
	if q.kind != KindQueue {
		return p.refuse(errorf(CodeAlreadyExists, e.Path,
			"The queue '%s' can't be created: a topic has that name.", e.Path))
	}
	old := q.Options()
	next := o
	next.Temporary = old.Temporary
	next.Admin = old.Admin.configured(o.Admin, c.ns.Now())
	p.Old.Queue = &old
	p.New.Queue = &next
	return p.compare(q, "queue", old, next, c.sameQueue(old, next))
}

func (c Configuration) planTopic(e EntityConfig) Planned {
	settings := *e.Topic
	settings.Subscriptions = nil
	p := Planned{Path: e.Path, Kind: KindTopic, Action: ActionCreate, New: Settings{Topic: &settings}}
	q := c.ns.catalog.lookUp(e.Path)
	if q == nil {
		settings.Admin.date(nil, c.ns.Now())
		return p
	}
	if q.topic == nil {
		return p.refuse(errorf(CodeAlreadyExists, e.Path,
			"The topic '%s' can't be created: a queue has that name.", e.Path))
	}
	old, next := q.topic.Options(), q.topic.configured(*e.Topic)
	p.Old.Topic = &old
	p.New.Topic = &next
	same := old.SupportOrdering == next.SupportOrdering && c.sameQueue(old.Queue(), next.Queue())
	return p.compare(q, "topic", old.Queue(), next.Queue(), same)
}

func (c Configuration) planSubscription(topic string, o SubscriptionOptions) Planned {
	o.Queue.nameTargets()
	path := subscriptionPath(topic, o.Name)
	p := Planned{Path: path, Kind: KindSubscription, Action: ActionCreate, topic: topic}
	p.New.Subscription = &o
	q := c.ns.catalog.lookUp(path)
	if q == nil {
		return p
	}
	if q.subscription == nil {
		return p.refuse(alreadyExists(path))
	}
	old, next := q.subscription.Options(), q.subscription.configured(o)
	p.Old.Subscription = &old
	p.New.Subscription = &next
	if o.Client != nil && !o.Client.Same(old.Client) {
		p.Path, p.Fixed = q.path, []string{fixedClient}
		return p.refuse(fixed("subscription", p.Path, fixedClient))
	}
	same := old.filterErrorsToDeadLetter() == next.filterErrorsToDeadLetter() &&
		sameRules(old.Rules, next.Rules) && c.sameQueue(old.Queue, next.Queue)
	return p.compare(q, "subscription", old.Queue, next.Queue, same)
}

// sameQueue reports whether settings mean the same. One that is not set means its default.
func (c Configuration) sameQueue(a, b QueueOptions) bool {
	return reflect.DeepEqual(a.Effective(c.ns.Profile()), b.Effective(c.ns.Profile()))
}

// compare says what is to be done to an entity that exists.
func (p Planned) compare(q *Entity, kind string, old, next QueueOptions, same bool) Planned {
	p.Path = q.path
	p.entity = q
	p.Fixed = immutables(old, next)
	switch {
	case len(p.Fixed) > 0:
		return p.refuse(fixed(kind, p.Path, p.Fixed[0]))
	case same:
		p.Action = ActionKeep
	default:
		p.Action = ActionChange
	}
	return p
}

func (p Planned) refuse(why error) Planned {
	p.Action = ActionRefuse
	p.Why = why
	return p
}

// Current returns the queues and topics of the namespace, each by path, as a configuration that says all of it but
// what ends with its JMS client.
func (c Configuration) Current() (list []EntityConfig) {
	ns := c.ns
	for _, q := range ns.catalog.entities(KindQueue) {
		if !q.transient() {
			list = append(list, EntityConfig{Path: q.path, Queue: new(q.Options())})
		}
	}
	for _, q := range ns.catalog.entities(KindTopic) {
		if q.transient() {
			continue
		}
		o := q.topic.Options()
		o.Subscriptions = nil
		subscriptions, _ := ns.Entities().Subscriptions(q.path) // none of a topic that was deleted meanwhile
		for _, s := range subscriptions {
			if s.transient() {
				continue
			}
			one := s.Options()
			if one.Rules == nil {
				one.Rules = []RuleOptions{} // none, other than not said
			}
			o.Subscriptions = append(o.Subscriptions, one)
		}
		list = append(list, EntityConfig{Path: q.path, Topic: &o})
	}
	return list
}
