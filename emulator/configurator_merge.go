package emulator

import (
	"fmt"
	"reflect"
)

// configured returns what a queue's settings are once a configuration is true that has these. What a configuration can't say stays;
// of a list that it does not have nothing changes, while an empty one clears.
func (q *Entity) configured(file QueueOptions) QueueOptions {
	file.Admin = q.Options().Admin.configured(file.Admin, q.ns.Now())
	return file
}

// configured is that of a topic, without its subscriptions.
func (t *Topic) configured(file TopicOptions) TopicOptions {
	old, asked := t.Options(), file.Admin.SupportOrdering
	file.Subscriptions = nil
	file.Admin = old.Admin.configured(file.Admin, t.ns.Now())
	file.SupportOrdering = old.SupportOrdering
	if asked != nil && *asked != old.ordered() {
		file.SupportOrdering, file.Admin.SupportOrdering = *asked, asked
	}
	return file
}

// ordered is SupportOrdering with its default.
func (o *TopicOptions) ordered() bool {
	if o.Admin.SupportOrdering != nil {
		return *o.Admin.SupportOrdering
	}
	return !o.EnablePartitioning
}

// configured is that of a subscription. A list of rules replaces those that there are; an empty one leaves the
// default rule, as at creation (TOP-4).
func (s *Subscription) configured(file SubscriptionOptions) SubscriptionOptions {
	old := s.Options()
	file.Name, file.Queue.EnablePartitioning, file.Queue.Admin = old.Name, old.Queue.EnablePartitioning, old.Queue.Admin
	if file.Rules != nil && len(file.Rules) == 0 {
		file.Rules = []RuleOptions{DefaultRule()}
	}
	if file.Rules == nil || sameRules(file.Rules, old.Rules) {
		file.Rules = old.Rules
	}
	return file
}

// configured returns what an entity keeps for the administration once a configuration is true. A configuration says nothing of this but
// authorization rules, and of a topic SupportOrdering.
func (a Admin) configured(file Admin, now int64) Admin {
	switch {
	case file.AuthorizationRules == nil:
	case len(file.AuthorizationRules) == 0:
		a.AuthorizationRules = nil
	default:
		file.date(a.AuthorizationRules, now)
		a.AuthorizationRules = file.AuthorizationRules
	}
	return a
}

// tell writes lines about what was done to an entity that had settings before.
func (c Configuration) tell(p *Planned) {
	switch {
	case p.Action == ActionDelete:
		c.ns.logger.Info("entity deleted, which the configuration does not have", "entity", p.Path)
	case p.Action != ActionChange:
	case p.Old.Queue != nil:
		c.tellChanges(p.Path, *p.Old.Queue, *p.New.Queue)
	case p.Old.Topic != nil:
		old := *p.Old.Topic
		old.SupportOrdering = p.New.Topic.SupportOrdering // follows from what was asked for, which is told
		c.tellChanges(p.Path, old, *p.New.Topic)
	default:
		c.tellChanges(p.Path, *p.Old.Subscription, *p.New.Subscription)
	}
}

// tellChanges writes a line for each setting of an entity that a configuration changed. Of rules it shows the names, and no key.
func (c Configuration) tellChanges(path string, old, next any) {
	was, is := reflect.ValueOf(old), reflect.ValueOf(next)
	for i := range was.NumField() {
		before, now := was.Field(i).Interface(), is.Field(i).Interface()
		if reflect.DeepEqual(before, now) {
			continue
		}
		switch before.(type) {
		case QueueOptions, Admin: // parts of the settings
			c.tellChanges(path, before, now)
		default:
			c.ns.logger.Info("setting changed to the configuration", "entity", path, "setting", was.Type().Field(i).Name,
				"before", shownSetting(before), "now", shownSetting(now))
		}
	}
}

// shownSetting is the value of a setting for a line of the log.
func shownSetting(v any) any {
	names := []string{}
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.100s", v)
	case *bool:
		if v == nil {
			return "default"
		}
		return *v
	case []AuthorizationRule:
		for _, r := range v {
			names = append(names, r.KeyName)
		}
		return names
	case []RuleOptions:
		for _, r := range v {
			names = append(names, r.Name)
		}
		return names
	}
	return v
}
