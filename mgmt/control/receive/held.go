package receive

import (
	"sync"

	"minibus/emulator"
)

// Held has the sessions that stay locked after a request was answered, by the tokens that the clients got. A session
// leaves it when its lock ends. mu is a leaf lock.
type Held struct {
	mu      sync.Mutex
	waiters map[string]*Waiter
}

// keep adds a waiter, unless its lock has ended.
func (h *Held) keep(w *Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.session.lost {
		return
	}
	if h.waiters == nil {
		h.waiters = make(map[string]*Waiter)
	}
	w.session.busy = false
	h.waiters[w.session.token] = w
}

// drop notes that a waiter's lock has ended.
func (h *Held) drop(w *Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.session.lost = true
	delete(h.waiters, w.session.token)
}

// Find returns the waiter that holds the session of an entity with a token. The error is CodeSessionLockLost without
// one.
func (h *Held) Find(e *emulator.Entity, id, token string) (*Waiter, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.find(e, id, token)
}

func (h *Held) find(e *emulator.Entity, id, token string) (*Waiter, error) {
	w := h.waiters[token]
	if w == nil || w.entity != e || !emulator.SameSession(w.session.ID, id) {
		return nil, emulator.SessionLockLost(e.Path())
	}
	return w, nil
}

// Resume is Find for a request that receives. Only one can at a time: the error is CodeSessionLocked if there is
// another.
func (h *Held) Resume(e *emulator.Entity, id, token string) (*Waiter, error) {
	h.mu.Lock()
	w, err := h.find(e, id, token)
	if err == nil && w.session.busy {
		text := "Another request is receiving from the session '" + id + "'."
		err = &emulator.Error{Code: emulator.CodeSessionLocked, Entity: e.Path(), Text: text}
	}
	if err != nil {
		h.mu.Unlock()
		return nil, err
	}
	w.session.busy = true
	h.mu.Unlock()
	w.watch()
	return w, nil
}
