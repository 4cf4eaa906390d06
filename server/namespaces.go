package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"minibus/config"
	"minibus/emulator"
	"minibus/mgmt/control"
)

// CreateNamespace makes a namespace with entities while the server runs. Without a name it makes one up. It gives
// the namespace a port of its own if there is a range of them, and listens on it. If it fails there is no such
// namespace.
func (a *Server) CreateNamespace(name string, o emulator.NamespaceOptions,
	entities ...emulator.EntityConfig) (*emulator.Namespace, error) {
	if name == "" {
		name = "ns-" + strings.ToLower(rand.Text()[:12])
	}
	if err := a.broker.Check(name, o); err != nil {
		return nil, err // before anything listens for it
	}
	b, err := a.namespacePorts.listen(name, o.Port)
	if err != nil {
		return nil, err
	}
	o.Port, o.Entities = b.port, entities
	ns, err := a.broker.Create(name, o)
	if err != nil {
		a.namespacePorts.unlisten(b.port)
		var refused *emulator.Error
		if errors.As(err, &refused) && refused.Entity != "" {
			err = entityError(err)
		}
		return nil, err
	}
	a.namespacePorts.serve(b)
	return ns, nil
}

// ReadEntities implements [control.Server]. Warnings go to the log.
func (a *Server) ReadEntities(from string, text []byte,
	limits *emulator.Profile) (entities []emulator.EntityConfig, wrong []string) {
	profile := a.config.Settings.Limits
	if limits != nil {
		name, _ := limits.MarshalText() // they come from such a text
		profile = config.Profile(name)
	}
	entities, report := config.ParseEntities(from, text, profile, a.namedBy)
	return entities, a.findings(report)
}

// ReadFile implements [control.Server]. Warnings go to the log.
func (a *Server) ReadFile(from string, text []byte, name string,
	limits *emulator.Profile) (*control.NamespaceFile, []string) {
	isFile, err := config.IsFile(from, text)
	switch {
	case err != nil:
		return nil, []string{err.Error()}
	case !isFile:
		return nil, nil
	}
	profile := a.config.Settings.Limits.Broker()
	if limits != nil {
		profile = *limits
	}
	t, report := config.Live{Name: name, Profile: profile, Elsewhere: a.namedBy}.ParseConfiguration(from, text)
	if wrong := a.findings(report); t == nil || len(wrong) > 0 {
		return nil, wrong
	}
	o := emulator.NamespaceOptions{Aliases: t.Aliases, Port: t.Port, Policies: t.AuthorizationRules}
	return &control.NamespaceFile{Options: o, Entities: t.Entities}, nil
}

// namedBy returns the name of the namespace that a host names, by an alias or by its first label; "" if it names none.
func (a *Server) namedBy(host string) string {
	label, _, qualified := strings.Cut(host, ".")
	for _, ns := range a.broker.Namespaces() {
		isHost := func(alias string) bool { return strings.EqualFold(alias, host) }
		if slices.ContainsFunc(ns.Options().Aliases, isHost) || qualified && strings.EqualFold(ns.Name(), label) {
			return ns.Name()
		}
	}
	return ""
}

// DeleteNamespace removes a namespace with everything in it, and no longer listens on its port.
func (a *Server) DeleteNamespace(name string) error {
	ns, err := a.broker.Namespace(name)
	if err != nil {
		return err
	}
	if err := a.broker.Delete(name); err != nil {
		return err
	}
	a.namespacePorts.unlisten(ns.Options().Port) // until then Find refuses what comes there
	return nil
}

// topologist makes namespaces what a configuration says.
type topologist struct {
	broker *emulator.Broker
	log    *slog.Logger
}

// ensure makes and updates the namespaces of the configuration, and deletes none (DEC-7). A configuration of which
// anything is refused changes nothing.
func (n *topologist) ensure(t *config.Topology) error {
	if err := n.claim(t.All()); err != nil {
		return err
	}
	made, err := n.create(t.Others)
	if err == nil {
		err = n.check(t.All())
	}
	if err != nil {
		for _, ns := range made {
			_ = n.broker.Delete(ns.Name()) // it is empty; the first error matters
		}
		return err
	}
	for i, one := range t.All() {
		ns, err := n.find(i, one)
		if err == nil {
			err = n.update(ns, one, slices.Contains(made, ns))
		}
		if err != nil {
			return fmt.Errorf("configure the namespace %s: %w", one.Namespace, err)
		}
		if err := ns.Configuration().Ensure(one.Entities); err != nil {
			return entityError(err)
		}
	}
	return nil
}

// claim fails if a namespace of the configuration is to have an alias or a port that another one has now.
func (n *topologist) claim(list []*config.Topology) error {
	for _, ns := range n.broker.Namespaces() {
		for i, one := range list {
			if own, err := n.find(i, one); err == nil && own == ns {
				continue
			}
			o := ns.Options()
			for _, alias := range one.Aliases {
				if slices.ContainsFunc(o.Aliases, func(other string) bool { return strings.EqualFold(other, alias) }) {
					return fmt.Errorf("configure the namespace %s: the namespace %s has the alias %s; delete that "+
						`namespace, or list it with "Aliases": []`, one.Namespace, ns.Name(), alias)
				}
			}
			if one.Port != 0 && one.Port == o.Port {
				return fmt.Errorf("configure the namespace %s: the namespace %s has the port %d; choose another one",
					one.Namespace, ns.Name(), one.Port)
			}
		}
	}
	return nil
}

// create makes the namespaces that are missing, still empty.
func (n *topologist) create(list []*config.Topology) (made []*emulator.Namespace, err error) {
	for _, one := range list {
		if _, err := n.broker.Namespace(one.Namespace); err == nil {
			continue
		}
		ns, err := n.broker.Create(one.Namespace,
			emulator.NamespaceOptions{Aliases: one.Aliases, Port: one.Port, Policies: one.AuthorizationRules})
		if err != nil {
			return made, fmt.Errorf("create the namespace %s: %w", one.Namespace, err)
		}
		made = append(made, ns)
	}
	return made, nil
}

// find returns a namespace of the configuration, of which the first is the default one, whatever its name.
func (n *topologist) find(i int, t *config.Topology) (*emulator.Namespace, error) {
	if i == 0 {
		return n.broker.Default(), nil
	}
	return n.broker.Namespace(t.Namespace)
}

// check fails if a namespace refuses its entities.
func (n *topologist) check(list []*config.Topology) error {
	for i, one := range list {
		ns, err := n.find(i, one)
		if err == nil {
			err = ns.Configuration().Check(one.Entities)
		}
		if err != nil {
			return entityError(err)
		}
	}
	return nil
}

// update gives a namespace the settings that the configuration names, and logs each that differs. For the policies of
// the default one see settlePolicies.
func (n *topologist) update(ns *emulator.Namespace, t *config.Topology, isNew bool) error {
	if isNew {
		n.log.Info("namespace created", "namespace", ns.Name())
		return nil
	}
	o := ns.Options()
	var changed []string
	if t.Aliases != nil && !slices.Equal(t.Aliases, o.Aliases) {
		o.Aliases, changed = t.Aliases, append(changed, "Aliases")
	}
	if t.Port != 0 && t.Port != o.Port {
		o.Port, changed = t.Port, append(changed, "Port")
	}
	if len(t.AuthorizationRules) > 0 && ns != n.broker.Default() &&
		!slices.EqualFunc(t.AuthorizationRules, o.Policies, sameRule) {
		o.Policies, changed = t.AuthorizationRules, append(changed, "AuthorizationRules")
	}
	if changed == nil {
		return nil
	}
	if err := n.broker.Update(ns.Name(), o); err != nil {
		return err
	}
	for _, name := range changed {
		n.log.Info("setting of a namespace changed", "namespace", ns.Name(), "setting", name)
	}
	return nil
}

func sameRule(a, b emulator.AuthorizationRule) bool {
	return a.KeyName == b.KeyName && a.PrimaryKey == b.PrimaryKey && a.SecondaryKey == b.SecondaryKey &&
		slices.Equal(a.Rights, b.Rights)
}
