package emulator

import "sync"

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
