package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReadBodies tries runs of ids of all kinds. Bodies 1 to 200 exist except 50 and 60 to 65; from 1000 on
// every third; 2000, 2002 and so on are small, with large ones in between.
func TestReadBodies(t *testing.T) {
	upTo := func(from, to, step int64) (ids []int64) {
		for id := from; id <= to; id += step {
			ids = append(ids, id)
		}
		return ids
	}
	down := upTo(1, 200, 1)
	slices.Reverse(down)
	cases := map[string][][]int64{
		"nothing":                {{}},
		"one":                    {{7}},
		"one that is gone":       {{50}},
		"a run":                  {upTo(10, 49, 1)},
		"a run over gone ones":   {upTo(40, 80, 1)},
		"begins with gone ones":  {upTo(60, 70, 1)},
		"ends with gone ones":    {upTo(55, 65, 1)},
		"all are gone":           {upTo(60, 65, 1)},
		"longer than a window":   {upTo(66, 200, 1)},
		"past the last one":      {upTo(3990, 4100, 1)},
		"descending":             {down},
		"back within a window":   {{66, 68, 67, 70, 69}},
		"twice the same":         {{7, 7}},
		"duplicates in a run":    {{5, 6, 6, 6, 7, 8, 9, 10, 11, 12, 12}},
		"duplicates in a window": {{1000, 1000, 1003, 1003, 1006}},
		"gaps without bodies":    {upTo(1000, 1300, 3)},
		"gaps with a body":       {upTo(66, 200, 2)},
		"gaps with many":         {upTo(66, 200, 7)},
		"gaps with large ones":   {upTo(2000, 2040, 2)},
		"gaps with gone ones":    {{48, 51, 58, 66, 67}},
		"edges of windows":       {{66, 129, 130, 193, 194}},
		"a large gap":            {{10, 11, 12, 1003, 1006, 3000, 3001}},
		"far ends":               {{math.MinInt64, -64, -1, 0, 1, 2, math.MaxInt64 - 1, math.MaxInt64}},
		"empty ones":             {{100, 101, 102, 103}},
		"empty ones with gaps":   {{98, 101, 104}},
		"in parts":               {upTo(110, 125, 1)},
		"in parts with gaps":     {{108, 115, 117, 119, 119}},
		"parts in the gaps":      {{113, 116, 117, 120}},
		"reads that go on":       {upTo(66, 80, 1), upTo(81, 99, 1), upTo(100, 110, 1)},
		"reads of the same":      {upTo(66, 80, 1), upTo(66, 80, 1), {70}},
		"reads that interleave":  {upTo(66, 199, 2), upTo(67, 199, 2)},
	}
	eachShelf(t, func(t *testing.T, s shelf) {
		for id := int64(1); id <= 200; id++ {
			if id != 50 && (id < 60 || id > 65) {
				s.put(id, 100)
			}
		}
		for id := int64(1000); id <= 1300; id += 3 {
			s.put(id, 10)
		}
		for id := int64(2000); id <= 2040; id++ {
			s.put(id, 10+int(id%2)*maxStray*8)
		}
		s.sql(t, "UPDATE body SET data=x'', crc=0 WHERE id=101; UPDATE body SET data=NULL, crc=0 WHERE id=102")
		s.bodies[101], s.bodies[102] = []byte{}, []byte{}
		s.putRange(3990, 4000)
		s.split(t, 115)
		s.split(t, 119)
		for name, lists := range cases {
			t.Run(name, func(t *testing.T) {
				for range 2 { // with and without gaps
					s.check(t, lists...)
					s.reader.gaps.rest = 0
				}
			})
		}
	})
}

// TestReadBodiesOfRandomIDs reads random ids that look like those of queues and compares the bodies with a map.
func TestReadBodiesOfRandomIDs(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		rnd := rand.New(rand.NewPCG(3, 4))
		sizes := []int{0, 1, 50, 50, 50, 1000, 1000, maxStray + 1, 3 * pageSize}
		const ids = 1500
		for id := int64(1); id <= ids; id++ {
			// A stretch with all bodies, one with most, one with few.
			if rnd.IntN(100) < []int{100, 80, 20}[3*(id-1)/ids] {
				s.put(id, sizes[rnd.IntN(len(sizes))])
			}
		}
		for range 10 {
			if id := 1 + rnd.Int64N(ids); s.bodies[id] != nil {
				s.split(t, id)
			}
		}
		for range 400 {
			lists := make([][]int64, 1+rnd.IntN(4))
			for i := range lists {
				lists[i] = randomIDs(rnd, ids)
			}
			s.check(t, lists...)
		}
	})
}

// randomIDs walks from a random id with steps of a random kind, and sometimes jumps or repeats an id.
func randomIDs(rnd *rand.Rand, largest int64) (ids []int64) {
	at := 1 + rnd.Int64N(largest)
	longest := []int64{1, 1, 2, 5, 40, 100}[rnd.IntN(6)]
	jumps := []int{2, 10, 1000}[rnd.IntN(3)]
	for range rnd.IntN(100) {
		switch {
		case rnd.IntN(jumps) == 0:
			at = 1 + rnd.Int64N(largest+10)
		case rnd.IntN(20) > 0:
			at += 1 + rnd.Int64N(longest)
		}
		ids = append(ids, at)
	}
	if rnd.IntN(10) == 0 {
		slices.Reverse(ids)
	}
	return ids
}
