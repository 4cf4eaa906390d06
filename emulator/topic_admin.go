package emulator

import (
	"maps"
	"slices"
)

// CreateTopic creates a topic with the subscriptions that the options name, and waits until that is durable. It fails
// with CodeAlreadyExists if an entity of any kind has the name (ERR-5).
func (es Entities) CreateTopic(path string, o TopicOptions) (*Topic, error) {
	t, err := es.createTopic(path, o)
	if err != nil {
		return nil, err
	}
	for _, s := range o.Subscriptions {
		if _, err := es.CreateSubscription(path, s); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (es Entities) createTopic(path string, o TopicOptions) (*Topic, error) {
	ns := es.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	path = nameOf(path)
	settings := o.Queue()
	if err := es.mayCreateLocked(path, &settings); err != nil {
		return nil, err
	}
	o.Admin.date(nil, ns.Now())
	t := newTopic(ns, ns.newRow(), path, o)
	if err := es.put(t.Entity, t.settings, t.usage.updated); err != nil {
		return nil, err
	}
	es.add(t.Entity)
	return t, nil
}

// UpdateTopic changes a topic's settings, not its subscriptions, and waits until that is durable; then its links are
// told to attach again (LOCK-17).
func (es Entities) UpdateTopic(path string, o TopicOptions) (*Topic, error) {
	ns := es.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	t, err := ns.catalog.findTopic(path)
	if err != nil {
		return nil, err
	}
	if err := t.checkChangeable(); err != nil {
		return nil, err
	}
	o.Subscriptions = nil
	if name := immutable(t.Entity.Options(), o.Queue()); name != "" {
		return nil, errorf(CodeArgument, t.path, "%s of the topic '%s' can't be changed.", name, t.path)
	}
	settings := o.Queue()
	if err := es.checkLocked(t.path, &settings); err != nil {
		return nil, err
	}
	o.Admin.date(t.Options().Admin.AuthorizationRules, ns.Now())
	if err := es.put(t.Entity, o, ns.Now()); err != nil {
		return nil, err
	}
	t.become(o)
	return t, nil
}

// become lets new settings count that are durable.
func (t *Topic) become(o TopicOptions) {
	t.mu.Lock()
	t.settings = o
	t.applyOptionsLocked(o.Queue())
	t.largest.Store(t.options.maxMessageBytes(t.ns.Profile()))
	t.mu.Unlock()
	t.ns.tellParkers(t.Entity)
}

// CreateSubscription creates a subscription of a topic, with the rules given or else the default one (TOP-4), and waits
// until that is durable. It gets what is sent, or becomes due, from then on (TOP-3). Errors: CodeNotFound without the
// topic, CodeAlreadyExists, CodeArgument for a rule that can't be used, CodeQuotaExceeded (QUO-10). A name of the form
// NAME$CLIENTID$D makes a durable one of JMS clients (JMS-9), and no other topic may have one of that name (JMS-7).
func (es Entities) CreateSubscription(topic string, o SubscriptionOptions) (*Subscription, error) {
	ns := es.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	t, err := ns.catalog.findTopic(topic)
	if err != nil {
		return nil, err
	}
	if err := es.completeClient(t, &o); err != nil {
		return nil, err
	}
	return es.subscribeLocked(t, o)
}

// subscribeLocked makes a subscription. The caller holds ns.admin.
func (es Entities) subscribeLocked(t *Topic, o SubscriptionOptions) (*Subscription, error) {
	ns := es.ns
	path := subscriptionPath(t.path, o.Name)
	if ns.catalog.lookUp(path) != nil {
		return nil, alreadyExists(subscriptionName(t, o.Name))
	}
	if err := es.checkLocked(path, &o.Queue); err != nil {
		return nil, err
	}
	most := MaxName
	if o.Client != nil {
		most = MaxPath
	}
	if err := checkName(path, o.Name, most); err != nil {
		return nil, err
	}
	s := newSubscription(t, ns.newRow(), path, o)
	op, err := s.prepare(o.Rules)
	if err != nil {
		return nil, err
	}
	if err := es.commit(op); err != nil {
		return nil, err
	}
	t.admit(s)
	return s, nil
}

// admit adds a new subscription, which is durable.
func (t *Topic) admit(s *Subscription) {
	t.mu.Lock()
	t.order(s.rules)
	t.addSubscription(s)
	t.usage.touch(t.ns.Now()) // CNT-9, IDLE-2
	t.mu.Unlock()
	t.ns.Entities().add(s.Entity)
}

// prepare gives a new subscription, which no other goroutine knows yet, its rules and returns the operation that
// stores it.
func (s *Subscription) prepare(rules []RuleOptions) (Op, error) {
	if len(rules) == 0 {
		rules = []RuleOptions{DefaultRule()}
	}
	compiled, err := s.compileAll(rules, s.ns.Now(), s.ns.Profile())
	if err != nil {
		return Op{}, err
	}
	if err := s.topic.roomForSubscription(s, compiled); err != nil {
		return Op{}, err
	}
	s.rules = compiled
	return s.record(s.nowLocked())
}

// UpdateSubscription changes a subscription's settings, and its rules if the options have any, and waits until that is
// durable; then its links are told to attach again (LOCK-17). The topic is not touched by it (CNT-8).
func (es Entities) UpdateSubscription(topic string, o SubscriptionOptions) (*Subscription, error) {
	ns := es.ns
	ns.admin.Lock()
	defer ns.admin.Unlock()
	q, err := ns.catalog.find(subscriptionPath(topic, o.Name), KindSubscription)
	if err != nil {
		return nil, err
	}
	if err := q.checkChangeable(); err != nil {
		return nil, err
	}
	s := q.subscription
	o.Name, o.Queue.EnablePartitioning = s.name, s.topic.counters.partitioned()
	name := immutable(q.Options(), o.Queue)
	if o.Client != nil && !o.Client.Same(s.client) {
		name = fixedClient
	}
	if name != "" {
		return nil, errorf(CodeArgument, q.path, "%s of the subscription '%s' can't be changed.", name, s.name)
	}
	o.Client = s.client
	if err := es.checkLocked(q.path, &o.Queue); err != nil {
		return nil, err
	}
	var rules []*rule
	if len(o.Rules) > 0 {
		if rules, err = s.compileAll(o.Rules, ns.Now(), ns.Profile()); err != nil {
			return nil, err
		}
	}
	o.Rules = nil
	if err := s.store(o, rules); err != nil {
		return nil, err
	}
	q.mu.Lock()
	q.applyOptionsLocked(o.Queue)
	q.mu.Unlock()
	return s, nil
}

// store writes new settings, and rules unless they are nil, and waits. Until then messages go by the old settings
// and, as with every change of rules, the new rules.
func (s *Subscription) store(o SubscriptionOptions, rules []*rule) error {
	done := make(chan error, 1)
	s.topic.mu.Lock()
	next := decisions{settings: o, rules: s.rules, updated: s.ns.Now()}
	var err error
	if rules != nil {
		s.topic.order(rules)
		next.rules = rules
		err = s.roomLocked(rules)
	}
	if err == nil {
		err = s.changeLocked(next, CompletionFunc(func(err error) { done <- err }))
	}
	s.topic.mu.Unlock()
	if err != nil {
		return err
	}
	return <-done
}

// Topics returns all topics by path.
func (es Entities) Topics() []*Topic {
	return mapped(es.ns.catalog.entities(KindTopic), func(q *Entity) *Topic { return q.topic })
}

// Subscriptions returns the subscriptions of a topic by path. It fails with CodeNotFound without the topic.
func (es Entities) Subscriptions(topic string) ([]*Subscription, error) {
	t, err := es.ns.catalog.findTopic(topic)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.subs),
		func(a, b *Subscription) int { return comparePaths(a.Entity, b.Entity) }), nil
}

// findTopic returns the topic with that path, or CodeNotFound.
func (c *catalog) findTopic(path string) (*Topic, error) {
	q, err := c.find(path, KindTopic)
	if err != nil {
		return nil, err
	}
	return q.topic, nil
}
