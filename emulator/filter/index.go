package filter

// Index finds, among many matchers, the few that can possibly select a message. It files each matcher under the
// values of one condition that must hold for the matcher to select a message. So a message needs one look-up for each
// property in such conditions, however many matchers there are. A matcher without such a condition is a candidate for
// every message.
//
// An Index is not safe for concurrent use; a topic guards its own with its mutex. Matchers that are not candidates
// would neither be true nor raise an error.
type Index[ID comparable] struct {
	entries map[ID]*entry[ID]
	always  bucket[ID]
	shelves map[scopedProperty]*shelf[ID]
	order   []*shelf[ID] // the same shelves, for iteration
	round   uint64       // counts calls of Candidates
}

// entry is one matcher in the index.
type entry[ID comparable] struct {
	id     ID
	always bool
	keys   []indexKey
	round  uint64 // the last call of Candidates that found it
}

// indexKey is a property and a value under which an entry is filed.
type indexKey struct {
	property scopedProperty
	key      key
}

// shelf holds the entries filed under one property.
type shelf[ID comparable] struct {
	property scopedProperty
	buckets  map[key]bucket[ID]
}

// bucket holds the entries filed under one value, in no particular order.
type bucket[ID comparable] []*entry[ID]

func (b bucket[ID]) without(e *entry[ID]) bucket[ID] {
	for i, other := range b {
		if other == e {
			last := len(b) - 1
			b[i], b[last] = b[last], nil
			return b[:last]
		}
	}
	return b
}

// Len is the number of matchers in the index.
func (x *Index[ID]) Len() int { return len(x.entries) }

// Add files a matcher. It replaces an earlier one of the same id.
func (x *Index[ID]) Add(id ID, m Matcher) {
	x.Remove(id)
	if x.entries == nil {
		x.entries, x.shelves = make(map[ID]*entry[ID]), make(map[scopedProperty]*shelf[ID])
	}
	e := &entry[ID]{id: id}
	x.entries[id] = e
	condition, ok := x.choose(m.needs())
	if !ok {
		e.always = true
		x.always = append(x.always, e)
		return
	}
	e.keys = indexKeysOf(condition)
	for _, p := range e.keys {
		s := x.shelf(p.property)
		s.buckets[p.key] = append(s.buckets[p.key], e)
	}
}

// indexKeysOf turns equalities into keys, without duplicates.
func indexKeysOf(condition anyOf) []indexKey {
	var keys []indexKey
	seen := make(map[indexKey]bool)
	for _, equality := range condition {
		k, ok := keyOf(equality.Value)
		p := indexKey{property: equality.Property, key: k}
		if ok && !seen[p] {
			seen[p] = true
			keys = append(keys, p)
		}
	}
	return keys
}

// choose picks the condition under whose values the fewest matchers are filed so far. That is the condition that
// tells rules apart: of type='order' AND region='eu' the region, if all rules have the same type.
func (x *Index[ID]) choose(conditions []anyOf) (best anyOf, ok bool) {
	bestCrowd := 0
	for _, condition := range conditions {
		crowd := 0
		for _, p := range indexKeysOf(condition) {
			crowd++ // a condition with many values is a little worse than one with few
			if s := x.shelves[p.property]; s != nil {
				crowd += len(s.buckets[p.key])
			}
		}
		if !ok || crowd < bestCrowd {
			best = condition
			bestCrowd = crowd
			ok = true
		}
	}
	return best, ok
}

func (x *Index[ID]) shelf(p scopedProperty) *shelf[ID] {
	s := x.shelves[p]
	if s == nil {
		s = &shelf[ID]{property: p, buckets: make(map[key]bucket[ID])}
		x.shelves[p] = s
		x.order = append(x.order, s)
	}
	return s
}

// Remove takes a matcher out, if it is there.
func (x *Index[ID]) Remove(id ID) {
	e := x.entries[id]
	if e == nil {
		return
	}
	delete(x.entries, id)
	if e.always {
		x.always = x.always.without(e)
	}
	for _, p := range e.keys {
		s := x.shelves[p.property]
		if s.buckets[p.key] = s.buckets[p.key].without(e); len(s.buckets[p.key]) == 0 {
			delete(s.buckets, p.key)
		}
		if len(s.buckets) == 0 {
			x.drop(s)
		}
	}
}

// drop removes a shelf without entries, so that Candidates no longer reads its property.
func (x *Index[ID]) drop(s *shelf[ID]) {
	delete(x.shelves, s.property)
	for i, other := range x.order {
		if other == s {
			x.order = append(x.order[:i], x.order[i+1:]...)
			return
		}
	}
}

// Candidates calls yield once for each matcher that can possibly select the message, in no particular order, until
// yield returns false. The caller must still evaluate the matchers. Candidates does not allocate.
func (x *Index[ID]) Candidates(m Message, yield func(id ID) bool) {
	x.round++
	for _, e := range x.always {
		if !yield(e.id) {
			return
		}
	}
	for _, s := range x.order {
		k, ok := keyOf(s.property.of(m))
		if !ok {
			continue
		}
		for _, e := range s.buckets[k] {
			if e.round == x.round {
				continue // already found under another property
			}
			e.round = x.round
			if !yield(e.id) {
				return
			}
		}
	}
}
