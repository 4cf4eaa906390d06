package emulator

import (
	"cmp"
	"slices"
)

// lockAll locks everything that the commit will touch, in the order of the ids: the entities that the transaction works on,
// and with a topic all of its subscriptions, since it can't be known before which of them get copies.
func (t *Transaction) lockAll() []*Entity {
	for {
		qs := t.touched()
		for _, q := range qs {
			q.mu.Lock()
		}
		if !t.grown(qs) {
			return qs
		}
		unlockAll(qs)
	}
}

func unlockAll(qs []*Entity) {
	for _, q := range qs {
		q.mu.Unlock()
	}
}

// touched returns what is to be locked, as of now.
func (t *Transaction) touched() []*Entity {
	var qs []*Entity
	for _, w := range t.work {
		qs = append(qs, w.q)
		if w.via != nil {
			qs = append(qs, w.via)
		}
		if w.q.topic != nil && len(w.sends) > 0 {
			w.q.mu.Lock()
			for _, s := range w.q.topic.subs {
				qs = append(qs, s.Entity)
			}
			w.q.mu.Unlock()
		}
	}
	slices.SortFunc(qs, func(a, b *Entity) int { return cmp.Compare(a.id, b.id) })
	return slices.Compact(qs)
}

// grown reports whether a topic has got a subscription that is not among those that are locked.
func (t *Transaction) grown(locked []*Entity) bool {
	for _, w := range t.work {
		if w.q.topic == nil || len(w.sends) == 0 {
			continue
		}
		for _, s := range w.q.topic.subs {
			if !slices.Contains(locked, s.Entity) {
				return true
			}
		}
	}
	return false
}
