package mgmt

import (
	"net/http"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

// getRule answers with a rule; with the feed of nothing if its topic does not exist, and with 404 if only the rule or
// its subscription does not.
func (c *call) getRule() (*answer, error) {
	r, err := c.namespace.Rule(c.target.entity, c.target.subscription, c.target.rule)
	if err != nil {
		return c.missingBelow(err)
	}
	return c.backendEntry(ruleEntry(r, c.target.rule)), nil
}

func ruleEntry(r atom.Rule, title string) atom.Entry {
	return atom.Entry{Title: title, Published: r.CreatedAt, Updated: r.CreatedAt, Content: r}
}

// putRule creates a rule or replaces its filter and action. The name comes from the path or, if that has none, from
// the body.
func (c *call) putRule() (*answer, error) {
	r, err := c.readRule()
	if err != nil {
		return nil, err
	}
	if !c.namespace.hasTopic(c.target.entity) {
		return nil, errNoTopic
	}
	put, status := (*emulator.Subscription).AddRule, http.StatusCreated
	if c.isUpdate() {
		put, status = (*emulator.Subscription).UpdateRule, http.StatusOK
	}
	made, err := c.namespace.PutRule(c.target.entity, c.target.subscription, *r, put)
	switch {
	case hasCode(err, emulator.CodeAlreadyExists):
		return nil, c.exists()
	case err != nil:
		return nil, ruleProblem(missing(err, c.notFound()))
	}
	a := c.entry(status, ruleEntry(made, c.target.rule), false)
	a.updated = c.namespace.updated(c.target.entity)
	return a, nil
}

// readRule reads the rule of the request's body, and names it.
func (c *call) readRule() (*atom.Rule, error) {
	if c.target.kind == targetRule {
		if err := atom.CheckRule(c.target.rule, c.profile); err != nil {
			return nil, err
		}
	}
	d, err := c.description()
	if err != nil {
		return nil, err
	}
	if d.Name != "RuleDescription" {
		return nil, badRequest("The body of the request does not describe a rule.")
	}
	r, err := atom.ParseRule(d)
	if err != nil {
		return nil, err
	}
	if c.target.kind == targetRules {
		if c.target.rule = r.Name; r.Name == "" {
			c.target.rule = emulator.DefaultRuleName
		}
		if err := atom.CheckRule(c.target.rule, c.profile); err != nil {
			return nil, err
		}
	}
	r.Name = c.target.rule
	return r, nil
}

// ruleProblem answers a filter or action that the domain refuses, in the service's text without a sub-code.
func ruleProblem(err error) error {
	if hasCode(err, emulator.CodeArgument) {
		return problemf(http.StatusBadRequest, "%s ", err.Error())
	}
	return err
}

func (c *call) deleteRule() (*answer, error) {
	if err := c.namespace.RemoveRule(c.target.entity, c.target.subscription, c.target.rule); err != nil {
		return nil, missing(err, c.notFound())
	}
	return &answer{status: http.StatusOK, updated: c.namespace.updated(c.target.entity)}, nil
}

// listRules answers with a page of a subscription's rules.
func (c *call) listRules() (*answer, error) {
	p, err := c.page()
	if err != nil {
		return nil, err
	}
	list, err := c.namespace.Rules(c.target.entity, c.target.subscription, p.skip, p.top)
	if err != nil {
		return c.missingBelow(err)
	}
	entries := shownAll(list, func(r atom.Rule) atom.Entry { return c.below(ruleEntry(r, r.Name)) })
	return c.feed("Rules", p, entries), nil
}
