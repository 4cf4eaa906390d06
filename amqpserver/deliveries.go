package amqpserver

import (
	"cmp"
	"slices"
	"sort"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
)

// ringWindow is the incoming-window of a client that keeps its unsettled deliveries in a ring of exactly that size and
// loses the session when the ring overflows (rhea). A peer with such a small window gets no more unsettled deliveries
// than its window (amqp-data-plane 1.6).
const ringWindow = 2048

// maxStale bounds how many deliveries of ended links a session remembers.
const maxStale = 1 << 14

// deliveries holds what the session's client has been sent and has not settled.
type deliveries struct {
	s         *session
	most      int // that the client can have unsettled
	unsettled map[serial]unsettled
	settling  int                 // deliveries whose settlement is being committed
	stale     map[serial]struct{} // unsettled deliveries whose link has ended
	expired   []idRange           // the same, of deliveries whose locks had ended before
}

// unsettled is a delivery that the client has not settled and whose lock has not ended. It does not hold the message:
// the client may have thousands.
type unsettled struct {
	link *outgoingLink
	lock *emulator.Lock
}

// handleDisposition settles deliveries that the client has received [AMQP 2.7.6]. It ignores what the client says about
// deliveries that it has sent: we settle those.
func (ds *deliveries) handleDisposition(d *frames.Disposition) {
	if d.Role != frames.RoleReceiver {
		return
	}
	if _, ok := d.State.(*frames.Received); (ok || d.State == nil) && !d.Settled {
		return // no outcome
	}
	last := d.First
	// One client takes a last of 0 for none, and may write it with that meaning.
	if d.HasLast && !serialLess(d.Last, d.First) {
		last = d.Last
	}
	wasFull := ds.left() <= 0
	v := verdictOf(d)
	if last == d.First {
		ds.settleSingle(d.First, &v)
	} else {
		ds.settleRange(d.First, last, &v)
	}
	ds.resume(wasFull)
}

// left returns how many more deliveries the client can have unsettled.
func (ds *deliveries) left() int { return ds.most - len(ds.unsettled) - ds.settling }

// resume lets the session's links go on if the client could have no more deliveries, and now can.
func (ds *deliveries) resume(wasFull bool) {
	if wasFull && ds.left() > 0 {
		ds.s.resume()
	}
}

// keepStale notes the unsettled deliveries of a link that ends, so that a later settlement of them gets no answer. A
// message lock lives on and can be settled by its token (LOCK-10); the lock of a session does not (SESS-16).
func (ds *deliveries) keepStale(o *outgoingLink) {
	ds.expired = append(ds.expired, o.expired...)
	ds.expired = ds.expired[max(len(ds.expired)-maxExpired, 0):]
	for id, u := range ds.unsettled {
		if u.link != o {
			continue
		}
		delete(ds.unsettled, id)
		if ds.stale == nil || len(ds.stale) >= maxStale {
			ds.stale = make(map[serial]struct{})
		}
		ds.stale[id] = struct{}{}
	}
}

// settleSingle settles one delivery. To the client, an unknown delivery is one whose lock is lost, unless its link
// ended before the delivery was settled.
func (ds *deliveries) settleSingle(id serial, v *verdict) {
	if u, ok := ds.unsettled[id]; ok {
		ds.settle(id, u, v)
		return
	}
	_, stale := ds.stale[id]
	if stale || slices.ContainsFunc(ds.expired, func(r idRange) bool { return id-r.first <= r.last-r.first }) {
		return
	}
	if !ds.refuseExpired(id, id, v) && !v.quiet {
		failure := lockLost(ds.entity())
		ds.s.c.log.refused("settle", failure)
		ds.s.settled.reject(id, id, failure)
	}
}

// entity returns the entity from which the session's client receives, empty if there are several.
func (ds *deliveries) entity() (path string) {
	for _, l := range ds.s.links {
		o, ok := l.self.(*outgoingLink)
		switch {
		case ok && path == "":
			path = o.entity()
		case ok && path != o.entity():
			return ""
		}
	}
	return path
}

// settleRange settles the unsettled deliveries of a range and ignores the others. A client's range may span all ids
// that there are, so the work is bounded by the number of deliveries.
func (ds *deliveries) settleRange(first, last serial, v *verdict) {
	var ids []serial
	if span := int64(last-first) + 1; span <= int64(len(ds.unsettled)) {
		for i := range serial(span) {
			ids = append(ids, first+i)
		}
	} else {
		for id := range ds.unsettled {
			if id-first <= last-first {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b serial) int { return cmp.Compare(a-first, b-first) })
	}
	var forgotten []unsettled // by the client, whatever becomes of its transaction
	if v.quiet && v.transaction != nil {
		for _, id := range ids {
			forgotten = append(forgotten, ds.unsettled[id])
		}
	}
	ds.refuseExpired(first, last, v)
	for i, id := range ids {
		u, ok := ds.unsettled[id]
		switch {
		case ok:
			ds.settle(id, u, v)
		case forgotten != nil && forgotten[i].link != nil: // one that was refused has ended the link
			forgotten[i].link.consumer.GiveUp(forgotten[i].lock)
		}
	}
}

// refuseExpired rejects the deliveries of a range whose locks have ended (LOCK-7), and reports whether there are any.
func (ds *deliveries) refuseExpired(first, last serial, v *verdict) (some bool) {
	for _, l := range ds.s.links {
		o, ok := l.self.(*outgoingLink)
		if !ok || len(o.expired) == 0 {
			continue
		}
		o.expired.cut(first, last, func(r idRange) {
			some = true
			o.touch()
			failure := o.expiredError(v)
			ds.s.c.log.refused("settle", failure)
			switch {
			case !v.quiet:
				ds.s.settled.reject(r.first, r.last, failure)
			case v.transaction != nil: // as in refuseIn
				o.endWith(failure)
			}
		})
	}
	return some
}

// settle settles one delivery; the answer follows the commit.
func (ds *deliveries) settle(id serial, u unsettled, v *verdict) {
	u.link.touch()
	// No other can settle the message before the transaction that has it ends (TXN-17).
	if t := ds.s.c.transactions.settles[u.lock]; t != nil && !v.forget && t.id != string(v.transaction) {
		t.awaitEnd(ds, id, v)
		return
	}
	if v.transaction != nil {
		ds.settleIn(id, u, v)
		return
	}
	delete(ds.unsettled, id)
	if v.forget {
		return
	}
	fault, over := ds.hitSettlement(id, u, v)
	if over {
		return
	}
	op := ds.s.c.settleOps.get()
	*op = settleOp{s: ds.s, id: id, echo: v.echo, quiet: v.quiet, link: u.link, injected: fault}
	settlement := v.settlement
	if v.refused != nil {
		// A refused settlement still ends the delivery: the message becomes available again (LOCK-24).
		settlement, op.refused = emulator.Settlement{Outcome: emulator.Release}, v.refused
	}
	if err := u.link.consumer.Settle(u.lock, settlement, op); err != nil {
		if err = u.link.lockError(err); op.injected == nil && ds.s.c.delayed == nil {
			op.answerWith(err)
			ds.s.c.settleOps.put(op)
			return
		}
		op.Completed(err) // in its turn behind delayed answers
	}
	ds.settling++
	u.link.addOutstanding()
}

// maxExpired bounds the ranges that a link remembers. Clients that settle ranges keep far fewer deliveries.
const maxExpired = 1024

// expiredIDs holds the ids of deliveries whose locks ended before the client settled them, as ranges in the order of
// the ids. They no longer count as unsettled, but the client may still settle them and wait for the answer. Messages
// that expire again and again make one range.
type expiredIDs []idRange

type idRange struct{ first, last serial }

// add adds an id. Above maxExpired it forgets the oldest range.
func (l *expiredIDs) add(id serial) {
	r := *l
	i := sort.Search(len(r), func(i int) bool { return serialLess(id, r[i].first) }) // the first range after id
	// A range must not end in 0 unless it begins there, for the same reason as in outcomes.answer.
	joinsLast := i > 0 && r[i-1].last+1 == id && id != 0
	joinsNext := i < len(r) && id+1 == r[i].first && r[i].first != 0
	switch {
	case joinsLast && joinsNext:
		r[i-1].last = r[i].last
		r = slices.Delete(r, i, i+1)
	case joinsLast:
		r[i-1].last = id
	case joinsNext:
		r[i].first = id
	default:
		r = slices.Insert(r, i, idRange{id, id})
	}
	if len(r) > maxExpired || r[len(r)-1].last-r[0].first > 1<<30 { // ids that far apart would have no order
		r = slices.Delete(r, 0, 1)
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
