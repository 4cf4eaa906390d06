package mgmt

import (
	"net/http"
	"path"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// subscriptionName returns the name of the request's subscription or rule in texts.
func (c *call) subscriptionName() string { return backend(c.namespace, "Topic", c.target.String()) }

// notFound answers requests for a missing subscription or rule of an existing topic.
func (c *call) notFound() *problem {
	return problemf(http.StatusNotFound, "Entity '%s' was not found. %s", c.subscriptionName(), atom.MoreInfo)
}

func (c *call) exists() *problem {
	return problemf(http.StatusConflict, "The messaging entity '%s' already exists. %s", c.subscriptionName(),
		atom.MoreInfo)
}

// getSubscription answers with a subscription; with the feed of nothing if its topic does not exist, else with 404.
func (c *call) getSubscription() (*answer, error) {
	s, err := c.namespace.Subscription(c.target.entity, c.target.subscription)
	if err != nil {
		return c.missingBelow(err)
	}
	return c.backendEntry(entryOfSubscription(s, c.target.subscription)), nil
}

// missingBelow answers the get of a missing subscription or rule: with the feed of nothing if its topic does not
// exist either.
func (c *call) missingBelow(err error) (*answer, error) {
	if !c.namespace.hasTopic(c.target.entity) {
		return c.nothing(), nil
	}
	return nil, missing(err, c.notFound())
}

// backendEntry answers a get with an entry of a subscription or rule. The service's back end writes these, with
// addresses of its own form.
func (c *call) backendEntry(e atom.Entry) *answer {
	a := c.entry(http.StatusOK, e, true)
	e.ID = "sb://" + c.r.Host + c.pathAndQuery()
	e.Self = e.ID
	a.body = e.Encode(c.view(true))
	a.updated = c.namespace.updated(c.target.entity)
	return a
}

func entryOfSubscription(s atom.Subscription, title string) atom.Entry {
	return atom.Entry{Title: title, Published: s.Times.Created, Updated: s.Times.Updated, Content: s}
}

func (c *call) putSubscription() (*answer, error) {
	if err := atom.CheckSubscription(c.target.subscription, c.profile); err != nil {
		return nil, err
	}
	d, err := c.description()
	if err != nil {
		return nil, err
	}
	if d.Name != "SubscriptionDescription" {
		return nil, badRequest("The body of the request does not describe a subscription.")
	}
	description, err := atom.ParseSubscription(d, c.profile)
	if err != nil {
		return nil, err
	}
	if err := c.may.forward(description, c.subscriptionName()); err != nil {
		return nil, err
	}
	if !c.namespace.hasTopic(c.target.entity) {
		return nil, errNoTopic
	}
	old, _ := c.namespace.Subscription(c.target.entity, c.target.subscription) // of a new one there is nothing to keep
	if err := c.checkTargets(&description.SharedDescription, "", old.Options); err != nil {
		return nil, err
	}
	if c.isUpdate() {
		return c.updateSubscription(description)
	}
	return c.createSubscription(description)
}

func (c *call) createSubscription(d *atom.SubscriptionDescription) (*answer, error) {
	rule := atom.Rule{Filter: atom.Filter{Kind: atom.TrueFilter, SQL: emulator.TrueExpression}}
	if d.Rule != nil {
		rule = *d.Rule
	}
	if rule.Name == "" {
		rule.Name = emulator.DefaultRuleName
	}
	if err := atom.CheckRule(rule.Name, c.profile); err != nil {
		return nil, err
	}
	o, err := d.Create(c.target.subscription)
	if err != nil {
		return nil, err
	}
	o.Rules = []emulator.RuleOptions{rule.Options()}
	s, err := c.namespace.CreateSubscription(c.target.entity, o)
	switch {
	case hasCode(err, emulator.CodeAlreadyExists):
		return nil, c.exists()
	case err != nil:
		return nil, ruleProblem(missing(err, errNoTopic))
	}
	return c.subscriptionAnswer(http.StatusCreated, s), nil
}

func (c *call) updateSubscription(d *atom.SubscriptionDescription) (*answer, error) {
	old, err := c.namespace.Subscription(c.target.entity, c.target.subscription)
	if err != nil {
		return nil, missing(err, c.notFound())
	}
	o, err := d.Update(emulator.SubscriptionOptions{Name: old.Name, Queue: old.Options, Client: old.Client})
	if err != nil {
		return nil, about(err, c.subscriptionName())
	}
	s, err := c.namespace.UpdateSubscription(c.target.entity, o)
	if err != nil {
		return nil, missing(err, c.notFound())
	}
	return c.subscriptionAnswer(http.StatusOK, s), nil
}

func (c *call) subscriptionAnswer(status int, s atom.Subscription) *answer {
	a := c.entry(status, entryOfSubscription(s, c.target.subscription), false)
	a.updated = c.namespace.updated(c.target.entity)
	return a
}

func (c *call) deleteSubscription() (*answer, error) {
	if err := c.namespace.DeleteSubscription(c.target.entity, c.target.subscription); err != nil {
		return nil, missing(err, c.notFound())
	}
	return &answer{status: http.StatusOK, updated: c.namespace.updated(c.target.entity)}, nil
}

// listSubscriptions answers with a page of a topic's subscriptions; with the feed of nothing if there is no such topic.
func (c *call) listSubscriptions() (*answer, error) {
	p, err := c.page()
	if err != nil {
		return nil, err
	}
	list, err := c.namespace.Subscriptions(c.target.entity, p.skip, p.top)
	switch {
	case hasCode(err, emulator.CodeNotFound):
		return c.nothing(), nil
	case err != nil:
		return nil, err
	}
	return c.feed("Subscriptions", p, shownAll(list, func(s atom.Subscription) atom.Entry {
		return c.below(entryOfSubscription(s, s.Name))
	})), nil
}

// below completes an entry of a topic's or subscription's list. Its address begins with the list's, as the client
// wrote it.
func (c *call) below(e atom.Entry) atom.Entry {
	list := c.r.URL.EscapedPath()
	prefix := path.Clean("/" + list)
	return c.listed(e, prefix, path.Base(list)+"/")
}
