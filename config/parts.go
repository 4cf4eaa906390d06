package config

import (
	"cmp"
	"strconv"
	"time"

	"minibus/emulator"
)

// Part is a piece of a topology: the text of a Config.json, or a queue that a program declares.
type Part struct {
	From string // file or other source, for messages
	JSON []byte // text of a Config.json

	Path  string                 // name of Queue; set without JSON
	Queue *emulator.QueueOptions // zero values stand for the cloud's defaults
}

// Assemble makes a topology of parts as if they were one file: names are unique, and targets may be in another part. An
// unknown key is an error here, because a program's author can correct it. Results are as with [Parse].
func Assemble(parts []Part, profile Limits) (*Topology, *Report) {
	d := newDecoder(profile)
	d.strict, d.choose = true, `use WithLimits("relaxed")`
	return d.topology(parts...)
}

// topology decodes the parts, then checks the forward targets between them.
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
	if whole { // else missing targets may be in a part that can't be read
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

// declared registers a queue that a program declares. It checks the queue like one with the same settings in a file.
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

// putTexts adds the settings whose values are texts in a file.
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
