package emulator

import (
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

// Put makes one entity what a configuration says of it, and waits until that is durable. It reports whether the entity was created. A topic may have
// subscriptions; then all of it is made, or nothing. Errors are those of CreateQueue, UpdateQueue and so on, and CodeQuotaExceeded for an entity too many.
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
	if most := profiles[ns.Limits()].Entities; most > 0 && queues+topics >= most {
		return errorf(CodeQuotaExceeded, path, "The maximum number of queues and topics has been reached or exceeded. Actual: %d, Max allowed: %d.", queues+topics, most)
	}
	return nil
}

// ensure makes the list true, one entity after the other. It is for trying, and for a namespace that has no entities yet.
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
