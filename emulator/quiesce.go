package emulator

import "sync"

// Quiesce waits until nothing is under way that the broker does by itself: every change is committed, every message
// that can be forwarded is where it goes. It does not wait for clients, who may go on. It must not be called on the
// journal's goroutine.
func (ns *Namespace) Quiesce() {
	for range quiesceRounds {
		before := ns.ownActions.Load()
		_ = ns.flush() // the caller that asked for a change learns of its failure
		ns.background.wait()
		ns.dueReads.wait()
		if ns.ownActions.Load() == before {
			return
		}
	}
}

// quiesceRounds is more than what a message sets going takes, which goes from entity to entity maxTransfers times at
// most. It bounds the time where clients always send what is to be forwarded.
const quiesceRounds = 4 * maxTransfers

// await starts an operation and waits until it is told to have ended.
func await(start func(done Completion)) error {
	done := make(chan error, 1)
	start(CompletionFunc(func(err error) { done <- err }))
	return <-done
}

// running counts goroutines of one kind, which may start while another goroutine waits for their end.
type running struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n becomes zero; nil while no goroutine waits
}

func (r *running) add() {
	r.mu.Lock()
	r.n++
	r.mu.Unlock()
}

func (r *running) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n--; r.n == 0 && r.none != nil {
		close(r.none)
		r.none = nil
	}
}

// wait returns once none is running.
func (r *running) wait() {
	r.mu.Lock()
	if r.n == 0 {
		r.mu.Unlock()
		return
	}
	if r.none == nil {
		r.none = make(chan struct{})
	}
	none := r.none
	r.mu.Unlock()
	<-none
}
