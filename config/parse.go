package config

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"minibus/emulator"
)

// DefaultNamespace is the only name that Microsoft's emulator accepts, and Minibus's name without a file (DEC-11).
const DefaultNamespace = "sbemulatorns"

// Topology has the namespace and the entities of a configuration file.
type Topology struct {
	Namespace string                  // name of the one namespace
	Entities  []emulator.EntityConfig // in file order, queues first

	// AuthorizationRules are the policies of the namespace, for --auth sas; none means the default one.
	AuthorizationRules []emulator.AuthorizationRule
}

// Parse reads the text of a Config.json. file is the name used in messages. The report is never nil; the topology is
// nil if and only if the report has errors.
func Parse(file string, data []byte, profile Limits) (*Topology, *Report) {
	return newDecoder(profile).topology(Part{From: file, JSON: data})
}

func (d *decoder) syntax(err error) {
	var s *syntaxError
	if !errors.As(err, &s) {
		d.report.add(Finding{Severity: Error, File: d.file, Found: err.Error()})
		return
	}
	if strings.HasSuffix(s.path, "aryKey") { // PrimaryKey or SecondaryKey: don't show the value
		s.text = "found no text in double quotes, which a key is"
	}
	d.report.add(Finding{Severity: Error, File: d.file, Line: s.pos.line, Column: s.pos.column, Path: s.path,
		Found: s.text, Cure: cmp.Or(s.cure, "correct the JSON")})
}

// root decodes a document down to the namespace.
func (d *decoder) root(root *node, t *Topology) {
	if !d.object(root) {
		return
	}
	user := root.get("UserConfig")
	if user == nil {
		cure := `put everything in one object: {"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [], "Topics": []}]}}`
		d.fail(root, "found no UserConfig", "", cure)
		return
	}
	d.keys(root, []string{"UserConfig"})
	if !d.object(user) {
		return
	}
	d.keys(user, []string{"Namespaces", "Logging"})
	d.logging(user.get("Logging"))
	namespaces := d.array(user.get("Namespaces"))
	switch {
	case len(namespaces) == 0:
		d.warn(user, "found no namespace, so there are no entities", "add Namespaces with Queues or Topics")
	case len(namespaces) > 1:
		d.fail(namespaces[1], fmt.Sprintf("found %d namespaces", len(namespaces)), "one",
			"start one Minibus for each namespace, with its own file and ports")
	default:
		d.namespace(namespaces[0], t)
	}
}

// logging checks the section that Microsoft's emulator requires. Minibus always logs to standard error.
func (d *decoder) logging(n *node) {
	if !d.object(n) {
		return
	}
	d.keys(n, []string{"Type"})
	t := n.get("Type")
	for part := range strings.SplitSeq(d.text(t, "Console"), ",") {
		if part = strings.TrimSpace(part); !containsFold([]string{"File", "Console"}, part) {
			d.warn(t, "found the unknown logging type "+strconv.Quote(clip(part))+", it is ignored", "use Console, File or both")
		}
	}
}

func (d *decoder) namespace(n *node, t *Topology) {
	if !d.object(n) {
		return
	}
	d.keys(n, []string{"Name", "Queues", "Topics", "AuthorizationRules"})
	if list := n.get("AuthorizationRules"); list != nil && list.kind == kindArray && len(list.items) == 0 {
		d.warn(list, "found no policy, so the namespace has the default one, RootManageSharedAccessKey", "name one, or set --root-key")
	}
	if rules := d.authorizationRules(n.get("AuthorizationRules"), d.policies); rules != nil {
		t.AuthorizationRules = append(rules, t.AuthorizationRules...)
	}
	d.namespaceName(n.get("Name"), t)
	queues, topics := d.array(n.get("Queues")), d.array(n.get("Topics"))
	d.quota(n, len(queues)+len(topics), d.limits.Entities, "queues and topics")
	for _, q := range queues {
		d.queue(q)
	}
	for _, topic := range topics {
		d.topic(topic)
	}
}

// namespaceName reads the name of the namespace. All parts with a name must have the same one.
func (d *decoder) namespaceName(at *node, t *Topology) {
	name := strings.TrimSpace(d.text(at, ""))
	if name == "" {
		return
	}
	if wrong := (nameRule{most: emulator.MaxName, limits: emulator.LimitsRelaxed}).check(name); wrong != "" {
		d.warn(at, "found "+wrong+" ("+strconv.Quote(clip(name))+"), the namespace is called "+DefaultNamespace, "")
		name = DefaultNamespace
	} else if !strings.EqualFold(name, DefaultNamespace) {
		d.add(Note, at, "the namespace is called "+strconv.Quote(clip(name)), "", "Microsoft's emulator insists on "+DefaultNamespace)
	}
	if d.named && !strings.EqualFold(name, t.Namespace) {
		d.fail(at, "found the namespace "+strconv.Quote(clip(name))+" beside "+strconv.Quote(clip(t.Namespace)), "one",
			"give both the same name, or start one Minibus for each")
	}
	t.Namespace, d.named = name, true
}

// register adds an entity; queues and topics share their names (management-rest 6.1).
func (d *decoder) register(e *entity) {
	e.from = d.file
	d.entities = append(d.entities, e)
	if e.config.Path == "" {
		return // already reported
	}
	key := strings.ToLower(e.config.Path)
	if first := d.names[key]; first != nil {
		d.fail(e.node, fmt.Sprintf("found the name %s a second time (first %s)", strconv.Quote(clip(e.config.Path)), d.place(first)),
			"names of queues and topics that differ in more than case", "rename or remove one of the two")
		return
	}
	d.names[key] = e
}

// place returns the place of an entity in its file, for messages.
func (d *decoder) place(e *entity) string {
	line := fmt.Sprintf("on line %d", e.node.pos.line)
	switch {
	case e.node.pos.line == 0:
		return "in " + e.from
	case e.from != d.file:
		return "in " + e.from + " " + line
	}
	return line
}

// forward notes a target for checkForwards. An empty text means no target, as in Microsoft's file.
func (d *decoder) forward(e *entity, n *node, target *string) {
	if *target = strings.TrimSpace(d.text(n, "")); *target != "" {
		e.forwards = append(e.forwards, forward{at: n, target: target})
	}
}

// checkForwards resolves the forward targets. An entity may name itself, and targets may form a cycle (DEC-29).
func (d *decoder) checkForwards() {
	for _, e := range d.entities {
		d.file = e.from
		for _, f := range e.forwards {
			if target := d.names[strings.ToLower(targetPath(*f.target))]; target != nil {
				*f.target = target.config.Path
				continue
			}
			cure := "add the entity or correct the name"
			if d.report.Count(Error) < maxFindings { // the report only counts the rest
				if guess := closest(targetPath(*f.target), d.paths()); guess != "" {
					cure = "did you mean " + guess + "?"
				}
			}
			d.fail(f.at, "found the unknown target "+strconv.Quote(clip(*f.target)), "a queue or topic of this file", cure)
		}
	}
}

// targetPath returns the path in a target, which may be an address (management-rest 6.2).
func targetPath(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		_, s, _ = strings.Cut(rest, "/")
	}
	return strings.Trim(s, "/")
}

// paths returns names to guess from, a limited number because closest compares with each.
func (d *decoder) paths() []string {
	var list []string
	for _, e := range d.entities {
		if len(list) < 200 && e.config.Path != "" {
			list = append(list, e.config.Path)
		}
	}
	return list
}
