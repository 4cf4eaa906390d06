package emulator

import (
	"fmt"
	"reflect"
	"strings"

	"minibus/internal/entitypath"
)

// Configuration compares the entities of a namespace with a configuration, and makes them what it says.
type Configuration struct{ ns *Namespace }

// Configuration returns the part that makes the entities of the namespace what a configuration says.
func (ns *Namespace) Configuration() Configuration { return Configuration{ns} }

// Check fails as Ensure would, and changes nothing.
func (c Configuration) Check(list []EntityConfig) error {
	_, err := c.Preview(list, false)
	return err
}

// Put makes one entity what a configuration says of it, and waits until that is durable. It reports whether the entity
// was created. A topic may have subscriptions; then all of it is made, or nothing. Errors are those of CreateQueue,
// UpdateQueue and so on, and CodeQuotaExceeded for an entity too many.
func (c Configuration) Put(path string, s Settings) (created bool, err error) {
	created = c.ns.catalog.lookUp(path) == nil
	if created && s.Subscription == nil {
		err = c.roomForMore(path)
	}
	topic, _, _ := entitypath.SplitSubscription(path)
	switch {
	case err != nil:
	case s.Subscription != nil:
		err = c.ensureSubscription(topic, *s.Subscription)
	case s.Queue != nil:
		err = c.ensureQueue(path, *s.Queue)
	case len(s.Topic.Subscriptions) > 0:
		_, err = c.Apply([]EntityConfig{{Path: path, Topic: s.Topic}}, false)
	default:
		err = c.ensureTopic(path, *s.Topic)
	}
	return created, err
}

// roomForMore fails when the namespace has as many queues and topics as its profile takes.
func (c Configuration) roomForMore(path string) error {
	ns := c.ns
	_, queues := ns.catalog.page(KindQueue, 0, 0)
	_, topics := ns.catalog.page(KindTopic, 0, 0)
	if most := profiles[ns.Profile()].Entities; most > 0 && queues+topics >= most {
		return errorf(CodeQuotaExceeded, path, "The maximum number of queues and topics has been reached or exceeded. "+
			"Actual: %d, Max allowed: %d.", queues+topics, most)
	}
	return nil
}

// ensure makes the list true, one entity after the other. It is for trying, and for a namespace that has no entities
// yet.
func (c Configuration) ensure(list []EntityConfig) error {
	planned := make(map[string]bool, len(list))
	for _, e := range list {
		planned[strings.ToLower(e.Path)] = true
	}
	c.plan(planned)
	defer c.plan(nil)
	for _, e := range list {
		var err error
		if e.Queue != nil {
			err = c.ensureQueue(e.Path, *e.Queue)
		} else if e.Topic != nil {
			err = c.ensureTopic(e.Path, *e.Topic)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plan says which entities are about to exist.
func (c Configuration) plan(paths map[string]bool) {
	c.ns.admin.Lock()
	defer c.ns.admin.Unlock()
	c.ns.planned = paths
}

func (c Configuration) ensureQueue(path string, o QueueOptions) (err error) {
	p := c.planQueue(EntityConfig{Path: path, Queue: &o})
	switch p.Action {
	case ActionCreate:
		_, err = c.ns.Entities().CreateQueue(path, o)
	case ActionChange:
		_, err = c.ns.Entities().UpdateQueue(path, *p.New.Queue)
	case ActionRefuse:
		err = p.Why
	}
	return err
}

// fixed says that an entity of the configuration exists with another value of a setting that can't be changed.
func fixed(kind, path, setting string) error {
	return errorf(CodeArgument, path, "The %s '%s' exists with another %s, which can't be changed: "+
		"delete the %s, restore the setting, or start with an empty database.", kind, path, setting, kind)
}

func (c Configuration) ensureTopic(path string, o TopicOptions) (err error) {
	p := c.planTopic(EntityConfig{Path: path, Topic: &o})
	switch p.Action {
	case ActionCreate:
		_, err = c.ns.Entities().CreateTopic(path, *p.New.Topic)
	case ActionChange:
		_, err = c.ns.Entities().UpdateTopic(path, *p.New.Topic)
	case ActionRefuse:
		err = p.Why
	}
	for _, s := range o.Subscriptions {
		if err == nil {
			err = c.ensureSubscription(path, s)
		}
	}
	return err
}

func (c Configuration) ensureSubscription(topic string, o SubscriptionOptions) (err error) {
	p := c.planSubscription(topic, o)
	switch p.Action {
	case ActionCreate:
		_, err = c.ns.Entities().CreateSubscription(topic, o)
	case ActionChange:
		_, err = c.ns.Entities().UpdateSubscription(topic, *p.New.Subscription)
	case ActionRefuse:
		err = p.Why
	}
	return err
}

// configured returns the settings that a topic, without its subscriptions, has once a configuration with these is
// applied. What a configuration can't say stays. A list that it does not have stays too, while an empty one clears.
func (t *Topic) configured(file TopicOptions) TopicOptions {
	old := t.Options()
	asked := file.Admin.SupportOrdering
	file.Subscriptions = nil
	file.Temporary = old.Temporary
	file.Admin = old.Admin.configured(file.Admin, t.ns.Now())
	file.SupportOrdering = old.SupportOrdering
	if asked != nil && *asked != old.ordered() {
		file.SupportOrdering = *asked
		file.Admin.SupportOrdering = asked
	}
	return file
}

// ordered is SupportOrdering with its default.
func (o *TopicOptions) ordered() bool {
	if o.Admin.SupportOrdering != nil {
		return *o.Admin.SupportOrdering
	}
	return !o.EnablePartitioning
}

// configured returns the settings that a subscription has once a configuration with these is applied. A list of rules
// replaces the present ones; an empty one leaves the default rule, as at creation (TOP-4).
func (s *Subscription) configured(file SubscriptionOptions) SubscriptionOptions {
	old := s.Options()
	file.Name, file.Client = old.Name, old.Client
	file.Queue.EnablePartitioning = old.Queue.EnablePartitioning
	file.Queue.Admin = old.Queue.Admin
	if file.Rules != nil && len(file.Rules) == 0 {
		file.Rules = []RuleOptions{DefaultRule()}
	}
	if file.Rules == nil || sameRules(file.Rules, old.Rules) {
		file.Rules = old.Rules
	}
	return file
}

// configured returns what an entity keeps for the administration once a configuration is applied. Of this a
// configuration can say authorization rules, and of a topic SupportOrdering.
func (a Admin) configured(file Admin, now int64) Admin {
	switch {
	case file.AuthorizationRules == nil:
	case len(file.AuthorizationRules) == 0:
		a.AuthorizationRules = nil
	default:
		file.date(a.AuthorizationRules, now)
		a.AuthorizationRules = file.AuthorizationRules
	}
	return a
}

// tell writes lines about what was done to an entity that had settings before.
func (c Configuration) tell(p *Planned) {
	switch {
	case p.Action == ActionDelete:
		c.ns.logger.Info("entity deleted, which the configuration does not have", "entity", p.Path)
	case p.Action != ActionChange:
	case p.Old.Queue != nil:
		c.tellChanges(p.Path, *p.Old.Queue, *p.New.Queue)
	case p.Old.Topic != nil:
		old := *p.Old.Topic
		old.SupportOrdering = p.New.Topic.SupportOrdering // follows from what was asked for, which is told
		c.tellChanges(p.Path, old, *p.New.Topic)
	default:
		c.tellChanges(p.Path, *p.Old.Subscription, *p.New.Subscription)
	}
}

// tellChanges writes a line for each setting of an entity that a configuration changed. Of rules it shows the names,
// and no key.
func (c Configuration) tellChanges(path string, old, next any) {
	was, is := reflect.ValueOf(old), reflect.ValueOf(next)
	for i := range was.NumField() {
		before, now := was.Field(i).Interface(), is.Field(i).Interface()
		if reflect.DeepEqual(before, now) {
			continue
		}
		switch before.(type) {
		case QueueOptions, Admin: // parts of the settings
			c.tellChanges(path, before, now)
		default:
			c.ns.logger.Info("setting changed to the configuration", "entity", path,
				"setting", was.Type().Field(i).Name, "before", shownSetting(before), "now", shownSetting(now))
		}
	}
}

// shownSetting is the value of a setting for a line of the log.
func shownSetting(v any) any {
	names := []string{}
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.100s", v)
	case *bool:
		if v == nil {
			return "default"
		}
		return *v
	case []AuthorizationRule:
		for _, r := range v {
			names = append(names, r.KeyName)
		}
		return names
	case []RuleOptions:
		for _, r := range v {
			names = append(names, r.Name)
		}
		return names
	}
	return v
}
