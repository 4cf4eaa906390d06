package mgmt

import (
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/mgmt/atom"
)

// subscriptionPath returns the domain's path of a subscription. A name with a slash could name a subscription of
// another topic, for which the token was not checked, so it gets a path that does not exist.
func subscriptionPath(topic, name string) string {
	if strings.Contains(name, "/") {
		return ""
	}
	return entitypath.Subscription(topic, name)
}

// hasTopic reports whether a topic has the path.
func (d domain) hasTopic(path string) bool { return d.Kind(path) == emulator.KindTopic }

func (d domain) Topic(path string) (atom.Topic, error) {
	e, err := d.find(path, emulator.KindTopic)
	if err != nil {
		return atom.Topic{}, err
	}
	t, err := e.Topic()
	return d.shownTopic(t), err
}

// shownTopic also counts the filters of all subscriptions, for newer versions of the API.
func (d domain) shownTopic(topic *emulator.Topic) atom.Topic {
	c := topic.Counts()
	t := atom.Topic{Path: topic.Path(), Options: topic.Options(), Counts: c, Times: topic.Times(),
		Subscriptions: c.Subscriptions}
	list, _ := d.Namespace.Entities().Subscriptions(topic.Path()) // none if the topic was deleted meanwhile
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
	page, _ := d.Namespace.Entities().Page(emulator.KindTopic, skip, top)
	for _, e := range page {
		if t, err := e.Topic(); err == nil {
			list = append(list, d.shownTopic(t))
		}
	}
	return list
}

func (d domain) CreateTopic(path string, o emulator.TopicOptions) (atom.Topic, error) {
	return shown(d.shownTopic)(d.Namespace.Entities().CreateTopic(path, o))
}

func (d domain) UpdateTopic(path string, o emulator.TopicOptions) (atom.Topic, error) {
	return shown(d.shownTopic)(d.Namespace.Entities().UpdateTopic(path, o))
}

func (d domain) subscription(topic, name string) (*emulator.Subscription, error) {
	e, err := d.find(subscriptionPath(topic, name), emulator.KindSubscription)
	if err != nil {
		return nil, err
	}
	return e.Subscription()
}

func (d domain) Subscription(topic, name string) (atom.Subscription, error) {
	return shown(shownSubscription)(d.subscription(topic, name))
}

func shownSubscription(s *emulator.Subscription) atom.Subscription {
	o := s.Options()
	return atom.Subscription{Name: o.Name, Options: o.Queue, Counts: s.Counts(), Times: s.Times(),
		FilterErrors: o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors}
}

// Subscriptions returns a page of a topic's subscriptions.
func (d domain) Subscriptions(topic string, skip, top int) ([]atom.Subscription, error) {
	all, err := d.Namespace.Entities().Subscriptions(topic)
	return shownAll(of(page{skip, top}, all), shownSubscription), err
}

func (d domain) CreateSubscription(topic string, o emulator.SubscriptionOptions) (atom.Subscription, error) {
	return shown(shownSubscription)(d.Namespace.Entities().CreateSubscription(topic, o))
}

// UpdateSubscription updates a subscription; its rules stay.
func (d domain) UpdateSubscription(topic string, o emulator.SubscriptionOptions) (atom.Subscription, error) {
	return shown(shownSubscription)(d.Namespace.Entities().UpdateSubscription(topic, o))
}

func (d domain) DeleteSubscription(topic, name string) error {
	if _, err := d.subscription(topic, name); err != nil {
		return err
	}
	return d.Namespace.Entities().Delete(subscriptionPath(topic, name))
}

func (d domain) Rule(topic, subscription, name string) (atom.Rule, error) {
	s, err := d.subscription(topic, subscription)
	if err != nil {
		return atom.Rule{}, err
	}
	return ruleOf(s, name)
}

func ruleOf(s *emulator.Subscription, name string) (atom.Rule, error) {
	for _, r := range s.Options().Rules {
		if strings.EqualFold(r.Name, name) {
			return atom.RuleOf(r), nil
		}
	}
	return atom.Rule{}, emulator.NotFound(name)
}

// Rules returns a page of a subscription's rules.
func (d domain) Rules(topic, subscription string, skip, top int) ([]atom.Rule, error) {
	s, err := d.subscription(topic, subscription)
	if err != nil {
		return nil, err
	}
	rules, err := s.Rules(skip, top)
	return shownAll(rules, atom.RuleOf), err
}

// PutRule adds or updates a rule, as put does.
func (d domain) PutRule(topic, subscription string, r atom.Rule,
	put func(*emulator.Subscription, emulator.RuleOptions, emulator.Completion) error) (atom.Rule, error) {
	s, err := d.subscription(topic, subscription)
	if err == nil {
		done := newCompletion()
		err = done.wait(put(s, r.Options(), done))
	}
	if err != nil {
		return atom.Rule{}, err
	}
	return ruleOf(s, r.Name)
}

func (d domain) RemoveRule(topic, subscription, name string) error {
	s, err := d.subscription(topic, subscription)
	if err != nil {
		return err
	}
	done := newCompletion()
	return done.wait(s.RemoveRule(name, done))
}
