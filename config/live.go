package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/internal/entitypath"
	"minibus/internal/jsontree"
)

// Live is the namespace that what is read belongs to.
type Live struct {
	Name      string
	IsDefault bool
	Profile   emulator.Profile
	Target    func(path string) string // a queue or topic of the namespace in its own spelling; "": there is none
	Elsewhere func(host string) string // the name of another namespace that a host means; ""
}

// profileOf returns the name of a profile of the broker.
func profileOf(l emulator.Profile) Profile {
	name, _ := l.MarshalText() // the broker has only profiles that exist
	return Profile(name)
}

// decoder returns a decoder of what belongs to the namespace. from is the name of the text in messages.
func (l Live) decoder(from string, profile Profile) *decoder {
	d := newDecoder(profile)
	d.strict, d.file = true, from
	d.choose = "use a namespace with the limits relaxed"
	return d
}

// read reads a text that must be an object; nil if it is none.
func (d *decoder) read(text []byte) *node {
	root, err := jsontree.Read(text)
	if err != nil {
		d.syntax(err)
		return nil
	}
	if !d.object(root) {
		return nil
	}
	return root
}

// ParseEntity reads a queue, a topic or a subscription, whose path is known: an object with its Properties, of a topic
// also its Subscriptions, of a subscription its Rules. It may have a Name, which must be that of the path. Without a
// setting the default of files counts. Unknown keys are errors. The entity is not to be used if the report has errors.
func (l Live) ParseEntity(
	from string, text []byte, kind emulator.EntityKind, path string,
) (emulator.Settings, *Report) {
	d := l.decoder(from, profileOf(l.Profile))
	defer d.report.sort()
	if root := d.read(text); root != nil {
		d.one(root, kind, path, l)
	}
	return d.only(kind)
}

// PatchEntity reads an object with some Properties of an entity, and returns the entity with them and with all other
// settings as they are. A property that is null gets the default of files.
func (l Live) PatchEntity(from string, text []byte, path string, old emulator.Settings) (emulator.Settings, *Report) {
	d := l.decoder(from, profileOf(l.Profile))
	defer d.report.sort()
	kind, base := propertiesOf(old, l.Profile)
	root := d.read(text)
	if root == nil {
		return d.only(kind)
	}
	d.keys(root, []string{"Name", "Properties"})
	given := root.Get("Properties")
	if given == nil {
		const fix = `write {"Properties": {"LockDuration": "PT30S"}}`
		d.fail(root, "found no Properties", "an object with the settings to change", fix)
		return d.only(kind)
	}
	checked := *given
	// The range of the size depends on it.
	if p := base.Get("EnablePartitioning"); p != nil && given.Get("EnablePartitioning") == nil {
		checked.Members = append(slices.Clone(given.Members), member{Key: "EnablePartitioning", Value: p})
	}
	d.one(root.With("Properties", &checked), kind, path, l)
	if d.report.Count(Error) > 0 || given.Kind != kindObject {
		return d.only(kind)
	}
	merged := &node{Kind: kindObject, Pos: given.Pos, Path: given.Path, Members: slices.Clone(given.Members)}
	for _, m := range base.Members {
		if !slices.ContainsFunc(given.Members, func(g member) bool { return strings.EqualFold(g.Key, m.Key) }) {
			merged.Members = append(merged.Members, m)
		}
	}
	whole := l.decoder(from, ProfileRelaxed) // what the entity has already may be beyond the profile
	whole.report = d.report
	whole.one(root.With("Properties", merged), kind, path, l)
	return whole.only(kind)
}

// ParseRule reads a rule: an object with its Properties, and a Name that must be the one given, if it has one. That of
// a subscription of JMS clients may be a selector.
func (l Live) ParseRule(from string, text []byte, name string, ofClients bool) (emulator.RuleOptions, *Report) {
	d := l.decoder(from, profileOf(l.Profile))
	defer d.report.sort()
	root := d.read(text)
	if root == nil {
		return emulator.RuleOptions{}, d.report
	}
	d.keys(root, []string{"Name", "Properties"})
	d.name(d.withName(root, name), nameRule{most: emulator.MaxName, profile: l.Profile, system: true})
	rule := d.rule(root, checkOf(name, ofClients))
	rule.Name = name
	return rule, d.report
}

// one decodes an entity.
func (d *decoder) one(root *node, kind emulator.EntityKind, path string, l Live) {
	switch topic, name, isSubscription := entitypath.SplitSubscription(path); {
	case isSubscription:
		parent := named(topic, "")
		parent.Put("Subscriptions", &node{Kind: kindArray, Items: []*node{d.withName(root, name)}})
		d.topic(parent)
	case kind == emulator.KindTopic:
		d.topic(d.withName(root, path))
	default:
		d.queue(d.withName(root, path))
	}
	d.existing = l.Target // an entity may forward to itself too
	d.checkForwards(l.elsewhere)
}

// withName gives an object a name. One that it has already must be the same.
func (d *decoder) withName(root *node, name string) *node {
	if at := root.Get("Name"); at != nil && !strings.EqualFold(d.text(at, name), name) {
		d.fail(at, "found the name "+at.Describe(), quote(name)+", as in the path of the request", "leave Name out")
	}
	return root.With("Name", &node{Kind: kindString, Text: name, Pos: root.Pos, Path: root.Path})
}

// elsewhere returns the name of another namespace that a target means, "" if it means none.
func (l Live) elsewhere(_ *space, target string) string {
	if other := l.Elsewhere(targetHost(target)); !strings.EqualFold(other, l.Name) {
		return other
	}
	return ""
}

// only returns the entity that was decoded.
func (d *decoder) only(kind emulator.EntityKind) (emulator.Settings, *Report) {
	if d.report.Count(Error) > 0 || len(d.list) == 0 {
		return emulator.Settings{}, d.report
	}
	e := d.list[0].complete()
	if kind == emulator.KindSubscription {
		return emulator.Settings{Subscription: &e.Topic.Subscriptions[0]}, d.report
	}
	return emulator.Settings{Queue: e.Queue, Topic: e.Topic}, d.report
}

// propertiesOf returns the settings of an entity as an object of a file, and its kind.
func propertiesOf(s emulator.Settings, l emulator.Profile) (kind emulator.EntityKind, n *node) {
	p := SettingsProperties(s, l, false)
	switch {
	case s.Topic != nil:
		kind = emulator.KindTopic
	case s.Subscription != nil:
		kind = emulator.KindSubscription
	default:
		kind = emulator.KindQueue
	}
	text, err := json.Marshal(p)
	if err == nil {
		n, err = jsontree.Parse(string(text))
	}
	if err != nil {
		panic("config: settings can't be read back: " + err.Error()) // they are texts, numbers and truth values
	}
	return kind, n
}

// SettingsProperties returns all settings of an entity: [QueueProperties], [TopicProperties] or
// [SubscriptionProperties].
func SettingsProperties(s emulator.Settings, l emulator.Profile, keys bool) Properties {
	switch {
	case s.Queue != nil:
		return QueueProperties(*s.Queue, l, keys)
	case s.Topic != nil:
		return TopicProperties(*s.Topic, l, keys)
	case s.Subscription != nil:
		return SubscriptionProperties(*s.Subscription, l)
	}
	return nil
}

// ParseConfiguration reads what a namespace is to be compared with: a whole Config.json, or an object with Queues and
// Topics. Of a file with several namespaces it takes the one of this name, for the default namespace the first. It
// returns nil if the report has errors.
func (l Live) ParseConfiguration(from string, text []byte) (*Topology, *Report) {
	root, err := jsontree.Read(text)
	if err != nil || root.Get("UserConfig") == nil && !isTemplate(root) {
		entities, report := ParseEntities(from, text, profileOf(l.Profile), l.Elsewhere)
		if report.Count(Error) > 0 {
			return nil, report
		}
		return &Topology{Namespace: l.Name, Entities: entities}, report
	}
	d := newDecoder(profileOf(l.Profile))
	d.choose = "use a namespace with the limits relaxed"
	t, report := d.assemble(Part{From: from, root: root})
	if t == nil || len(t.Others) == 0 {
		return t, report
	}
	var names []string
	for _, one := range t.All() {
		if strings.EqualFold(one.Namespace, l.Name) {
			return one, report
		}
		names = append(names, one.Namespace)
	}
	if l.IsDefault {
		return t, report
	}
	at := orAbsent(root.Get("UserConfig").Get("Namespaces"), root)
	d.fail(at, "found no namespace "+quote(l.Name), strings.Join(names, ", "),
		"name one of them, or leave the others out")
	report.sort()
	return nil, report
}

// IsFile reports whether a text is a whole Config.json, and not the description of a single namespace. It is an error
// if it has more beside UserConfig.
func IsFile(from string, text []byte) (bool, error) {
	root, err := jsontree.Read(text)
	if err == nil && isTemplate(root) {
		return true, nil
	}
	if err != nil || root.Get("UserConfig") == nil {
		return false, nil // the reader of the other form says what is wrong
	}
	for _, m := range root.Members {
		if !strings.EqualFold(m.Key, "UserConfig") {
			const found = "%s: found %q beside UserConfig; a Config.json has nothing else"
			return false, fmt.Errorf(found, from, clip(m.Key))
		}
	}
	return true, nil
}

// OnlyAtTheStart returns a note on each setting of the namespace itself, which counts when Minibus starts with the
// file, and not when the file is applied.
func OnlyAtTheStart(t *Topology) (notes []string) {
	note := func(name string, set bool) {
		if set {
			notes = append(notes, name+" of the namespace counts when Minibus starts with the file; "+
				"it is not compared and not applied.")
		}
	}
	note("AuthorizationRules", len(t.AuthorizationRules) > 0)
	note("Aliases", t.Aliases != nil)
	note("Port", t.Port != 0)
	return notes
}
