package mgmt

import (
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/mgmt/atom"
)

// subscriptionPath returns the domain's path of a subscription. A name with a slash could name a subscription of another topic,
// for which the token was not checked, so it gets a path that does not exist.
func subscriptionPath(topic, name string) string {
	if strings.Contains(name, "/") {
		return ""
	}
	return entitypath.Subscription(topic, name)
}

// Topic returns a topic.
func (d domain) Topic(path string) (atom.Topic, error) {
	q, err := d.find(path, emulator.KindTopic)
	if err != nil {
		return atom.Topic{}, err
	}
	t, err := q.Topic()
	return d.shownTopic(t), err
}

// shownTopic also counts the filters of all subscriptions, for newer versions of the API.
func (d domain) shownTopic(q *emulator.Topic) atom.Topic {
	c := q.Counts()
	t := atom.Topic{Path: q.Path(), Options: q.Options(), Counts: c, Times: q.Times(), Subscriptions: c.Subscriptions}
	list, _ := d.Namespace.Subscriptions(q.Path()) // none if the topic was deleted meanwhile
	for _, s := range list {
		for _, r := range s.Options().Rules {
			if r.Correlation != nil {
				t.Correlations++
			} else {
				t.SQLFilters++
			}
		}
	}
	return t
}

// Topics returns a page of all topics.
func (d domain) Topics(skip, top int) []atom.Topic {
	var list []atom.Topic
	page, _ := d.Page(emulator.KindTopic, skip, top)
	for _, q := range page {
		if t, err := q.Topic(); err == nil {
			list = append(list, d.shownTopic(t))
		}
	}
	return list
}

// CreateTopic creates a topic.
func (d domain) CreateTopic(path string, o emulator.TopicOptions) (atom.Topic, error) {
	q, err := d.Namespace.CreateTopic(path, o)
	if err != nil {
		return atom.Topic{}, err
	}
	return d.shownTopic(q), nil
}

// UpdateTopic updates a topic.
func (d domain) UpdateTopic(path string, o emulator.TopicOptions) (atom.Topic, error) {
	q, err := d.Namespace.UpdateTopic(path, o)
	if err != nil {
		return atom.Topic{}, err
	}
	return d.shownTopic(q), nil
}

func (d domain) subscription(topic, name string) (*emulator.Subscription, error) {
	q, err := d.find(subscriptionPath(topic, name), emulator.KindSubscription)
	if err != nil {
		return nil, err
	}
	return q.Subscription()
}

// Subscription returns a subscription.
func (d domain) Subscription(topic, name string) (atom.Subscription, error) {
	q, err := d.subscription(topic, name)
	if err != nil {
		return atom.Subscription{}, err
	}
	return shownSubscription(q), nil
}

func shownSubscription(q *emulator.Subscription) atom.Subscription {
	o := q.Options()
	return atom.Subscription{Name: o.Name, Options: o.Queue, Counts: q.Counts(), Times: q.Times(),
		FilterErrors: o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors}
}

// Subscriptions returns a page of a topic's subscriptions.
func (d domain) Subscriptions(topic string, skip, top int) ([]atom.Subscription, error) {
	all, err := d.Namespace.Subscriptions(topic)
	if err != nil {
		return nil, err
	}
	var list []atom.Subscription
	for _, q := range of(page{skip, top}, all) {
		list = append(list, shownSubscription(q))
	}
	return list, nil
}

// CreateSubscription creates a subscription.
func (d domain) CreateSubscription(topic string, o emulator.SubscriptionOptions) (atom.Subscription, error) {
	q, err := d.Namespace.CreateSubscription(topic, o)
	if err != nil {
		return atom.Subscription{}, err
	}
	return shownSubscription(q), nil
}

// UpdateSubscription updates a subscription; its rules stay.
func (d domain) UpdateSubscription(topic string, o emulator.SubscriptionOptions) (atom.Subscription, error) {
	q, err := d.Namespace.UpdateSubscription(topic, o)
	if err != nil {
		return atom.Subscription{}, err
	}
	return shownSubscription(q), nil
}

// DeleteSubscription removes a subscription.
func (d domain) DeleteSubscription(topic, name string) error {
	if _, err := d.subscription(topic, name); err != nil {
		return err
	}
	return d.DeleteEntity(subscriptionPath(topic, name))
}

// Rule returns a rule.
func (d domain) Rule(topic, subscription, name string) (atom.Rule, error) {
	q, err := d.subscription(topic, subscription)
	if err != nil {
		return atom.Rule{}, err
	}
	return ruleOf(q, name)
}

func ruleOf(q *emulator.Subscription, name string) (atom.Rule, error) {
	for _, r := range q.Options().Rules {
		if strings.EqualFold(r.Name, name) {
			return shownRule(r), nil
		}
	}
	return atom.Rule{}, emulator.NotFound(name)
}

// Rules returns a page of a subscription's rules.
func (d domain) Rules(topic, subscription string, skip, top int) ([]atom.Rule, error) {
	q, err := d.subscription(topic, subscription)
	if err != nil {
		return nil, err
	}
	rules, err := q.Rules(skip, top)
	if err != nil {
		return nil, err
	}
	var list []atom.Rule
	for _, r := range rules {
		list = append(list, shownRule(r))
	}
	return list, nil
}

// AddRule adds a rule.
func (d domain) AddRule(topic, subscription string, r atom.Rule) (atom.Rule, error) {
	return d.putRule(topic, subscription, r, (*emulator.Subscription).AddRule)
}

// UpdateRule replaces a rule's filter and action.
func (d domain) UpdateRule(topic, subscription string, r atom.Rule) (atom.Rule, error) {
	return d.putRule(topic, subscription, r, (*emulator.Subscription).UpdateRule)
}

func (d domain) putRule(topic, subscription string, r atom.Rule,
	put func(*emulator.Subscription, emulator.RuleOptions, emulator.Completion) error) (atom.Rule, error) {
	q, err := d.subscription(topic, subscription)
	if err == nil {
		done := newCompletion()
		err = done.wait(put(q, ruleOptions(r), done))
	}
	if err != nil {
		return atom.Rule{}, err
	}
	return ruleOf(q, r.Name)
}

// RemoveRule removes a rule.
func (d domain) RemoveRule(topic, subscription, name string) error {
	q, err := d.subscription(topic, subscription)
	if err != nil {
		return err
	}
	done := newCompletion()
	return done.wait(q.RemoveRule(name, done))
}
