package sbtest

import (
	"slices"
	"sync"
	"time"

	"minibus/emulator"
)

// clocks are those of a server: one of its own, which all namespaces have that no test made, and one for each [Namespace].
type clocks struct {
	own *emulator.SystemClock

	mu       sync.Mutex
	advanced time.Duration // by Server.Advance, in all
	others   []*Namespace
}

// another returns a clock for a namespace. It shows the same time of day as the server's, but for what Advance has added to that.
func (c *clocks) another() *emulator.SystemClock {
	return &emulator.SystemClock{Wall: c.own.Wall, Recheck: c.own.Recheck}
}

// join makes Server.Advance count for a namespace. The time that it has added before passes in the namespace now.
func (c *clocks) join(n *Namespace) {
	c.mu.Lock()
	missed := c.advanced
	c.others = append(c.others, n)
	c.mu.Unlock()
	if missed > 0 {
		n.Advance(missed)
	}
}

func (c *clocks) leave(n *Namespace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others = slices.DeleteFunc(c.others, func(other *Namespace) bool { return other == n })
}

// advance notes that time passes, and returns the namespaces in which the caller has to let it pass. Nothing is locked meanwhile: other
// tests make and remove namespaces.
func (c *clocks) advance(d time.Duration) []*Namespace {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advanced += max(d, 0) // a clock does not go back
	return slices.Clone(c.others)
}
