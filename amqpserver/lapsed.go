package amqpserver

import "sort"

// maxExpired bounds the ranges that a link remembers. Clients that settle ranges keep far fewer deliveries.
const maxExpired = 1024

// expiredIDs holds the ids of deliveries whose locks ended before the client settled them, as ranges in the order of the ids. They
// no longer count as unsettled, but the client may still settle them and wait for the answer. Messages that
// expire again and again make one range.
type expiredIDs []idRange

type idRange struct{ first, last serial }

// add adds an id. Above maxLapsed it forgets the oldest range.
func (l *expiredIDs) add(id serial) {
	r := *l
	i := sort.Search(len(r), func(i int) bool { return serialLess(id, r[i].first) }) // the first range after id
	// A range must not end in 0 unless it begins there, for the same reason as in ranges.add.
	joinsLast, joinsNext := i > 0 && r[i-1].last+1 == id && id != 0, i < len(r) && id+1 == r[i].first && r[i].first != 0
	switch {
	case joinsLast && joinsNext:
		r[i-1].last = r[i].last
		r = append(r[:i], r[i+1:]...)
	case joinsLast:
		r[i-1].last = id
	case joinsNext:
		r[i].first = id
	default:
		r = append(r, idRange{})
		copy(r[i+1:], r[i:])
		r[i] = idRange{id, id}
	}
	if len(r) > maxExpired || r[len(r)-1].last-r[0].first > 1<<30 { // ids that far apart would have no order
		r = append(r[:0], r[1:]...)
	}
	*l = r
}

// cut removes the ids from first to last and calls each for the ranges that it removes.
func (l *expiredIDs) cut(first, last serial, each func(idRange)) {
	var left expiredIDs
	for _, r := range *l {
		if serialLess(r.last, first) || serialLess(last, r.first) {
			left = append(left, r)
			continue
		}
		if serialLess(r.first, first) {
			left = append(left, idRange{r.first, first - 1})
			r.first = first
		}
		if serialLess(last, r.last) {
			left = append(left, idRange{last + 1, r.last})
			r.last = last
		}
		each(r)
	}
	*l = left
}
