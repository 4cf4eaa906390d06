package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"minibus/emulator"
	"minibus/internal/jsontree"
)

// Part is a piece of a topology: the text of a Config.json, or an entity that a program declares.
type Part struct {
	From string // file or other source, for messages
	JSON []byte // text of a Config.json

	Entity *emulator.EntityConfig // instead of JSON; zero values stand for the cloud's defaults

	root *node // of JSON that was read already
	err  error // why it can't be
}

// Assemble makes a topology of parts as if they were one file: names are unique, and targets may be in another part. An
// unknown key is an error here, because a program's author can correct it. Results are as with [Parse]. If the
// namespace has entities already, existing returns a queue or topic of it, in its spelling, "" if there is none.
func Assemble(parts []Part, profile Profile, existing func(path string) string) (*Topology, *Report) {
	d := newDecoder(profile)
	d.existing = existing
	d.strict, d.choose = true, "use WithLimits(sbtest.Relaxed)"
	return d.assemble(parts...)
}

// ParseEntities reads the queues and topics of a namespace that is to be made, an object as in Namespaces of a
// Config.json. It checks Queues and Topics alone: the caller has read the other members, and one called Limits. As in
// [Assemble] an unknown key is an error. from is the name used in messages; others returns the name of the existing
// namespace that a host means, or "". The report is never nil, and there are no entities if it has errors.
func ParseEntities(
	from string, text []byte, profile Profile, others func(host string) (namespace string),
) ([]emulator.EntityConfig, *Report) {
	d := newDecoder(profile)
	d.strict = true
	d.choose = `choose "limits": "relaxed"`
	d.file = from
	defer d.report.sort()
	root, err := jsontree.Read(text)
	if err != nil {
		d.syntax(err)
	} else if d.object(root) {
		d.keys(root, slices.Concat(namespaceKeys, []string{"Limits"}))
		d.topology.Namespace = d.text(root.Get("Name"), "")
		d.entities(root)
		d.checkForwards(func(_ *space, target string) string { return others(targetHost(target)) })
	}
	if d.report.Count(Error) > 0 {
		return nil, d.report
	}
	return d.complete(), d.report
}

// assemble decodes the parts, then checks the forward targets between them.
func (d *decoder) assemble(parts ...Part) (*Topology, *Report) {
	defer d.report.sort()
	whole := true
	templates := 0
	given := make(map[string]*node) // of the files with parameters
	for i := range parts {
		p := &parts[i]
		if p.Entity != nil {
			continue
		}
		d.file = p.From
		p.root, p.err = p.read()
		switch {
		case p.err != nil:
			whole = false
		case isTemplate(p.root):
			templates++
		case isParameterFile(p.root):
			maps.Copy(given, parameterValues(p.root))
		}
	}
	for _, p := range parts {
		d.file = p.From
		switch {
		case p.Entity != nil:
			d.declared(p.Entity)
		case p.err != nil:
			d.syntax(p.err)
		case isTemplate(p.root):
			d.template(p.root, given)
		case !isParameterFile(p.root):
			d.root(p.root)
			d.noteBeyond()
		case templates == 0 && whole:
			d.fail(p.root, "this is a file of parameters", "", "give the template too, with another --config")
		}
		d.beyondEmulator, d.examples = 0, nil // Microsoft's emulator takes no template
	}
	if whole { // else missing targets may be in a part that can't be read
		for _, s := range d.spaces {
			s.checkForwards(d.elsewhere)
		}
	}
	if d.report.Count(Error) > 0 {
		return nil, d.report
	}
	t := d.spaces[0].topology
	for i, s := range d.spaces {
		if s.topology.Entities = s.complete(); i > 0 {
			t.Others = append(t.Others, s.topology)
		}
	}
	return t, d.report
}

// read reads the text of a part.
func (p *Part) read() (*node, error) {
	if p.root != nil {
		return p.root, nil
	}
	return jsontree.Read(p.JSON)
}

// complete returns the entities once the forward targets are known.
func (s *space) complete() (all []emulator.EntityConfig) {
	for _, e := range s.list {
		all = append(all, e.complete())
	}
	return all
}

// complete returns the entity once the forward targets are known.
func (e *entity) complete() emulator.EntityConfig {
	for i, options := range e.pending {
		e.config.Topic.Subscriptions[i].Queue = *options
	}
	if e.declared == nil {
		return e.config
	}
	return asDeclared(*e.declared, e.config)
}

// asDeclared returns an entity with the settings that a program declares, and the names and targets of read, where
// they have their final spelling. read is the same entity decoded like one of a file, so its other settings have a
// file's defaults.
func asDeclared(c, read emulator.EntityConfig) emulator.EntityConfig {
	c.Path = read.Path
	if c.Topic == nil {
		c.Queue = withTargets(*c.Queue, read.Queue)
		return c
	}
	t := *c.Topic
	t.SupportOrdering = read.Topic.SupportOrdering
	t.Subscriptions = slices.Clone(t.Subscriptions)
	for i := range t.Subscriptions {
		s, checked := &t.Subscriptions[i], &read.Topic.Subscriptions[i]
		s.Name = checked.Name
		s.Queue = *withTargets(s.Queue, &checked.Queue)
		s.Rules = slices.Clone(s.Rules)
		for j := range s.Rules {
			s.Rules[j].Name = checked.Rules[j].Name
		}
	}
	c.Topic = &t
	return c
}

func withTargets(o emulator.QueueOptions, of *emulator.QueueOptions) *emulator.QueueOptions {
	o.ForwardTo, o.ForwardDeadLetteredMessagesTo = of.ForwardTo, of.ForwardDeadLetteredMessagesTo
	return &o
}

// declared registers an entity that a program declares. It checks the entity like one with the same settings in a
// file. The paths of the nodes are the names of the Go fields, for messages.
func (d *decoder) declared(c *emulator.EntityConfig) {
	n := named(c.Path, "")
	if most := d.limits.Entities; len(d.list) == most { // the first one beyond
		d.quota(n, len(d.list)+1, most, "queues and topics")
	}
	if t := c.Topic; t != nil {
		n.Put("Properties", declaredSettings("", emulator.QueueOptions{
			DefaultMessageTimeToLive: t.DefaultMessageTimeToLive, DuplicateDetectionWindow: t.DuplicateDetectionWindow,
			AutoDeleteOnIdle: t.AutoDeleteOnIdle, EnablePartitioning: t.EnablePartitioning,
			MaxSizeInMegabytes: t.MaxSizeInMegabytes, MaxMessageSizeInKilobytes: t.MaxMessageSizeInKilobytes,
			Status: t.Status, UserMetadata: t.UserMetadata,
		}))
		n.Put("Subscriptions", d.declaredSubscriptions(t.Subscriptions))
		d.topic(n)
	} else {
		n.Put("Properties", declaredSettings("", *c.Queue))
		d.queue(n)
	}
	d.list[len(d.list)-1].declared = c
}

func (d *decoder) declaredSubscriptions(list []emulator.SubscriptionOptions) *node {
	all := &node{Kind: kindArray, Path: "Subscriptions"}
	for _, s := range list {
		n := named(s.Name, "Subscriptions["+quote(s.Name)+"]")
		n.Put("Properties", declaredSettings(n.Path+".", s.Queue))
		rules := &node{Kind: kindArray, Path: n.Path + ".Rules"}
		for i := range s.Rules {
			rules.Items = append(rules.Items, d.declaredRule(rules.Path, &s.Rules[i]))
		}
		n.Put("Rules", rules)
		all.Items = append(all.Items, n)
	}
	return all
}

func (d *decoder) declaredRule(list string, r *emulator.RuleOptions) *node {
	n := named(r.Name, list+"["+quote(r.Name)+"]")
	props := &node{Kind: kindObject, Path: n.Path}
	n.Put("Properties", props)
	switch {
	case r.Correlation != nil && r.SQL != "":
		d.fail(n, "found SQL together with Correlation", "one of the two", "make two rules of it")
	case r.IsTrue():
		putText(props, "FilterType", "True", n.Path)
	case r.IsFalse():
		putText(props, "FilterType", "False", n.Path)
	case r.Correlation != nil:
		props.Put("CorrelationFilter", d.declaredCorrelation(n.Path+".Correlation", r.Correlation))
	default:
		putText(props, "SqlFilter", r.SQL, n.Path+".SQL")
	}
	if r.Action != "" {
		putText(props, "Action", r.Action, n.Path+".Action")
	}
	return n
}

func (d *decoder) declaredCorrelation(path string, f *emulator.CorrelationFilter) *node {
	n := &node{Kind: kindObject, Path: path}
	for _, field := range correlationFields(f) {
		if text := *field.value; text != nil {
			putText(n, field.names[0], *text, path+"."+field.names[0])
		}
	}
	properties := &node{Kind: kindObject, Path: path + ".Properties"}
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		v, at := f.Properties[name], properties.Path+"["+quote(name)+"]"
		putText(properties, name, fmt.Sprint(v), at) // its type counts to the broker, not here
		if _, err := (emulator.Values{name: v}).MarshalJSON(); err != nil {
			found := fmt.Sprintf("found a value of the type %T", v)
			d.fail(&node{Path: at}, found, "string, bool, numbers, time.Time, time.Duration", "")
		}
	}
	n.Put("Properties", properties)
	return n
}

// declaredSettings returns the Properties of a queue, topic or subscription, without zero values.
func declaredSettings(path string, o emulator.QueueOptions) *node {
	n := &node{Kind: kindObject}
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
			putText(n, x.key, x.text, path+x.key)
		}
	}
	number := func(key string, value int64) {
		if value != 0 {
			n.Put(key, &node{Kind: kindNumber, Text: strconv.FormatInt(value, 10), Path: path + key})
		}
	}
	number("MaxDeliveryCount", int64(o.MaxDeliveryCount))
	number("MaxSizeInMegabytes", o.MaxSizeInMegabytes)
	number("MaxMessageSizeInKilobytes", o.MaxMessageSizeInKilobytes)
	yes := func(key string, on bool) {
		if on {
			n.Put(key, &node{Kind: kindBool, Bool: true, Path: path + key})
		}
	}
	yes("RequiresSession", o.RequiresSession)
	yes("EnablePartitioning", o.EnablePartitioning)
	return n
}

// named returns an object with a name.
func named(name, path string) *node {
	n := &node{Kind: kindObject, Path: path}
	putText(n, "Name", name, path)
	return n
}

func putText(n *node, key, text, path string) {
	n.Put(key, &node{Kind: kindString, Text: text, Path: path})
}

// declaredDuration returns the text of a duration in a file, "" for zero. A negative duration has none, so it gets
// Go's, which the decoder refuses.
func declaredDuration(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < 0:
		return d.String()
	}
	return FormatDuration(d)
}
