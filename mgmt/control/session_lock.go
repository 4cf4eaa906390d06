package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"minibus/mgmt/control/api"
	"minibus/mgmt/control/receive"
)

// sessionLocks registers the operations on locks of sessions that a receive gave out.
func (h *handler) sessionLocks() {
	const one = "namespaces/{namespace}/entities/{entity}/sessions/{session}/"
	tags := []string{"sessions"}
	register(h, huma.Operation{OperationID: "renewSession", Method: http.MethodPost, Path: one + "renew", Tags: tags,
		Summary: "Renews the lock of a session that a receive has locked",
	}, h.renewSession, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
	register(h, huma.Operation{OperationID: "releaseSession", Method: http.MethodPost, Path: one + "release", Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary:     "Ends the lock of a session that a receive has locked",
		Description: "The session is free at once. What was received and not settled is available again, as if it had not been delivered.",
	}, h.releaseSession, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
}

// OfHolder is the argument of operations on the lock of a session.
type OfHolder struct {
	AtSession
	Body struct {
		Token string `json:"token" doc:"As receive gave it"`
	}
}

// holder returns what holds the session.
func (in *OfHolder) holder(h *handler) (*receive.Waiter, error) {
	e, id, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return h.held.Find(e, id, in.Body.Token)
}

func (h *handler) renewSession(_ context.Context, in *OfHolder) (*struct{ Body api.SessionLock }, error) {
	w, err := in.holder(h)
	if err != nil {
		return nil, err
	}
	until, err := w.Renew()
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.SessionLock }{api.SessionLock{LockedUntil: instant(until)}}, nil
}

func (h *handler) releaseSession(_ context.Context, in *OfHolder) (*struct{}, error) {
	w, err := in.holder(h)
	if err != nil {
		return nil, err
	}
	w.Release()
	return nil, nil
}
