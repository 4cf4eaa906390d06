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
func (n atomNamespace) hasTopic(path string) bool { return n.Kind(path) == emulator.KindTopic }

func (n atomNamespace) Topic(path string) (atom.Topic, error) {
	e, err := n.find(path, emulator.KindTopic)
	if err != nil {
		return atom.Topic{}, err
	}
	t, err := e.Topic()
	return n.shownTopic(t), err
}

// shownTopic also counts the filters of all subscriptions, for newer versions of the API.
func (n atomNamespace) shownTopic(topic *emulator.Topic) atom.Topic {
	c := topic.Counts()
	t := atom.Topic{Path: topic.Path(), Options: topic.Options(), Counts: c, Times: topic.Times(),
		Subscriptions: c.Subscriptions}
	list, _ := n.Namespace.Entities().Subscriptions(topic.Path()) // none if the topic was deleted meanwhile
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
func (n atomNamespace) Topics(skip, top int) []atom.Topic {
	var list []atom.Topic
	page, _ := n.Namespace.Entities().Page(emulator.KindTopic, skip, top)
	for _, e := range page {
		if t, err := e.Topic(); err == nil {
			list = append(list, n.shownTopic(t))
		}
	}
	return list
}

func (n atomNamespace) CreateTopic(path string, o emulator.TopicOptions) (atom.Topic, error) {
	return shown(n.shownTopic)(n.Namespace.Entities().CreateTopic(path, o))
}

func (n atomNamespace) UpdateTopic(path string, o emulator.TopicOptions) (atom.Topic, error) {
	return shown(n.shownTopic)(n.Namespace.Entities().UpdateTopic(path, o))
}

func (n atomNamespace) subscription(topic, name string) (*emulator.Subscription, error) {
	e, err := n.find(subscriptionPath(topic, name), emulator.KindSubscription)
	if err != nil {
		return nil, err
	}
	return e.Subscription()
}

func (n atomNamespace) Subscription(topic, name string) (atom.Subscription, error) {
	return shown(shownSubscription)(n.subscription(topic, name))
}

func shownSubscription(s *emulator.Subscription) atom.Subscription {
	o := s.Options()
	return atom.Subscription{Name: o.Name, Options: o.Queue, Client: o.Client, Counts: s.Counts(), Times: s.Times(),
		FilterErrors: o.DeadLetteringOnFilterErrors == nil || *o.DeadLetteringOnFilterErrors}
}

// Subscriptions returns a page of a topic's subscriptions.
func (n atomNamespace) Subscriptions(topic string, skip, top int) ([]atom.Subscription, error) {
	all, err := n.Namespace.Entities().Subscriptions(topic)
	return shownAll(pageOf(page{skip, top}, all), shownSubscription), err
}

func (n atomNamespace) CreateSubscription(topic string, o emulator.SubscriptionOptions) (atom.Subscription, error) {
	return shown(shownSubscription)(n.Namespace.Entities().CreateSubscription(topic, o))
}

// UpdateSubscription updates a subscription; its rules stay.
func (n atomNamespace) UpdateSubscription(topic string, o emulator.SubscriptionOptions) (atom.Subscription, error) {
	return shown(shownSubscription)(n.Namespace.Entities().UpdateSubscription(topic, o))
}

func (n atomNamespace) DeleteSubscription(topic, name string) error {
	if _, err := n.subscription(topic, name); err != nil {
		return err
	}
	return n.Namespace.Entities().Delete(subscriptionPath(topic, name))
}

func (n atomNamespace) Rule(topic, subscription, name string) (atom.Rule, error) {
	s, err := n.subscription(topic, subscription)
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
func (n atomNamespace) Rules(topic, subscription string, skip, top int) ([]atom.Rule, error) {
	s, err := n.subscription(topic, subscription)
	if err != nil {
		return nil, err
	}
	rules, err := s.Rules(skip, top)
	return shownAll(rules, atom.RuleOf), err
}

// PutRule adds or updates a rule, as put does.
func (n atomNamespace) PutRule(topic, subscription string, r atom.Rule,
	put func(*emulator.Subscription, emulator.RuleOptions, emulator.Completion) error) (atom.Rule, error) {
	s, err := n.subscription(topic, subscription)
	if err == nil {
		done := newCompletion()
		err = done.wait(put(s, r.Options(), done))
	}
	if err != nil {
		return atom.Rule{}, err
	}
	return ruleOf(s, r.Name)
}

func (n atomNamespace) RemoveRule(topic, subscription, name string) error {
	s, err := n.subscription(topic, subscription)
	if err != nil {
		return err
	}
	done := newCompletion()
	return done.wait(s.RemoveRule(name, done))
}
