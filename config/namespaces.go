package config

import (
	"fmt"
	"strconv"
	"strings"

	"minibus/emulator"
)

var namespaceKeys = []string{"Name", "Queues", "Topics", "AuthorizationRules", "Aliases", "Port"}

// space is a namespace while it is decoded.
type space struct {
	directory
	topology *Topology
	policies map[string]*node // by lower-case name
	named    bool             // a part of the file has named it
}

func newSpace(r *reader, name string) *space {
	return &space{
		directory: directory{reader: r, names: map[string]*entity{}},
		topology:  &Topology{Namespace: name},
		policies:  map[string]*node{},
	}
}

// namespaces decodes the namespaces of a file or another part. The first one is the default one, which all parts have
// in common.
func (d *decoder) namespaces(list []*node) {
	if len(list) > 1 {
		found := fmt.Sprintf("found %d namespaces, the first is the default one", len(list))
		d.add(Note, list[1], found, "", "Microsoft's emulator allows one")
	}
	seen := map[string]*node{}
	for i, n := range list {
		if !d.object(n) {
			continue
		}
		if d.space = d.spaces[0]; i == 0 {
			d.defaultName(n.Get("Name"))
			d.unique(seen, d.topology.Namespace, n, "namespace")
		} else if !d.other(n, seen) {
			continue
		}
		d.namespace(n)
	}
	d.space = d.spaces[0]
}

func (d *decoder) namespace(n *node) {
	t := d.topology
	d.keys(n, namespaceKeys)
	if list := n.Get("AuthorizationRules"); list != nil && list.Kind == kindArray && len(list.Items) == 0 {
		if d.space == d.spaces[0] {
			d.warn(list, "found no policy, so the namespace has the default one, RootManageSharedAccessKey",
				"name one, or set --root-key")
		} else {
			d.warn(list, "found no policy, so the namespace keeps its own, or gets RootManageSharedAccessKey "+
				"with a key of its own", "name one")
		}
	}
	if rules := d.authorizationRules(n.Get("AuthorizationRules"), d.policies); rules != nil {
		t.AuthorizationRules = append(rules, t.AuthorizationRules...)
	}
	list := d.ourTexts(n.Get("Aliases"))
	if list != nil && t.Aliases == nil {
		t.Aliases = []string{} // an empty list takes all aliases away; nil keeps them
	}
	aliases := d.array(list)
	if count := len(aliases); count > emulator.MaxAliases {
		d.fail(list, fmt.Sprintf("found %d aliases", count), fmt.Sprintf("up to %d", emulator.MaxAliases), "")
	}
	for _, at := range aliases {
		d.beyond(at, false)
		if host := d.alias(at); host != "" {
			t.Aliases = append(t.Aliases, host)
		}
	}
	if at := d.ourInteger(n.Get("Port"), portNumbers); at != nil {
		t.Port = d.port(at)
	}
	d.entities(n)
}

// entities decodes the queues and topics of a namespace.
func (d *decoder) entities(n *node) {
	queues, topics := d.array(n.Get("Queues")), d.array(n.Get("Topics"))
	d.quota(n, len(queues)+len(topics), d.limits.Entities, "queues and topics")
	for _, q := range queues {
		d.queue(q)
	}
	for _, topic := range topics {
		d.topic(topic)
	}
}

// defaultName reads the name of the default namespace. All parts with a name must have the same one.
func (d *decoder) defaultName(at *node) {
	name := strings.TrimSpace(d.text(at, ""))
	if name == "" {
		return
	}
	t := d.topology
	if wrong := (nameRule{most: emulator.MaxName, profile: emulator.ProfileRelaxed}).check(name); wrong != "" {
		d.warn(at, "found "+wrong+" ("+quote(name)+"), the namespace is called "+DefaultNamespace, "")
		name = DefaultNamespace
	} else if !strings.EqualFold(name, DefaultNamespace) {
		d.add(Note, at, "the namespace is called "+quote(name), "", "Microsoft's emulator insists on "+DefaultNamespace)
	}
	if d.named && !strings.EqualFold(name, t.Namespace) {
		d.fail(at, "found the namespace "+quote(name)+" beside "+quote(t.Namespace), "one",
			"give both the same name, or put both into one file")
	}
	t.Namespace, d.named = name, true
}

// other finds or makes a namespace that is not the default one. It returns false if that has no usable name.
func (d *decoder) other(n *node, seen map[string]*node) bool {
	at := n.Get("Name")
	name := strings.TrimSpace(d.text(at, ""))
	if at == nil {
		d.fail(n, "found no Name", "", "give each namespace a Name")
	}
	if name == "" {
		return false
	}
	if err := emulator.CheckNamespaceName(name); err != nil {
		d.fail(at, err.Error(), "", "")
		return false
	}
	d.unique(seen, name, at, "namespace")
	for _, s := range d.spaces[1:] {
		if strings.EqualFold(s.topology.Namespace, name) {
			d.space = s
			return true
		}
	}
	d.space = newSpace(d.reader, name)
	d.spaces = append(d.spaces, d.space)
	return true
}

// elsewhere returns the name of the other namespace of the file that the host in a target means: by an alias, or by
// the name and a domain.
func (d *decoder) elsewhere(own *space, target string) string {
	host := targetHost(target)
	if host == "" || own.hasHost(host) {
		return ""
	}
	for _, s := range d.spaces {
		if s != own && s.hasHost(host) {
			return s.topology.Namespace
		}
	}
	return ""
}

func (s *space) hasHost(host string) bool {
	label, _, qualified := strings.Cut(host, ".")
	return containsFold(s.topology.Aliases, host) || qualified && strings.EqualFold(label, s.topology.Namespace)
}

// port reads the port of a namespace, 0 if it is wrong.
func (d *decoder) port(at *node) int {
	d.beyond(at, false)
	port := int(d.integer(at, 0, portNumbers))
	key := strconv.Itoa(port)
	switch {
	case port == 0: // already reported
	case d.handles[key] != nil:
		d.fail(at, "found the port "+key+" a second time", "", "give each namespace a port of its own")
	default:
		d.handles[key] = at
	}
	return port
}

// portNumbers is the range of the port of a namespace.
func portNumbers(limits) intRange { return intRange{emulator.IntRange{Least: 1, Most: 65535}} }

// alias reads the name of a host that means the namespace.
func (d *decoder) alias(at *node) string {
	host := strings.TrimSuffix(strings.TrimSpace(d.text(at, "")), ".")
	if at.Kind != kindString {
		return ""
	}
	if err := emulator.CheckAlias(host); err != nil {
		d.fail(at, err.Error(), "", "")
		return ""
	}
	d.unique(d.handles, host, at, "alias")
	return host
}
