package control

import (
	"context"

	"minibus/mgmt/control/api"
	"minibus/mgmt/control/receive"
)

// sessionLocks registers the operations on locks of sessions that a receive gave out.
func (h *handler) sessionLocks() {
	const one = oneEntity + "/sessions/{session}/"
	register(h, "renewSession", "POST "+one+"renew", tagged("sessions"), h.renewSession, 200, 400, 404, 409)
	register(h, "releaseSession", "POST "+one+"release", tagged("sessions"), h.releaseSession, 204, 400, 404, 409)
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
