package mgmt

import (
	"net/http"

	"minibus/internal/sas"
)

// authorize reports whether a request may do something that needs a claim on an entity; the error is a *problem to answer
// with. The path is the entity's own, without /messages, sub-queues and the like.
func (h *handler) authorize(_ *http.Request, _ sas.Claims, _ string) error { return nil }
