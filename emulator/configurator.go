package emulator

import (
	"strings"

	"minibus/internal/entitypath"
)

// CheckEntities fails as EnsureEntities would, and changes nothing.
func (ns *Namespace) CheckEntities(list []EntityConfig) error {
	_, err := ns.Preview(list, false)
	return err
}

// PutEntity makes one entity what a configuration says of it, and waits until that is durable. It reports whether the entity was created. A topic may have
// subscriptions; then all of it is made, or nothing. Errors are those of CreateQueue, UpdateQueue and so on, and CodeQuotaExceeded for an entity too many.
func (ns *Namespace) PutEntity(path string, s Settings) (created bool, err error) {
	c := configurator{ns}
	created = ns.catalog.lookUp(path) == nil
	if created && s.Subscription == nil {
		err = ns.roomForMore(path)
	}
	topic, _, _ := entitypath.SplitSubscription(path)
	switch {
	case err != nil:
	case s.Subscription != nil:
		err = c.ensureSubscription(topic, *s.Subscription)
	case s.Queue != nil:
		err = c.ensureQueue(path, *s.Queue)
	case len(s.Topic.Subscriptions) > 0:
		_, err = ns.Apply([]EntityConfig{{Path: path, Topic: s.Topic}}, false)
	default:
		err = c.ensureTopic(path, *s.Topic)
	}
	return created, err
}

// roomForMore fails when the namespace has as many queues and topics as its profile takes.
func (ns *Namespace) roomForMore(path string) error {
	_, queues := ns.catalog.page(KindQueue, 0, 0)
	_, topics := ns.catalog.page(KindTopic, 0, 0)
	if most := profiles[ns.Limits()].Entities; most > 0 && queues+topics >= most {
		return errorf(CodeQuotaExceeded, path, "The maximum number of queues and topics has been reached or exceeded. Actual: %d, Max allowed: %d.", queues+topics, most)
	}
	return nil
}

// configurator makes entities what a configuration says.
type configurator struct{ ns *Namespace }

// ensure makes the list true, one entity after the other. It is for trying, and for a namespace that has no entities yet.
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

// plan says which entities are about to exist.
func (c *configurator) plan(paths map[string]bool) {
	c.ns.admin.Lock()
	defer c.ns.admin.Unlock()
	c.ns.planned = paths
}

func (c *configurator) ensureQueue(path string, o QueueOptions) (err error) {
	p := c.planQueue(EntityConfig{Path: path, Queue: &o})
	switch p.Action {
	case ActionCreate:
		_, err = c.ns.CreateQueue(path, o)
	case ActionChange:
		_, err = c.ns.UpdateQueue(path, *p.New.Queue)
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

func (c *configurator) ensureTopic(path string, o TopicOptions) (err error) {
	p := c.planTopic(EntityConfig{Path: path, Topic: &o})
	switch p.Action {
	case ActionCreate:
		_, err = c.ns.CreateTopic(path, *p.New.Topic)
	case ActionChange:
		_, err = c.ns.UpdateTopic(path, *p.New.Topic)
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

func (c *configurator) ensureSubscription(topic string, o SubscriptionOptions) (err error) {
	p := c.planSubscription(topic, o)
	switch p.Action {
	case ActionCreate:
		_, err = c.ns.CreateSubscription(topic, o)
	case ActionChange:
		_, err = c.ns.UpdateSubscription(topic, *p.New.Subscription)
	case ActionRefuse:
		err = p.Why
	}
	return err
}
