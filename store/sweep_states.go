package store

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// removeStates removes states of sessions, entity by entity.
func (s *sweep) removeStates() (end bool, err error) {
	return s.eachEntity(func(id int64) (bool, error) {
		if err := s.w.sweeper.states.run(id, sweepStates); err != nil {
			return false, fmt.Errorf("remove the states of sessions of %s: %w", s.dead[id].path, err)
		}
		return s.w.conn.changes() < sweepStates, nil
	})
}

func (s *sweep) removeHistory() (end bool, err error) {
	return s.eachEntity(func(id int64) (bool, error) { return s.w.duplicates.pruneRows(id, math.MaxInt64) })
}

// eachEntity runs some on the deleted entities behind the cursor, in order, until one has more left or the step is full.
// The cursor is the id of the last finished entity.
func (s *sweep) eachEntity(some func(id int64) (end bool, err error)) (end bool, err error) {
	n := 0
	for _, id := range slices.Sorted(maps.Keys(s.dead)) {
		if id <= s.cursor {
			continue
		}
		if n++; n > sweepEntities {
			return false, nil
		}
		if through, err := some(id); err != nil || !through {
			return false, err
		}
		s.cursor = id
	}
	return true, nil
}

func (s *sweep) removeTombstones() (end bool, err error) {
	for _, id := range slices.Sorted(maps.Keys(s.dead)) {
		for _, st := range []*stmt{s.w.sweeper.counters, s.w.sweeper.bury} {
			if err := st.run(id); err != nil {
				return false, fmt.Errorf("remove the tombstone of %s: %w", s.dead[id].path, err)
			}
		}
	}
	return true, nil
}
