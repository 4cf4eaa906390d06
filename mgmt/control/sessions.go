package control

import (
	"cmp"
	"context"
	"net/http"
	"time"
	"unicode/utf8"

	"minibus/emulator"
	"minibus/mgmt/control/api"
	"minibus/mgmt/control/receive"
)

// AtSession is an argument of operations on one session.
type AtSession struct {
	AtEntity
	Session string `path:"session" doc:"The id, percent-encoded. $empty means the session whose id is the empty text"`
}

// find returns the entity and the session's id.
func (in *AtSession) find(h *handler) (*emulator.Entity, string, error) {
	e, sub, err := in.AtEntity.find(h)
	if err == nil && sub != emulator.Main {
		const text = "A dead-letter queue has no sessions."
		err = &emulator.Error{Code: emulator.CodeNotAllowed, Entity: e.Path(), Text: text}
	}
	if in.Session == emptySession {
		return e, "", err
	}
	return e, in.Session, err
}

// sessions registers the operations on sessions.
func (h *handler) sessions() {
	const all, one = oneEntity + "/sessions", oneEntity + "/sessions/{session}"
	register(h, "listSessions", "GET "+all, tagged("sessions"), h.listSessions, 200, 400, 404, 409)
	register(h, "getSession", "GET "+one, tagged("sessions"), h.getSession, 200, 404, 409)
	register(h, "getSessionState", "GET "+one+"/state", tagged("sessions"), h.getSessionState, 200, 404, 409)
	register(h, "setSessionState", "PUT "+one+"/state", tagged("sessions"), h.setSessionState, 204, 400, 404, 409, 413)
	register(h, "clearSessionState", "DELETE "+one+"/state", tagged("sessions"), h.clearSessionState, 204, 404, 409)
	register(h, "breakSession", "POST "+one+"/break", tagged("sessions"), h.breakSession, 204, 404, 409)
}

func (h *handler) listSessions(_ context.Context, in *struct {
	AtEntity
	Paged
}) (*struct{ Body api.Page[api.Session] }, error) {
	at := AtSession{AtEntity: in.AtEntity}
	e, _, err := at.find(h)
	if err != nil {
		return nil, err
	}
	after, first := in.Cursor, in.Cursor == ""
	if after == emptySession {
		after = ""
	}
	list, more, err := e.Sessions().List(after, first, in.Limit)
	if err != nil {
		return nil, err
	}
	next := ""
	if more {
		next = cmp.Or(list[len(list)-1].ID, emptySession)
	}
	return pageOf(list, next, shownSession), nil
}

// emptySession stands for the session whose id is the empty text.
const emptySession = "$empty"

func shownSession(x emulator.SessionInfo) api.Session {
	s := api.Session{ID: x.ID, Active: x.Active, Locked: x.Locked, Deferred: x.Deferred, Scheduled: x.Scheduled}
	at := func(ms int64) *time.Time {
		t := instant(ms)
		return &t
	}
	if x.Held {
		s.Holder, s.LockedUntil = &x.Holder, at(x.Until)
	}
	if x.HasState {
		s.StateBytes, s.StateUpdated = &x.State, at(x.Updated)
	}
	return s
}

func (h *handler) getSession(_ context.Context, in *AtSession) (*struct{ Body api.Session }, error) {
	e, id, err := in.find(h)
	if err != nil {
		return nil, err
	}
	x, err := e.Sessions().Get(id)
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Session }{shownSession(x)}, nil
}

func (h *handler) getSessionState(ctx context.Context, in *AtSession) (*struct{ Body api.SessionState }, error) {
	e, id, err := in.find(h)
	if err != nil {
		return nil, err
	}
	done, err := h.take(ctx, 3*e.Sessions().StateSize(id)) // as it is read, as text, and as JSON
	if err != nil {
		return nil, err
	}
	defer done()
	state, err := e.Sessions().State(id)
	if err != nil {
		return nil, err
	}
	if state == nil {
		return nil, newError(http.StatusNotFound, nil, "The session '%s' of '%s' has no state.", id, e.Path())
	}
	if text := string(state); utf8.Valid(state) {
		return &struct{ Body api.SessionState }{api.SessionState{Text: &text}}, nil
	}
	return &struct{ Body api.SessionState }{api.SessionState{Base64: state}}, nil
}

func (h *handler) setSessionState(_ context.Context, in *struct {
	AtSession
	Body api.SessionState
}) (*struct{}, error) {
	e, id, err := in.find(h)
	if err != nil {
		return nil, err
	}
	state := in.Body.Base64
	if in.Body.Text != nil {
		state = []byte(*in.Body.Text)
	}
	if len(state) == 0 || in.Body.Text != nil && in.Body.Base64 != nil {
		return nil, badRequest("Give the state as text or as base64. DELETE clears it.")
	}
	done := make(completion, 1)
	return nil, done.wait(e.Sessions().SetState(id, state, done))
}

func (h *handler) clearSessionState(_ context.Context, in *AtSession) (*struct{}, error) {
	e, id, err := in.find(h)
	if err != nil {
		return nil, err
	}
	done := make(completion, 1)
	return nil, done.wait(e.Sessions().SetState(id, nil, done))
}

func (h *handler) breakSession(_ context.Context, in *AtSession) (*struct{}, error) {
	e, id, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, e.Sessions().Break(id, in.client)
}

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
