package emulator

import (
	"reflect"
	"slices"
	"strings"
)

// EnsureEntities creates the entities that are missing and updates changeable settings that differ; it deletes
// nothing (DEC-7). A setting that differs and can't be changed is an error that says how to go on. An entity may forward to
// one that stands behind it in the list (FWD-2). A list of which anything is refused changes nothing.
func (ns *Namespace) EnsureEntities(list []EntityConfig) error {
	c := configurator{ns}
	if !slices.ContainsFunc(list, c.differs) {
		return nil
	}
	if err := c.rehearse(list); err != nil {
		return err
	}
	return c.ensure(list)
}

// CheckEntities fails as EnsureEntities would, and changes nothing.
func (ns *Namespace) CheckEntities(list []EntityConfig) error {
	c := configurator{ns}
	if !slices.ContainsFunc(list, c.differs) {
		return nil
	}
	return c.rehearse(list)
}

// configurator makes entities what a configuration says.
type configurator struct{ ns *Namespace }

// ensure makes the list true, one entity after the other.
func (c *configurator) ensure(list []EntityConfig) error {
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

// differs reports whether there is anything to do, or to refuse, for an entity of a configuration.
func (c *configurator) differs(e EntityConfig) bool {
	q := c.ns.catalog.lookUp(e.Path)
	switch {
	case q == nil:
		return true
	case e.Queue != nil:
		return q.kind != KindQueue || !reflect.DeepEqual(q.Options(), q.configured(*e.Queue))
	case e.Topic == nil:
		return false
	}
	return q.topic == nil || !reflect.DeepEqual(q.topic.Options(), q.topic.configured(*e.Topic)) ||
		slices.ContainsFunc(e.Topic.Subscriptions, func(o SubscriptionOptions) bool {
			s := c.ns.catalog.lookUp(subscriptionPath(e.Path, o.Name))
			return s == nil || !reflect.DeepEqual(s.subscription.Options(), s.subscription.configured(o))
		})
}

// plan says which entities are about to exist.
func (c *configurator) plan(paths map[string]bool) {
	c.ns.admin.Lock()
	defer c.ns.admin.Unlock()
	c.ns.planned = paths
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
	old := q.Options()
	o = q.configured(o)
	if reflect.DeepEqual(old, o) {
		return nil
	}
	if name := immutable(old, o); name != "" {
		return fixed("queue", path, name)
	}
	_, err := c.ns.UpdateQueue(path, o)
	if err == nil {
		c.tellChanges(path, old, o)
	}
	return err
}

// fixed says that an entity of the configuration exists with another value of a setting that can't be changed.
func fixed(kind, path, setting string) error {
	return errorf(CodeArgument, path, "The %s '%s' exists with another %s, which can't be changed: "+
		"delete the %s, restore the setting, or start with an empty database.", kind, path, setting, kind)
}

func (c *configurator) ensureTopic(path string, o TopicOptions) error {
	if err := c.ensureTopicItself(path, o); err != nil {
		return err
	}
	for _, s := range o.Subscriptions {
		if err := c.ensureSubscription(path, s); err != nil {
			return err
		}
	}
	return nil
}

// ensureTopicItself is ensureTopic without the subscriptions.
func (c *configurator) ensureTopicItself(path string, o TopicOptions) error {
	q := c.ns.catalog.lookUp(path)
	switch {
	case q == nil:
		o.Subscriptions = nil
		_, err := c.ns.CreateTopic(path, o)
		return err
	case q.topic == nil:
		return errorf(CodeAlreadyExists, path, "The topic '%s' can't be created: a queue has that name.", path)
	}
	old := q.topic.Options()
	o = q.topic.configured(o)
	if reflect.DeepEqual(old, o) {
		return nil
	}
	if name := immutable(q.Options(), o.queue()); name != "" {
		return fixed("topic", path, name)
	}
	_, err := c.ns.UpdateTopic(path, o)
	if err == nil {
		old.SupportOrdering = o.SupportOrdering // follows from what was asked for, which is told
		c.tellChanges(path, old, o)
	}
	return err
}

func (c *configurator) ensureSubscription(topic string, o SubscriptionOptions) error {
	path := subscriptionPath(topic, o.Name)
	q := c.ns.catalog.lookUp(path)
	if q == nil {
		_, err := c.ns.CreateSubscription(topic, o)
		return err
	}
	old := q.subscription.Options()
	o = q.subscription.configured(o)
	if reflect.DeepEqual(old, o) {
		return nil
	}
	if name := immutable(old.Queue, o.Queue); name != "" {
		return fixed("subscription", path, name)
	}
	_, err := c.ns.UpdateSubscription(topic, o)
	if err == nil {
		c.tellChanges(path, old, o)
	}
	return err
}
