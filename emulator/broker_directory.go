package emulator

import (
	"slices"
	"strings"
	"sync"
)

// directory finds namespaces. Its methods may be called from any goroutine.
type directory struct {
	mu    sync.RWMutex          // never held while waiting
	list  []*Namespace          // by name
	found map[handle]*Namespace // what is committed
	taken map[handle]*Namespace // that, and what is being written
	many  bool                  // there has been more than one namespace in this process

	ended map[handle]int64 // ports and aliases of deleted namespaces, until others have them, with the number of their end
	ends  []endedHandle    // the same in their order, and some that others have
	last  int64            // number of the last end
}

// mostEnded is how many ports and aliases of deleted namespaces are remembered: those that ended last.
const mostEnded = 10_000

// endedHandle is an element of directory.ends. It counts only if ended has its number.
type endedHandle struct {
	handle
	number int64
}

func newDirectory() directory {
	return directory{found: make(map[handle]*Namespace), taken: make(map[handle]*Namespace), ended: make(map[handle]int64)}
}

// end remembers that a namespace which had a handle is deleted.
func (d *directory) end(h handle) {
	d.last++
	d.ended[h] = d.last
	d.ends = append(d.ends, endedHandle{h, d.last})
	if len(d.ends) <= mostEnded {
		return
	}
	if first := d.ends[0]; d.ended[first.handle] == first.number {
		delete(d.ended, first.handle)
	}
	d.ends = d.ends[1:]
}

// claim keeps handles for a namespace, until replace or release. It fails, with CodeAlreadyExists, if another one has one of them.
func (d *directory) claim(ns *Namespace, handles []handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range handles {
		if other := d.taken[h]; other != nil && other != ns {
			return errorf(CodeAlreadyExists, "", "The namespace '%s' can't have the %v: the namespace '%s' has it. Choose another one.", ns.name, h, other.name)
		}
	}
	for _, h := range handles {
		d.taken[h] = ns
	}
	return nil
}

// release gives up a claim.
func (d *directory) release(ns *Namespace, handles []handle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range handles {
		if d.found[h] != ns {
			delete(d.taken, h)
		}
	}
}

// replace lets a namespace be found by handles that it has claimed, and by no others. Without any it is no more.
func (d *directory) replace(ns *Namespace, was, will []handle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range was {
		delete(d.found, h)
		delete(d.taken, h)
		if len(will) == 0 && h.name == "" {
			d.end(h)
		}
	}
	for _, h := range will {
		d.found[h], d.taken[h] = ns, ns
		delete(d.ended, h)
	}
	i, listed := slices.BinarySearchFunc(d.list, ns.name, func(x *Namespace, name string) int {
		return strings.Compare(strings.ToLower(x.name), strings.ToLower(name))
	})
	switch {
	case len(will) == 0:
		d.list = slices.Delete(d.list, i, i+1)
	case !listed:
		d.list = slices.Insert(d.list, i, ns)
		d.many = d.many || len(d.list) > 1
	}
}

func (d *directory) find(h handle) *Namespace {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.found[h]
}

// hasEnded reports whether a port or an alias was that of a namespace which is deleted.
func (d *directory) hasEnded(h handle) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.ended[h] != 0
}

// all returns all namespaces by name.
func (d *directory) all() []*Namespace {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.list)
}

// alone reports whether there has been only one namespace. After the deletion of all others it is still not alone: their clients may come
// back, and mean none that is left.
func (d *directory) alone() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return !d.many
}
