package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"minibus/emulator"
)

// declared registers an entity that a program declares. It checks the entity like one with the same settings in a file. The paths of
// the nodes are the names of the Go fields, for messages.
func (d *decoder) declared(c *emulator.EntityConfig) {
	n := named(c.Path, "")
	if most := d.limits.Entities; len(d.list) == most { // the first one beyond
		d.quota(n, len(d.list)+1, most, "queues and topics")
	}
	if t := c.Topic; t != nil {
		n.put("Properties", declaredSettings("", emulator.QueueOptions{
			DefaultMessageTimeToLive: t.DefaultMessageTimeToLive, DuplicateDetectionWindow: t.DuplicateDetectionWindow,
			AutoDeleteOnIdle: t.AutoDeleteOnIdle, EnablePartitioning: t.EnablePartitioning, MaxSizeInMegabytes: t.MaxSizeInMegabytes,
			MaxMessageSizeInKilobytes: t.MaxMessageSizeInKilobytes, Status: t.Status, UserMetadata: t.UserMetadata,
		}))
		n.put("Subscriptions", d.declaredSubscriptions(t.Subscriptions))
		d.topic(n)
	} else {
		n.put("Properties", declaredSettings("", *c.Queue))
		d.queue(n)
	}
	d.list[len(d.list)-1].declared = c
}

func (d *decoder) declaredSubscriptions(list []emulator.SubscriptionOptions) *node {
	all := &node{kind: kindArray, path: "Subscriptions"}
	for _, s := range list {
		n := named(s.Name, "Subscriptions["+strconv.Quote(clip(s.Name))+"]")
		n.put("Properties", declaredSettings(n.path+".", s.Queue))
		rules := &node{kind: kindArray, path: n.path + ".Rules"}
		for i := range s.Rules {
			rules.items = append(rules.items, d.declaredRule(rules.path, &s.Rules[i]))
		}
		n.put("Rules", rules)
		all.items = append(all.items, n)
	}
	return all
}

func (d *decoder) declaredRule(list string, r *emulator.RuleOptions) *node {
	n := named(r.Name, list+"["+strconv.Quote(clip(r.Name))+"]")
	props := &node{kind: kindObject, path: n.path}
	n.put("Properties", props)
	switch {
	case r.Correlation != nil && r.SQL != "":
		d.fail(n, "found SQL together with Correlation", "one of the two", "make two rules of it")
	case r.IsTrue():
		props.putText("FilterType", "True", n.path)
	case r.IsFalse():
		props.putText("FilterType", "False", n.path)
	case r.Correlation != nil:
		props.put("CorrelationFilter", d.declaredCorrelation(n.path+".Correlation", r.Correlation))
	default:
		props.putText("SqlFilter", r.SQL, n.path+".SQL")
	}
	if r.Action != "" {
		props.putText("Action", r.Action, n.path+".Action")
	}
	return n
}

func (d *decoder) declaredCorrelation(path string, f *emulator.CorrelationFilter) *node {
	n := &node{kind: kindObject, path: path}
	for _, field := range correlationFields(f) {
		if text := *field.value; text != nil {
			n.putText(field.names[0], *text, path+"."+field.names[0])
		}
	}
	properties := &node{kind: kindObject, path: path + ".Properties"}
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		v, at := f.Properties[name], properties.path+"["+strconv.Quote(clip(name))+"]"
		properties.putText(name, fmt.Sprint(v), at) // its type counts to the broker, not here
		if _, err := (emulator.Values{name: v}).MarshalJSON(); err != nil {
			d.fail(&node{path: at}, fmt.Sprintf("found a value of the type %T", v), "string, bool, numbers, time.Time, time.Duration", "")
		}
	}
	n.put("Properties", properties)
	return n
}

// declaredSettings returns the Properties of a queue, topic or subscription, without zero values.
func declaredSettings(path string, o emulator.QueueOptions) *node {
	n := &node{kind: kindObject}
	for _, x := range []struct{ key, text string }{
		{"LockDuration", declaredDuration(o.LockDuration)},
		{"DefaultMessageTimeToLive", declaredDuration(o.DefaultMessageTimeToLive)},
		{"DuplicateDetectionHistoryTimeWindow", declaredDuration(o.DuplicateDetectionWindow)},
		{"AutoDeleteOnIdle", declaredDuration(o.AutoDeleteOnIdle)},
		{"ForwardTo", o.ForwardTo},
		{"ForwardDeadLetteredMessagesTo", o.ForwardDeadLetteredMessagesTo},
		{"Status", string(o.Status)},
		{"UserMetadata", o.UserMetadata},
	} {
		if x.text != "" {
			n.putText(x.key, x.text, path+x.key)
		}
	}
	for _, x := range []struct {
		key   string
		value int64
	}{{"MaxDeliveryCount", int64(o.MaxDeliveryCount)}, {"MaxSizeInMegabytes", o.MaxSizeInMegabytes},
		{"MaxMessageSizeInKilobytes", o.MaxMessageSizeInKilobytes}} {
		if x.value != 0 {
			n.put(x.key, &node{kind: kindNumber, text: strconv.FormatInt(x.value, 10), path: path + x.key})
		}
	}
	for key, on := range map[string]bool{"RequiresSession": o.RequiresSession, "EnablePartitioning": o.EnablePartitioning} {
		if on {
			n.put(key, &node{kind: kindBool, boolean: true, path: path + key})
		}
	}
	return n
}

// named returns an object with a name.
func named(name, path string) *node {
	n := &node{kind: kindObject, path: path}
	n.putText("Name", name, path)
	return n
}

func (n *node) put(key string, value *node) {
	n.members = append(n.members, member{key: key, value: value})
}

func (n *node) putText(key, text, path string) {
	n.put(key, &node{kind: kindString, text: text, path: path})
}

// declaredDuration returns the text of a duration in a file, "" for zero. A negative duration has none, so it gets Go's, which
// the decoder refuses.
func declaredDuration(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < 0:
		return d.String()
	}
	return FormatDuration(d)
}
