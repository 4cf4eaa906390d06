package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseConfiguration reads what a namespace is to be compared with: a whole Config.json, or an object with Queues and Topics. Of a file with several
// namespaces it takes the one of this name, for the default namespace the first. It returns nil if the report has errors.
func (l Live) ParseConfiguration(from string, text []byte) (*Topology, *Report) {
	root, err := readJSON(text)
	if err != nil || root.get("UserConfig") == nil {
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
	all := t.All()
	if i := slices.IndexFunc(all, func(one *Topology) bool { return strings.EqualFold(one.Namespace, l.Name) }); i >= 0 {
		return all[i], report
	}
	if l.IsDefault {
		return t, report
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = one.Namespace
	}
	d.fail(root.get("UserConfig").get("Namespaces"), "found no namespace "+strconv.Quote(clip(l.Name)), strings.Join(names, ", "), "name one of them, or leave the others out")
	report.sort()
	return nil, report
}

// IsFile reports whether a text is a whole Config.json, and not the description of a single namespace. It is an error if it has more
// beside UserConfig.
func IsFile(from string, text []byte) (bool, error) {
	root, err := readJSON(text)
	if err != nil || root.get("UserConfig") == nil {
		return false, nil // the reader of the other form says what is wrong
	}
	for _, m := range root.members {
		if !strings.EqualFold(m.key, "UserConfig") {
			return false, fmt.Errorf("%s: found %q beside UserConfig; a Config.json has nothing else", from, clip(m.key))
		}
	}
	return true, nil
}

// OnlyAtTheStart returns a note on each setting of the namespace itself, which counts when Minibus starts with the file, and not when the file is applied.
func OnlyAtTheStart(t *Topology) (notes []string) {
	for _, x := range []struct {
		name string
		set  bool
	}{{"AuthorizationRules", len(t.AuthorizationRules) > 0}, {"Aliases", t.Aliases != nil}, {"Port", t.Port != 0}} {
		if x.set {
			notes = append(notes, x.name+" of the namespace counts when Minibus starts with the file; it is not compared and not applied.")
		}
	}
	return notes
}
