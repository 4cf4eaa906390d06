package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

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
	register(h, huma.Operation{
		OperationID: "resetNamespace", Method: http.MethodPost, Path: "namespaces/{namespace}/reset", Tags: []string{"state"}, DefaultStatus: http.StatusNoContent,
		Summary: "Makes a namespace what its configuration says, and empty",
		Description: "Afterwards it has the entities of Config.json, or those with which it was created, and no others. All are new: no messages, no history of ids, sequence numbers from 1. " +
			"Its clock shows the machine's time. Its keys, port and aliases stay. Connections stay open: links are detached, and clients attach them again by themselves.",
	}, h.resetNamespace, http.StatusNotFound)
}

func (h *handler) resetNamespace(_ context.Context, in *InNamespace) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.ResetNamespace(ns)
}
