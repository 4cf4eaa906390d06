package config

import (
	"fmt"
	"strconv"
	"strings"

	"minibus/emulator"
)

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
			DeadLetteringOnFilterErrors: d.optional(props.get("DeadLetteringOnFilterEvaluationExceptions")),
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

// unique adds an error for a name that was used before in the same place, without regard to case.
func (d *decoder) unique(seen map[string]*node, name string, at *node, what string) {
	if name == "" {
		return // already reported
	}
	key := strings.ToLower(name)
	if first := seen[key]; first != nil {
		found := fmt.Sprintf("found the %s %s a second time", what, strconv.Quote(clip(name)))
		if line := first.pos.line; line > 0 {
			found += fmt.Sprintf(" (first on line %d)", line)
		}
		d.fail(at, found, "names that differ in more than case", "rename or remove one of the two")
		return
	}
	seen[key] = at
}

// quota adds an error for a count above the profile's ceiling; 0 means none.
func (d *decoder) quota(n *node, count, most int, what string) {
	if n == nil || most == 0 || count <= most {
		return
	}
	d.fail(n, fmt.Sprintf("found %d %s", count, what), fmt.Sprintf("up to %d", most), d.relaxedCure(true))
}
