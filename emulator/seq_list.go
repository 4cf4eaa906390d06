package emulator

import (
	"iter"
	"math"
	"slices"
	"sort"
)

// seqChunk bounds what an insertion or removal in the middle of a seqList has to move.
const seqChunk = 512

// seqList is a list of sequence numbers in ascending order, in chunks: those of a session's messages, for example. The
// messages themselves are in the log of the sub-queue only. A number is there twice while a message takes the place of
// another one.
type seqList [][]int64

// chunkAt returns the index of the first chunk whose last number is at least seq.
func (l seqList) chunkAt(seq int64) int {
	if len(l) == 0 || l[0][len(l[0])-1] >= seq {
		return 0
	}
	return 1 + sort.Search(len(l)-1, func(i int) bool { return l[1+i][len(l[1+i])-1] >= seq })
}

func (l *seqList) add(seq int64) {
	all := *l
	i := min(l.chunkAt(seq), len(all)-1)
	if i < 0 {
		*l = seqList{{seq}}
		return
	}
	j, _ := slices.BinarySearch(all[i], seq)
	switch {
	case len(all[i]) < seqChunk:
		all[i] = slices.Insert(all[i], j, seq)
	case j == seqChunk: // it is the highest of all
		*l = append(all, []int64{seq})
	default:
		upper := slices.Clone(all[i][seqChunk/2:])
		all[i] = all[i][:seqChunk/2]
		*l = slices.Insert(all, i+1, upper)
		l.add(seq)
	}
}

// remove takes the number out once; it does nothing if it is not there.
func (l *seqList) remove(seq int64) {
	all := *l
	i := l.chunkAt(seq)
	if i == len(all) {
		return
	}
	j, found := slices.BinarySearch(all[i], seq)
	switch {
	case !found:
	case len(all) == 1 && len(all[0]) == 1:
		*l = nil
	case len(all[i]) == 1:
		*l = slices.Delete(all, i, i+1)
	default:
		all[i] = removed(all[i], j)
	}
}

// from returns the numbers that are at least seq, each once.
func (l seqList) from(seq int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := l.chunkAt(seq); i < len(l); i++ {
			j, _ := slices.BinarySearch(l[i], seq)
			for _, s := range l[i][j:] {
				if s < seq {
					continue // it stands there twice
				}
				if !yield(s) {
					return
				}
				seq = s + 1
			}
		}
	}
}

// back returns the numbers that are at most seq, each once, the highest one first.
func (l seqList) back(seq int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := min(l.chunkAt(seq), len(l)-1); i >= 0; i-- {
			for _, s := range slices.Backward(l[i]) {
				if s > seq {
					continue
				}
				if !yield(s) {
					return
				}
				seq = s - 1
			}
		}
	}
}

func (l seqList) len() (n int) {
	for _, c := range l {
		n += len(c)
	}
	return n
}

// seqSet is a set of sequence numbers.
type seqSet struct {
	seqList
	n int
}

func (s *seqSet) add(seq int64) {
	if !s.has(seq) {
		s.seqList.add(seq)
		s.n++
	}
}

func (s *seqSet) remove(seq int64) {
	if s.has(seq) {
		s.seqList.remove(seq)
		s.n--
	}
}

func (s *seqSet) has(seq int64) bool {
	i := s.chunkAt(seq)
	if i == len(s.seqList) || s.seqList[i][0] > seq {
		return false
	}
	_, found := slices.BinarySearch(s.seqList[i], seq)
	return found
}

// next returns the lowest number that is at least seq.
func (s *seqSet) next(seq int64) (int64, bool) {
	for found := range s.from(seq) {
		return found, true
	}
	return 0, false
}

// first returns up to n numbers, the lowest ones.
func (s *seqSet) first(n int) (list []int64) {
	for seq := range s.from(math.MinInt64) {
		if len(list) == n {
			break
		}
		list = append(list, seq)
	}
	return list
}

// deleteIf removes the numbers for which f holds.
func (s *seqSet) deleteIf(f func(seq int64) bool) {
	var kept seqSet
	for seq := range s.from(math.MinInt64) {
		if !f(seq) {
			kept.add(seq)
		}
	}
	*s = kept
}
