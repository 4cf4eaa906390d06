package control

import (
	"context"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// Resources say what Resource Manager knows.
type Resources interface {
	// Resource returns what is known of a namespace. It fails with CodeNotFound where there is no Resource Manager.
	Resource(ns *emulator.Namespace) (*api.Resource, error)
}

// resources registers the operation on what Resource Manager knows.
func (h *handler) resources() {
	register(h, "getResource", "GET namespaces/{namespace}/resource", tagged("namespaces"), h.getResource, 200, 404)
}

func (h *handler) getResource(_ context.Context, in *InNamespace) (*struct{ Body *api.Resource }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	r, err := h.server.Resource(ns)
	return &struct{ Body *api.Resource }{r}, err
}
