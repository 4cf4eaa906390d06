package emulator

import (
	"reflect"
	"strings"
)

// EnsureEntities creates the entities that are missing and updates changeable settings that differ; it deletes
// nothing (DEC-7). A setting that differs and can't be changed is an error that says how to go on. An entity may forward to
// one that stands behind it in the list (FWD-2).
func (ns *Namespace) EnsureEntities(list []EntityConfig) error {
	planned := make(map[string]bool, len(list))
	for _, c := range list {
		planned[strings.ToLower(c.Path)] = true
	}
	ns.plan(planned)
	defer ns.plan(nil)
	c := configurator{ns}
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

// configurator makes entities what a configuration says.
type configurator struct{ ns *Namespace }

// plan says which entities are about to exist.
func (ns *Namespace) plan(paths map[string]bool) {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	ns.planned = paths
}

func (c *configurator) ensureQueue(path string, o QueueOptions) error {
	q := c.ns.catalog.lookUp(path)
	switch {
	case q == nil:
		_, err := c.ns.CreateQueue(path, o)
		return err
	case q.kind != KindQueue:
		return errorf(CodeAlreadyExists, path, "The queue '%s' can't be created: a topic has that name.", path)
	}
	o.Admin = c.rules(path, q.Options().Admin, o.Admin)
	if reflect.DeepEqual(q.Options(), o) {
		return nil
	}
	if name := immutable(q.Options(), o); name != "" {
		return fixed("queue", path, name)
	}
	c.ns.logger.Info("queue updated to the configuration", "entity", path)
	_, err := c.ns.UpdateQueue(path, o)
	return err
}

// fixed says that an entity of the configuration exists with another value of a setting that can't be changed.
func fixed(kind, path, setting string) error {
	return errorf(CodeArgument, path, "The %s '%s' exists with another %s, which can't be changed: "+
		"delete the %s, restore the setting, or start with an empty database.", kind, path, setting, kind)
}

func (c *configurator) ensureTopic(path string, o TopicOptions) error {
	list := o.Subscriptions
	o.Subscriptions = nil
	q := c.ns.catalog.lookUp(path)
	switch {
	case q == nil:
		if _, err := c.ns.CreateTopic(path, o); err != nil {
			return err
		}
	case q.topic == nil:
		return errorf(CodeAlreadyExists, path, "The topic '%s' can't be created: a queue has that name.", path)
	default:
		old := q.topic.Options()
		o.Admin = c.rules(path, old.Admin, o.Admin)
		if reflect.DeepEqual(old, o) {
			break
		}
		if name := immutable(old.queue(), o.queue()); name != "" {
			return fixed("topic", path, name)
		}
		c.ns.logger.Info("topic updated to the configuration", "entity", path)
		if _, err := c.ns.UpdateTopic(path, o); err != nil {
			return err
		}
	}
	for _, s := range list {
		if err := c.ensureSubscription(path, s); err != nil {
			return err
		}
	}
	return nil
}

// ensureSubscription also replaces the rules by those of the configuration, if that names any: whoever writes rules into
// a file means them.
func (c *configurator) ensureSubscription(topic string, o SubscriptionOptions) error {
	path := subscriptionPath(topic, o.Name)
	q := c.ns.catalog.lookUp(path)
	if q == nil {
		_, err := c.ns.CreateSubscription(topic, o)
		return err
	}
	old := q.subscription.Options()
	o.Name, o.Queue.EnablePartitioning, o.Queue.Admin = old.Name, old.Queue.EnablePartitioning, old.Queue.Admin
	if len(o.Rules) == 0 || sameRules(o.Rules, old.Rules) {
		o.Rules = old.Rules
	}
	if reflect.DeepEqual(o, old) {
		return nil
	}
	if name := immutable(old.Queue, o.Queue); name != "" {
		return fixed("subscription", path, name)
	}
	c.ns.logger.Info("subscription updated to the configuration", "entity", path)
	_, err := c.ns.UpdateSubscription(topic, o)
	return err
}

// rules returns what an entity's authorization rules become; a change of its keys is a line of the log, which shows none.
func (c *configurator) rules(path string, old, file Admin) Admin {
	next := old.with(file)
	if !reflect.DeepEqual(old.AuthorizationRules, next.AuthorizationRules) {
		c.ns.logger.Info("authorization rules changed to the configuration", "entity", path,
			"before", keyNames(old.AuthorizationRules), "now", keyNames(next.AuthorizationRules))
	}
	return next
}

func keyNames(rules []AuthorizationRule) []string {
	names := make([]string, 0, len(rules))
	for _, r := range rules {
		names = append(names, r.KeyName)
	}
	return names
}
