package emulator

import (
	"iter"
	"slices"
	"sort"
)

// seqChunk bounds what an insertion or removal in the middle of seqs has to move.
const seqChunk = 512

// seqs are the sequence numbers of a session's messages in ascending order, in chunks: the messages themselves stand
// in the log of the sub-queue only. A number stands there twice while a message takes the place of another one.
type seqs [][]int64

// chunkAt returns the index of the first chunk whose last number is at least seq.
func (l seqs) chunkAt(seq int64) int {
	if len(l) == 0 || l[0][len(l[0])-1] >= seq {
		return 0
	}
	return 1 + sort.Search(len(l)-1, func(i int) bool { return l[1+i][len(l[1+i])-1] >= seq })
}

func (l *seqs) add(seq int64) {
	all := *l
	i := min(l.chunkAt(seq), len(all)-1)
	if i < 0 {
		*l = seqs{{seq}}
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
func (l *seqs) remove(seq int64) {
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
func (l seqs) from(seq int64) iter.Seq[int64] {
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
func (l seqs) back(seq int64) iter.Seq[int64] {
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

func (l seqs) len() (n int) {
	for _, c := range l {
		n += len(c)
	}
	return n
}
