package control

import (
	"context"

	"minibus/emulator"
)

// State brings namespaces back to what they were.
type State interface {
	// ResetNamespace makes a namespace what it was at the start: that of its configuration, or else what it was
	// created with.
	ResetNamespace(ns *emulator.Namespace) error
}

// state registers the operations on the state of a namespace as a whole.
func (h *handler) state() {
	register(h, "resetNamespace", "POST namespaces/{namespace}/reset", tagged("state"), h.resetNamespace, 204, 404)
}

func (h *handler) resetNamespace(_ context.Context, in *InNamespace) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.ResetNamespace(ns)
}
