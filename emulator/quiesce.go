package emulator

import "sync"

// Quiesce waits until nothing is under way that the broker does by itself: every change is committed, every message
// that can be forwarded is where it goes. It must not be called on the journal's goroutine.
func (ns *Namespace) Quiesce() {
	for {
		before := ns.appended.Load()
		_ = ns.flush() // a failed change is told to whoever asked for it
		ns.forwarding.wait()
		ns.reading.wait()
		if ns.appended.Load() == before {
			return
		}
	}
}

// append hands a change to the journal.
func (ns *Namespace) append(c *Change) {
	ns.appended.Add(1)
	ns.journal.Append(c)
}

// await starts an operation and waits until it is told to have ended.
func await(start func(done Completion)) error {
	done := make(chan error, 1)
	start(CompletionFunc(func(err error) { done <- err }))
	return <-done
}

// running counts goroutines of one kind, which may start while somebody waits for their end.
type running struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n becomes zero; nil while nobody waits
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
