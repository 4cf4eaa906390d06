package config

import (
	"slices"

	"minibus/emulator"
)

// Part is a piece of a topology: the text of a Config.json, or an entity that a program declares.
type Part struct {
	From string // file or other source, for messages
	JSON []byte // text of a Config.json

	Entity *emulator.EntityConfig // instead of JSON; zero values stand for the cloud's defaults

	root *node // of JSON that was read already
}

// Assemble makes a topology of parts as if they were one file: names are unique, and targets may be in another part. An
// unknown key is an error here, because a program's author can correct it. Results are as with [Parse].
func Assemble(parts []Part, profile Limits) (*Topology, *Report) {
	return AssembleInto(parts, profile, nil)
}

// AssembleInto is [Assemble] for a namespace that has entities already: existing returns a queue or topic of it, in its spelling, "" if there is none.
func AssembleInto(parts []Part, profile Limits, existing func(path string) string) (*Topology, *Report) {
	d := newDecoder(profile)
	d.existing = existing
	d.strict, d.choose = true, "use WithLimits(sbtest.Relaxed)"
	return d.assemble(parts...)
}

// ParseEntities reads the queues and topics of a namespace that is to be made, an object as in Namespaces of a Config.json. It checks Queues and
// Topics alone: the caller has read the other members, and one called Limits. As in [Assemble] an unknown key is an error. from is the name
// used in messages; others returns the name of the existing namespace that a host means, or "". The report is never nil, and there are no
// entities if it has errors.
func ParseEntities(from string, text []byte, profile Limits, others func(host string) (namespace string)) ([]emulator.EntityConfig, *Report) {
	d := newDecoder(profile)
	d.strict, d.choose, d.file = true, `choose "limits": "relaxed"`, from
	defer d.report.sort()
	root, err := readJSON(text)
	if err != nil {
		d.syntax(err)
	} else if d.object(root) {
		d.keys(root, slices.Concat(namespaceKeys, []string{"Limits"}))
		d.topology.Namespace = d.text(root.get("Name"), "")
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
	for _, p := range parts {
		d.file = p.From
		if p.Entity != nil {
			d.declared(p.Entity)
		} else if root, err := p.read(); err == nil {
			d.root(root)
		} else {
			d.syntax(err)
			whole = false
		}
	}
	if whole { // else missing targets may be in a part that can't be read
		for _, s := range d.spaces {
			s.checkForwards(d.elsewhere)
		}
		d.noteBeyond()
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
	return readJSON(p.JSON)
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

// asDeclared returns an entity with the settings that a program declares, and the names and targets of read, where they have their
// final spelling. read is the same entity decoded like one of a file, so its other settings have a file's defaults.
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
		s.Name, s.Queue, s.Rules = checked.Name, *withTargets(s.Queue, &checked.Queue), slices.Clone(s.Rules)
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
