package server

import (
	"minibus/emulator"
)

// ResetNamespace implements [control.State]. What a namespace is reset to is what the configuration has of it, or
// else what it was created with.
func (a *Server) ResetNamespace(ns *emulator.Namespace) error {
	if err := ns.Reset(a.initialEntities(ns)); err != nil {
		return err
	}
	a.log.Info("namespace reset", "namespace", ns.Name())
	return nil
}

// initialEntities returns those that a namespace had at the start.
func (a *Server) initialEntities(ns *emulator.Namespace) []emulator.EntityConfig {
	n := topologist{broker: a.broker, log: a.log}
	for i, one := range a.config.Topology.All() {
		if own, err := n.find(i, one); err == nil && own == ns {
			return one.Entities
		}
	}
	return ns.Options().Entities
}
