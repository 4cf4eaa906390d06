package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"minibus/internal/printable"
)

// directory has the queues and topics of a namespace, and finds those that others forward to.
type directory struct {
	*reader
	list  []*entity          // in the order of the file
	names map[string]*entity // by lower-case path

	// existing returns a queue or topic that the namespace has already, in its spelling; "": there is none. Nil: only
	// those of the list count.
	existing func(path string) string
}

// register adds an entity; queues and topics share their names (management-rest 6.1).
func (d *directory) register(e *entity) {
	e.from = d.file
	d.list = append(d.list, e)
	if e.config.Path == "" {
		return // already reported
	}
	key := strings.ToLower(e.config.Path)
	if first := d.names[key]; first != nil {
		d.fail(e.node, fmt.Sprintf("found the name %s a second time (first %s)", quote(e.config.Path), d.lineOf(first)),
			"names of queues and topics that differ in more than case", "rename or remove one of the two")
		return
	}
	d.names[key] = e
}

// lineOf returns where an entity is in its file, for messages.
func (d *directory) lineOf(e *entity) string {
	line := fmt.Sprintf("on line %d", e.node.Pos.Line)
	switch {
	case e.node.Pos.Line == 0:
		return "in " + e.from
	case e.from != d.file:
		return "in " + e.from + " " + line
	}
	return line
}

// checkForwards resolves the forward targets. An entity may name itself, and targets may form a cycle (DEC-29).
func (s *space) checkForwards(elsewhere func(s *space, target string) (namespace string)) {
	d := &s.directory
	for _, e := range d.list {
		d.file = e.from
		for _, f := range e.forwards {
			if other := elsewhere(s, *f.target); other != "" {
				d.fail(f.at, "found the host of the namespace "+strconv.Quote(other)+" in "+quote(*f.target),
					"a queue or topic of the "+s.title(), "give the path alone")
				continue
			}
			if target := d.names[strings.ToLower(targetPath(*f.target))]; target != nil {
				*f.target = target.config.Path
				continue
			}
			allowed, fix := "a queue or topic of this file", "add the entity or correct the name"
			if d.existing != nil {
				if spelled := d.existing(targetPath(*f.target)); spelled != "" {
					*f.target = spelled
					continue
				}
				allowed, fix = "a queue or topic of the namespace", "create it first, or correct the name"
			}
			if d.report.Count(Error) < maxFindings { // the report only counts the rest
				if guess := printable.Closest(targetPath(*f.target), d.paths()); guess != "" {
					fix = "did you mean " + guess + "?"
				}
			}
			d.fail(f.at, "found the unknown target "+quote(*f.target), allowed, fix)
		}
	}
}

// title names the namespace in messages. One that is to be made may have no name yet.
func (s *space) title() string {
	if s.topology.Namespace == "" {
		return "same namespace"
	}
	return "namespace " + quote(s.topology.Namespace)
}

// targetPath returns the path in a target, which may be an address (management-rest 6.2).
func targetPath(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		_, s, _ = strings.Cut(rest, "/")
	}
	return strings.Trim(s, "/")
}

// targetHost returns the host in a target that is an address, without its port.
func targetHost(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "" // which is a path, or means none of the namespaces
	}
	return strings.TrimSuffix(u.Hostname(), ".")
}

// paths returns names to guess from, a limited number because printable.Closest compares with each.
func (d *directory) paths() []string {
	var list []string
	for _, e := range d.list {
		if len(list) < 200 && e.config.Path != "" {
			list = append(list, e.config.Path)
		}
	}
	return list
}
