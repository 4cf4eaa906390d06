package config

import "minibus/emulator"

// subscriptions decodes the subscriptions of a topic.
func (d *decoder) subscriptions(n *node, topic *entity) {
	items := d.array(n)
	d.quota(n, len(items), d.limits.Subscriptions, "subscriptions in one topic")
	seen := map[string]*node{}
	counts := &filterCounts{}
	for _, item := range items {
		if !d.object(item) {
			continue
		}
		d.keys(item, []string{"Name", "Properties", "Rules"})
		name, at := d.name(item, nameRule{most: emulator.MaxName, limits: d.profile.Broker()})
		d.unique(seen, name, at, "subscription")
		props := d.properties(item, subscriptionKeys)
		topic.pending = append(topic.pending, d.queueOptions(props, topic))
		topic.config.Topic.Subscriptions = append(topic.config.Topic.Subscriptions, emulator.SubscriptionOptions{
			Name: name, Rules: d.rules(rulesOf(item), counts),
			DeadLetteringOnFilterErrors: d.optional(d.ourBoolean(props.get("DeadLetteringOnFilterEvaluationExceptions"))),
		})
	}
	d.quota(n, counts.sql, d.limits.SQLFilters, "SQL filters in one topic")
	d.quota(n, counts.correlation, d.limits.Correlations, "correlation filters in one topic")
}

// rulesOf returns the Rules of a subscription, which some files have under Properties.
func rulesOf(n *node) *node {
	if rules := n.get("Rules"); rules != nil {
		return rules
	}
	return n.get("Properties").get("Rules")
}

// filterCounts counts the filters of a topic, for the quota of each kind.
type filterCounts struct{ sql, correlation int }

func (d *decoder) rules(n *node, counts *filterCounts) []emulator.RuleOptions {
	items := d.array(n)
	d.quota(n, len(items), d.limits.Rules, "rules in one subscription")
	if n == nil || n.kind != kindArray {
		return nil
	}
	seen := map[string]*node{}
	rules := []emulator.RuleOptions{} // an empty list means only the default rule; nil keeps the broker's rules
	for _, item := range items {
		if !d.object(item) {
			continue
		}
		d.keys(item, []string{"Name", "Properties"})
		name, at := d.name(item, nameRule{most: emulator.MaxName, limits: d.profile.Broker(), system: true})
		d.unique(seen, name, at, "rule")
		rule := d.rule(item)
		rule.Name = name
		if rule.Correlation != nil {
			counts.correlation++
		} else {
			counts.sql++
		}
		rules = append(rules, rule)
	}
	return rules
}
