package emulator

import (
	"math"
	"slices"
)

// Messages looks at the messages of an entity, removes and reschedules them by their numbers, for people rather than
// for receivers.
type Messages struct{ q *Entity }

// Messages returns the messages of the entity.
func (q *Entity) Messages() Messages { return Messages{q} }

// Bounds of one call of Browse.
const (
	browseLooked = 1 << 16 // messages looked at
	browseBytes  = 8 << 20 // of bodies, whether they are in memory or read; the last one may be larger
)

// Browse says which messages to look at.
type Browse struct {
	Sub       SubQueue
	Select    Selection
	Standings []Standing // none: any
	Newest    bool       // the highest numbers first
	From      *int64     // the first number to look at, the lowest one or, with Newest, the highest; nil: all
	To        *int64     // the last number to look at; nil: all
	Max       int        // messages to show

	room func(bytes int64) (done func(), err error) // is asked before bodies are read from disk; nil: never
}

// Browsed is how far a call of Browse came.
type Browsed struct {
	Examined int   // messages looked at
	More     bool  // there may be more
	Next     int64 // Browse.From for them
}

// Browse shows messages of a sub-queue, in the order of their numbers, with their content. It does not change, lock,
// delay or reorder any, and it does not count as use of the entity. Messages that have expired are shown as
// [Entity.Peek] shows them. On a partitioned entity the numbers run partition by partition.
//
// One call looks at a bounded number of messages and bodies: few may be shown, or none, although there are more. It
// takes the entity's mutex for a few messages at a time. What it has to read from disk does not stay in memory. It
// fails with CodeArgument if the SQL is wrong, and with CodeNotFound if the entity is gone.
func (ms Messages) Browse(b Browse, show func(*MessageView)) (Browsed, error) {
	wanted, err := newSelectionMatcher(ms.q, b.Sub, b.Select)
	if err != nil {
		return Browsed{}, err
	}
	return wanted.browse(b, show)
}

// browse is [Messages.Browse] with a selection that is compiled.
func (s *selectionMatcher) browse(b Browse, show func(*MessageView)) (Browsed, error) {
	w := &browsing{selectionMatcher: *s, Browse: &b, show: show}
	w.Next, w.More = math.MinInt64, true
	if b.Newest {
		w.Next = math.MaxInt64
	}
	if b.From != nil {
		w.Next = *b.From
	}
	for w.More && w.shown < b.Max && w.Examined < browseLooked && w.bytes < browseBytes {
		if err := w.step(); err != nil {
			return Browsed{}, err
		}
	}
	return w.Browsed, nil
}

// browsing is one call of Browse.
type browsing struct {
	selectionMatcher
	*Browse
	Browsed
	show  func(*MessageView)
	shown int
	bytes int64

	found []*MessageView // of this step
	at    []int          // Examined when each of them was looked at
}

// step looks at the next few messages and shows those that fit.
func (w *browsing) step() error {
	w.found, w.at = w.found[:0], w.at[:0]
	if err := w.look(); err != nil || len(w.found) == 0 {
		return err
	}
	ds := make([]*Delivery, len(w.found))
	for i, s := range w.found {
		ds[i] = s.d
	}
	done, err := w.takeRoom(ds)
	if err != nil {
		return err
	}
	defer done()
	defer clear(w.found) // nothing holds the bodies when their room is given back
	if err := w.q.bodies.readAll(ds); err != nil {
		return err
	}
	for i, s := range w.found {
		if s.d.body == nil || w.reads() && !w.selects(s.d) {
			continue // it is gone, or not wanted
		}
		if w.shown == w.Max {
			w.More = true
			w.Next = s.Sequence
			w.Examined = w.at[i] - 1
			return nil
		}
		w.show(s)
		w.shown++
	}
	return nil
}

// takeRoom waits until there is room for the bodies that are not in memory.
func (w *browsing) takeRoom(ds []*Delivery) (done func(), err error) {
	var bytes int64
	for _, d := range ds {
		if d.body == nil {
			bytes += int64(d.size)
		}
	}
	if w.room == nil || bytes == 0 {
		return func() {}, nil
	}
	return w.room(bytes)
}

// look notes the next messages that may fit, few in one critical section.
func (w *browsing) look() error {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	if err := w.q.may.use(); err != nil {
		return err
	}
	l := w.q.messagesLocked(w.Sub, w.Select.SessionID)
	walk, by := l.look, int64(1)
	if w.Newest {
		walk, by = l.lookBack, -1
	}
	now := w.q.ns.Now()
	looked := 0
	bytes := int64(0)
	w.More = false
	walk(w.Next, func(e *entry) bool {
		if w.To != nil && (e.seq-*w.To)*by > 0 {
			return false
		}
		if looked == peekChunk || bytes >= quantumBytes || w.enough() {
			w.More = true
			return false
		}
		looked++
		w.Next = e.seq + by
		if e.mark == markPending {
			return true
		}
		w.Examined++
		if w.q.overLocked(e, now) || len(w.Standings) > 0 && !slices.Contains(w.Standings, e.standing()) ||
			len(w.Select.States) > 0 && !slices.Contains(w.Select.States, e.state) || !w.fits(e) {
			return true
		}
		w.found, w.at = append(w.found, w.q.Messages().viewLocked(e)), append(w.at, w.Examined)
		bytes += int64(e.body.size)
		return true
	})
	w.bytes += bytes
	return nil
}

// enough reports whether all of the messages that may still be shown are found, which shows only where their content
// does not matter.
func (w *browsing) enough() bool { return !w.reads() && w.shown+len(w.found) >= w.Max }

// Upcoming says how many messages of an entity become active when.
type Upcoming struct {
	Total int // scheduled messages
	// ms, when the first of them is due; 0: there is none. Where very many are due together it may be up to a quarter
	// of a second too early
	Next  int64
	Slots []int // how many are due in each step of the time that was asked for
}

// Upcoming returns how many scheduled messages are due in each of so many steps from an instant on. It rounds both
// down to minutes. The numbers are kept up to date, not counted, and the entity's mutex is held for one step at a
// time. It fails with CodeNotFound if the entity is gone.
func (ms Messages) Upcoming(from, step int64, steps int) (u Upcoming, err error) {
	q := ms.q
	from -= from % minute
	step = max(step-step%minute, minute)
	u.Slots = make([]int, steps)
	for i := range u.Slots {
		at := from + int64(i)*step
		if u.Slots[i], err = ms.dueBetween(at, at+step); err != nil {
			return Upcoming{}, err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	u.Total = q.subQueue(Main).scheduled
	if u.Total > 0 {
		u.Next, _ = q.schedule.dues.earliest()
	}
	return u, nil
}

// dueBetween returns how many scheduled messages are due from one beginning of a minute to another.
func (ms Messages) dueBetween(from, to int64) (int, error) {
	q := ms.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.use(); err != nil {
		return 0, err
	}
	return q.subQueue(Main).dues.between(from, to), nil
}
