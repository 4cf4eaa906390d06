package store

import "sync/atomic"

// company estimates whether several connections commit at a time. Then the writer's goroutine commits for all, and lets them append first: a commit costs about as
// much for ten changes as for one. A client that is alone commits itself, which saves two wake-ups (see [Store.Release]).
type company struct{ score atomic.Int32 }

const (
	fullCompany = 32
	someCompany = 8 // from here on the writer's goroutine commits
	seenCompany = 1 // points for two that were at it at the same time
	joined      = 3 // changes of one round that show that there is company
)

// is reports whether there is company.
func (c *company) is() bool { return c.score.Load() >= someCompany }

// seen notes that two were at it at the same time.
func (c *company) seen() { c.score.Store(min(c.score.Load()+seenCompany, fullCompany)) }

// committed notes a round with that many changes. Points that get lost between two goroutines do not matter.
func (c *company) committed(changes int) {
	switch score := c.score.Load(); {
	case changes >= joined:
		c.score.Store(fullCompany)
	case score > 0:
		c.score.Store(score - 1)
	}
}
