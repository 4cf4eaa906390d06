package store

import (
	"bytes"
	"errors"
	"testing"

	"minibus/emulator"
)

// TestBodiesHaveMemoryOfTheirOwn: no two answers share memory, not even for the same body.
func TestBodiesHaveMemoryOfTheirOwn(t *testing.T) {
	s := newShelf(t, false)
	s.putRange(1, 20)
	reads, err := s.read([]int64{1, 2, 3, 3, 4}, []int64{3})
	if err != nil {
		t.Fatal(err)
	}
	clear(reads[0].Bodies[2][:cap(reads[0].Bodies[2])])
	for i, b := range [][]byte{reads[0].Bodies[1], reads[0].Bodies[3], reads[0].Bodies[4], reads[1].Bodies[0]} {
		if want := s.bodies[[]int64{2, 3, 4, 3}[i]]; !bytes.Equal(b, want) {
			t.Errorf("body is %v, want %v", b, want)
		}
	}
}

// TestOldBodiesAreForgotten when a read is used again.
func TestOldBodiesAreForgotten(t *testing.T) {
	s := newShelf(t, false)
	s.put(1, 10)
	drain(s.Store)
	done := make(chan error, 1)
	r := &emulator.BodyRead{
		IDs: []int64{3, 1, 2}, Bodies: [][]byte{{3}, {1}, {2}},
		Done: emulator.CompletionFunc(func(err error) { done <- err }),
	}
	s.ReadBodies(r)
	if err := <-done; err != nil || r.Bodies[0] != nil || r.Bodies[2] != nil || !bytes.Equal(r.Bodies[1], s.bodies[1]) {
		t.Errorf("bodies are %v (%v), want the second only", r.Bodies, err)
	}
}

// TestReadSeesWhatWasCommittedSince: no statement of an earlier read, which may stop in the middle of its rows, keeps
// an old view of the database.
func TestReadSeesWhatWasCommittedSince(t *testing.T) {
	eachShelf(t, func(t *testing.T, s shelf) {
		s.putRange(1, 100)
		for i, ids := range [][]int64{{7}, {10, 11, 12}, {20, 23, 26}, {20, 30, 40}, {1}} {
			s.check(t, ids, []int64{200 + int64(i)})
			s.put(200+int64(i), 10)
			s.check(t, ids, []int64{200 + int64(i)})
		}
	})
}

// TestFailedReadFailsItsRound; later reads succeed.
func TestFailedReadFailsItsRound(t *testing.T) {
	cases := map[string]struct{ damage, repair string }{
		"the table is missing": {"ALTER TABLE body RENAME TO elsewhere", "ALTER TABLE elsewhere RENAME TO body"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			eachShelf(t, func(t *testing.T, s shelf) {
				s.putRange(1, 100)
				s.split(t, 15)
				for i, ids := range [][]int64{{10, 11, 12, 13, 14, 15, 16, 17, 18}, {9, 12, 15, 18}, {15}} {
					s.sql(t, c.damage)
					reads, err := s.read(ids, []int64{15}, ids)
					var de *emulator.Error
					if !errors.As(err, &de) || de.Code != emulator.CodeInternal {
						t.Errorf("error is %v, want an internal one (%d)", err, len(reads))
					}
					s.sql(t, c.repair)
					s.put(200+int64(i), 10)
					s.check(t, ids, []int64{200 + int64(i)})
				}
			})
		})
	}
}

// TestGapsAreGivenUpWhenTheyAreFull: an empty gap costs nothing; after a gap full of strays the reader tries no gaps
// for a while.
func TestGapsAreGivenUpWhenTheyAreFull(t *testing.T) {
	s := newShelf(t, false)
	s.putRange(1, 300)
	for id := int64(1000); id < 1300; id += 5 {
		s.put(id, 100)
	}
	s.put(2000, 10)
	s.put(2001, maxStray+1)
	s.put(2002, 10)
	every := func(from, step int64) (ids []int64) {
		for i := range int64(30) {
			ids = append(ids, from+i*step)
		}
		return ids
	}
	for name, c := range map[string]struct {
		ids    []int64
		giveUp bool
	}{
		"no bodies":   {every(1000, 5), false},
		"as many":     {every(1, 2), false},
		"more":        {every(1, 3), true},
		"a large one": {[]int64{2000, 2002}, true},
		"no gaps":     {every(1, 1), false},
		"too wide":    {every(1, windowIDs), false},
	} {
		s.reader.gaps.rest = 0
		s.check(t, c.ids)
		if got := s.reader.gaps.rest > 0; got != c.giveUp {
			t.Errorf("%s: gaps given up %t, want %t: %+v", name, got, c.giveUp, s.reader.gaps)
		}
	}
	s.reader.gaps.rest = 0
	s.check(t, every(1, 3))
	for range roundsOfRest {
		if s.reader.gaps.worthIt() {
			t.Fatal("gaps are tried again too early")
		}
		s.check(t, every(1, 3))
	}
	if got := s.reader.gaps; got.rest != roundsOfRest || got.strays != strayAllowance+1+got.bodies {
		t.Errorf("after the rest: %+v, want a new try", got)
	}
}
