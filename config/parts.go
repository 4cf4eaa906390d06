package config

import (
	"cmp"
	"strconv"
	"time"

	"minibus/emulator"
)

// Part is a piece of a topology: the text of a Config.json, or a queue that a program declares.
type Part struct {
	From string // where it comes from, for messages
	JSON []byte // text of a Config.json

	Path  string                 // instead of JSON: the name of Queue
	Queue *emulator.QueueOptions // zero values stand for the cloud's defaults
}

// Assemble makes a topology of parts as if they stood in one file: a name is taken once, and targets may be in another part. A
// key that means nothing is an error here, for a program's author can correct it. What it returns is as with [Parse].
func Assemble(parts []Part, profile Limits) (*Topology, *Report) {
	d := newDecoder(profile)
	d.strict, d.choose = true, `use WithLimits("relaxed")`
	return d.topology(parts...)
}

// topology decodes the parts, then checks what they say about each other.
func (d *decoder) topology(parts ...Part) (*Topology, *Report) {
	defer d.report.sort()
	t := &Topology{Namespace: DefaultNamespace}
	whole := true
	for _, p := range parts {
		d.file = p.From
		if p.Queue != nil {
			d.declared(p.Path, *p.Queue)
		} else if root, err := readJSON(p.JSON); err == nil {
			d.root(root, t)
		} else {
			d.syntax(err)
			whole = false
		}
	}
	if whole { // else the missing targets may stand in what can't be read
		d.checkForwards()
		d.noteBeyond()
	}
	if d.report.Count(Error) > 0 {
		return nil, d.report
	}
	for _, e := range d.entities {
		for i, options := range e.pending {
			e.config.Topic.Subscriptions[i].Queue = *options
		}
		if o := e.declared; o != nil {
			o.ForwardTo, o.ForwardDeadLetteredMessagesTo = e.config.Queue.ForwardTo, e.config.Queue.ForwardDeadLetteredMessagesTo
			e.config.Queue = o
		}
		t.Entities = append(t.Entities, e.config)
	}
	return t, d.report
}

// declared checks a queue that a program declares as one of a file with the same settings is, and registers it.
func (d *decoder) declared(path string, o emulator.QueueOptions) {
	n := &node{kind: kindObject}
	if most := d.limits.Entities; len(d.entities) == most { // the first one beyond
		d.quota(n, len(d.entities)+1, most, "queues and topics")
	}
	props := &node{kind: kindObject}
	n.put("Name", &node{kind: kindString, text: path})
	n.put("Properties", props)
	props.putTexts(o)
	for key, v := range map[string]int64{"MaxDeliveryCount": int64(o.MaxDeliveryCount), "MaxSizeInMegabytes": o.MaxSizeInMegabytes,
		"MaxMessageSizeInKilobytes": o.MaxMessageSizeInKilobytes} {
		if v != 0 {
			props.put(key, &node{kind: kindNumber, text: strconv.FormatInt(v, 10), path: key})
		}
	}
	for key, v := range map[string]bool{"RequiresSession": o.RequiresSession, "EnablePartitioning": o.EnablePartitioning} {
		props.put(key, &node{kind: kindBool, boolean: v, path: key})
	}
	d.queue(n)
	d.entities[len(d.entities)-1].declared = &o
}

// putTexts adds the settings that are texts in a file.
func (n *node) putTexts(o emulator.QueueOptions) {
	for _, x := range []struct{ key, name, text string }{
		{key: "LockDuration", text: declaredDuration(o.LockDuration)},
		{key: "DefaultMessageTimeToLive", text: declaredDuration(o.DefaultMessageTimeToLive)},
		{key: "DuplicateDetectionHistoryTimeWindow", name: "DuplicateDetectionWindow", text: declaredDuration(o.DuplicateDetectionWindow)},
		{key: "AutoDeleteOnIdle", text: declaredDuration(o.AutoDeleteOnIdle)},
		{key: "ForwardTo", text: o.ForwardTo},
		{key: "ForwardDeadLetteredMessagesTo", text: o.ForwardDeadLetteredMessagesTo},
		{key: "Status", text: string(o.Status)},
		{key: "UserMetadata", text: o.UserMetadata},
	} {
		if x.text != "" {
			n.put(x.key, &node{kind: kindString, text: x.text, path: cmp.Or(x.name, x.key)})
		}
	}
}

func (n *node) put(key string, value *node) {
	n.members = append(n.members, member{key: key, value: value})
}

// declaredDuration is the text of a duration in a file; zero is none. What is below zero has no such text.
func declaredDuration(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < 0:
		return d.String()
	}
	return FormatDuration(d)
}
