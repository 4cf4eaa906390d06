package store

// removeCopies removes the copies of deleted entities that share rows with copies of others.
func (s *sweep) removeCopies() (end bool, err error) {
	type taken struct{ row, body, there, dead int64 }
	var list []taken
	n := 0
	st := s.w.sweeper.published
	st.bindInts(s.cursor, s.last, sweepCopies)
	err = st.each(func(st *stmt) error {
		n++
		x := taken{row: st.columnInt(0), body: st.columnInt(1), there: st.columnInt(2)}
		s.cursor = x.row
		err := eachCopy(st.columnView(3), uint64(x.there), x.row, func(i int, entity, _ int64) error {
			if s.dead[s.first-1+entity] != nil {
				x.dead |= 1 << i
			}
			return nil
		})
		if x.dead != 0 {
			list = append(list, x)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	for _, x := range list {
		s.w.published.take(copyPlace{row: x.row, there: x.there, bit: x.dead})
		if !s.thorough {
			s.candidates = append(s.candidates, x.body)
		}
	}
	return n < sweepCopies || s.cursor >= s.limit, nil
}
