package emulator

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Faults has the faults of a namespace. Its mutex is a leaf.
type Faults struct {
	ns  *Namespace
	any atomic.Bool // one of them is active

	mu       sync.Mutex
	list     []*Fault // oldest first
	last     int64
	watchers map[*func(*Fault)]struct{}
}

// Faults returns the faults that tests have injected into the namespace.
func (ns *Namespace) Faults() *Faults { return &ns.faults }

// Inject adds a fault, which hits operations from then on. Errors: CodeArgument, CodeNotFound if the entity does not
// exist, and CodeQuotaExceeded if the namespace has [MaxFaults] that are active. Of those that are not, the oldest is
// forgotten.
func (t *Faults) Inject(o FaultOptions) (*Fault, error) {
	ns := t.ns
	f, err := newFault(ns, o)
	if err != nil {
		return nil, err
	}
	if f.until != 0 {
		f.timer = ns.clock.At(instant(f.until), func() { t.end(FaultOver, f) })
	}
	t.mu.Lock()
	if len(t.list) >= MaxFaults {
		i := slices.IndexFunc(t.list, func(f *Fault) bool { return f.state != FaultActive })
		if i < 0 {
			t.mu.Unlock()
			f.stop()
			return nil, errorf(CodeQuotaExceeded, "", "The namespace '%s' has %d active faults, the most that there "+
				"may be. Remove some.", ns.name, MaxFaults)
		}
		t.list = slices.Delete(t.list, i, i+1)
	}
	t.last++
	f.id = t.last
	t.list = append(t.list, f)
	t.updateAnyLocked()
	t.mu.Unlock()
	t.tell(f)
	return f, nil
}

// List returns the faults, the oldest first.
func (t *Faults) List() []*Fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

// Get returns one fault. It fails with CodeNotFound.
func (t *Faults) Get(id int64) (*Fault, error) {
	for _, f := range t.List() {
		if f.id == id {
			return f, nil
		}
	}
	return nil, errorf(CodeNotFound, "", "There is no fault %d in the namespace '%s'. A restart and a reset remove "+
		"all.", id, t.ns.name)
}

// Remove ends the fault. What it keeps back goes on. A second call does nothing.
func (f *Fault) Remove() { f.ns.faults.end(FaultRemoved, f) }

// RemoveAll ends all faults, and returns how many there were.
func (t *Faults) RemoveAll() int {
	list := t.List()
	t.end(FaultRemoved, list...)
	return len(list)
}

// end ends faults, and takes them out of the list if they are removed.
func (t *Faults) end(as FaultState, list ...*Fault) {
	t.mu.Lock()
	for _, f := range list {
		f.stop()
		if f.state == FaultActive || as == FaultRemoved {
			f.state = as
		}
	}
	if as == FaultRemoved {
		t.list = slices.DeleteFunc(t.list, func(f *Fault) bool { return f.state == FaultRemoved })
	}
	t.updateAnyLocked()
	t.mu.Unlock()
	t.tell(nil)
}

// stop stops the fault's timer.
func (f *Fault) stop() {
	if f.timer != nil {
		f.timer.Stop()
	}
}

func (t *Faults) updateAnyLocked() {
	t.any.Store(slices.ContainsFunc(t.list, func(f *Fault) bool { return f.state == FaultActive }))
}

// Watch calls notify with each fault that is injected, and with nil when faults are removed or over, until cancel is
// called. notify must not wait.
func (t *Faults) Watch(notify func(injected *Fault)) (cancel func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == nil {
		t.watchers = make(map[*func(*Fault)]struct{})
	}
	t.watchers[&notify] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, &notify)
	}
}

func (t *Faults) tell(injected *Fault) {
	t.mu.Lock()
	list := make([]func(*Fault), 0, len(t.watchers))
	for notify := range t.watchers {
		list = append(list, *notify)
	}
	t.mu.Unlock()
	for _, notify := range list {
		notify(injected)
	}
}

// Any reports whether a fault is active: a cheap question before [Faults.Hit].
func (t *Faults) Any() bool { return t.any.Load() }

// Hit returns the fault that hits an attempt, and counts it; nil: none. The caller carries out what the fault does. If
// several faults fit, the one that was injected first hits the attempt, and the others do not count it.
func (t *Faults) Hit(a *Attempt) *Fault {
	return t.hit(a, func(f *Fault) bool { return f.options.Kind != FaultStarve && f.options.Kind != FaultFailJournal })
}

// Concerns reports whether the fault may hit an attempt, without counting it.
func (f *Fault) Concerns(a *Attempt) bool {
	f.ns.faults.mu.Lock()
	defer f.ns.faults.mu.Unlock()
	return f.fitsLocked(a)
}

// TryHit is [Faults.Hit] by this fault alone, for faults that hit what is connected.
func (f *Fault) TryHit(a *Attempt) bool {
	return f.ns.faults.hit(a, func(one *Fault) bool { return one == f }) != nil
}

// Starves returns the id of the fault that starves a link; 0: none. The link counts as hit unless before is that id.
func (t *Faults) Starves(a *Attempt, before int64) int64 {
	if !t.Any() {
		return 0
	}
	t.mu.Lock()
	i := slices.IndexFunc(t.list, func(f *Fault) bool { return f.options.Kind == FaultStarve && f.fitsLocked(a) })
	if i < 0 {
		t.mu.Unlock()
		return 0
	}
	f := t.list[i]
	if f.id != before {
		f.countLocked()
	}
	t.mu.Unlock()
	if f.id != before {
		t.record(f, a)
	}
	return f.id
}

func (t *Faults) hit(a *Attempt, may func(*Fault) bool) *Fault {
	if !t.any.Load() {
		return nil
	}
	now := t.ns.Now()
	t.mu.Lock()
	var hit *Fault
	for _, f := range t.list {
		if may(f) && (f.until == 0 || now < f.until) && f.fitsLocked(a) && f.countLocked() {
			hit = f
			break
		}
	}
	if hit != nil && hit.state == FaultSpent {
		t.updateAnyLocked()
	}
	t.mu.Unlock()
	if hit != nil {
		t.record(hit, a)
	}
	return hit
}

// record writes into the history that a fault has hit an attempt: for each message whose lock the attempt names, or
// else once.
func (t *Faults) record(f *Fault, a *Attempt) {
	r := t.ns.common.record
	if r == nil {
		return
	}
	text := fmt.Sprintf("%s hit %s", f, a.Operation)
	if c := f.Condition(); c != "" {
		text += ": " + c
	}
	q := a.Entity
	if q == nil {
		q = &Entity{ns: t.ns, id: -t.ns.id} // stands for no entity
	}
	recorded := false
	if len(a.Tokens) > 0 {
		q.mu.Lock()
		for _, token := range a.Tokens {
			if e := q.locks.byToken[token]; e != nil {
				h := happenedTo(e, EventFault, a.Client)
				h.text = text
				r.add(q, t.ns.Now(), &h)
				recorded = true
			}
		}
		q.mu.Unlock()
	}
	if !recorded {
		r.add(q, t.ns.Now(), &happened{kind: EventFault, sub: a.Sub, client: a.Client, text: text})
	}
}
