package config

import (
	"cmp"
	"errors"
	"strings"

	"minibus/emulator"
	"minibus/internal/jsontree"
)

// DefaultNamespace is the only name that Microsoft's emulator accepts, and Minibus's name without a file (DEC-11).
const DefaultNamespace = "sbemulatorns"

// Topology has a namespace and the entities of a configuration file.
type Topology struct {
	Namespace string                  // its name
	Entities  []emulator.EntityConfig // in file order, queues first

	// AuthorizationRules are the policies of the namespace, for --auth sas; none means the default one, or those that
	// it has.
	AuthorizationRules []emulator.AuthorizationRule

	Aliases []string // names of hosts that mean the namespace
	Port    int      // of its own; 0: none, or the one that it has

	// Others are the further namespaces of the file, in its order. They have no others.
	Others []*Topology
}

// All returns the namespace and the others.
func (t *Topology) All() []*Topology { return append([]*Topology{t}, t.Others...) }

// Parse reads the text of a Config.json. file is the name used in messages. The report is never nil; the topology is
// nil if and only if the report has errors.
func Parse(file string, data []byte, profile Profile) (*Topology, *Report) {
	return newDecoder(profile).assemble(Part{From: file, JSON: data})
}

// decoder turns nodes into a topology.
type decoder struct {
	*reader
	*space                   // that is being decoded
	spaces  []*space         // the first is the default one
	handles map[string]*node // aliases in lower case, and ports
}

func newDecoder(profile Profile) *decoder {
	r := &reader{report: &Report{}, profile: profile, limits: profile.table(), emulator: ProfileEmulator.table(),
		relaxed: ProfileRelaxed.table(), choose: "start with --limits relaxed"}
	first := newSpace(r, DefaultNamespace)
	return &decoder{reader: r, space: first, spaces: []*space{first}, handles: map[string]*node{}}
}

func (d *decoder) syntax(err error) {
	var s *jsontree.SyntaxError
	if !errors.As(err, &s) {
		d.report.add(Finding{Severity: Error, File: d.file, Found: err.Error()})
		return
	}
	if strings.HasSuffix(s.Path, "aryKey") { // PrimaryKey or SecondaryKey: don't show the value
		s.Text = "found no text in double quotes, which a key is"
	}
	d.report.add(Finding{Severity: Error, File: d.file, Line: s.Pos.Line, Column: s.Pos.Column, Path: s.Path,
		Found: s.Text, Fix: cmp.Or(s.Fix, "correct the JSON")})
}

// root decodes a document down to the namespace.
func (d *decoder) root(root *node) {
	if !d.object(root) {
		return
	}
	user := root.Get("UserConfig")
	if user == nil {
		d.fail(root, "found no UserConfig", "", "put everything in one object: "+
			`{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [], "Topics": []}]}}`)
		return
	}
	d.keys(root, []string{"UserConfig"})
	if !d.object(user) {
		return
	}
	d.keys(user, []string{"Namespaces", "Logging"})
	d.logging(user.Get("Logging"))
	namespaces := d.array(user.Get("Namespaces"))
	if len(namespaces) == 0 {
		d.warn(user, "found no namespace, so there are no entities", "add Namespaces with Queues or Topics")
	}
	d.namespaces(namespaces)
}

// logging checks the section that Microsoft's emulator requires. Minibus always logs to standard output and standard
// error.
func (d *decoder) logging(n *node) {
	if !d.object(n) {
		return
	}
	d.keys(n, []string{"Type"})
	t := n.Get("Type")
	for part := range strings.SplitSeq(d.text(t, "Console"), ",") {
		if part = strings.TrimSpace(part); !containsFold([]string{"File", "Console"}, part) {
			d.warn(t, "found the unknown logging type "+quote(part)+", it is ignored", "use Console, File or both")
		}
	}
}

// forward notes a target for checkForwards. An empty text means no target, as in Microsoft's file.
func (d *decoder) forward(e *entity, n *node, target *string) {
	if *target = strings.TrimSpace(d.text(n, "")); *target != "" {
		e.forwards = append(e.forwards, forward{at: n, target: target})
	}
}
