package emulator

import "slices"

// search sets a goroutine to look for matches, if none is at it and a consumer waits for the search. It lives as long
// as one does.
func (xs *selectorIndexes) search() {
	if xs.active || xs.paused || !xs.searchWanted() || !xs.q.may.search(xs.b.sub) {
		return
	}
	xs.active = true
	xs.q.ns.background.add()
	go func() {
		defer xs.q.ns.background.done()
		next := searchTurn{done: func() {}}
		for more := true; more; {
			next, more = xs.searchSome(next)
		}
	}()
}

// searchTurn says what a search does next.
type searchTurn struct {
	index *selectorIndex // that it backfills; nil: it evaluates what came with its body on disk only
	have  bodiesRead     // the bodies that it has read for that; nil: it has not begun
	done  func()         // lets another search read, when these are evaluated
}

// searchWanted reports whether a consumer waits for the search.
func (xs *selectorIndexes) searchWanted() bool {
	waits := func(x *selectorIndex) bool { return x.waiters.first != nil }
	if xs.unevaluated.n > 0 && slices.ContainsFunc(xs.all, waits) {
		return true
	}
	return xs.nextToBackfill() != nil
}

// nextToBackfill returns an index with a consumer that waits until it has found more, or nil.
func (xs *selectorIndexes) nextToBackfill() *selectorIndex {
	for _, x := range xs.incomplete {
		if x.waiters.first != nil && x.readyUpTo(1) == 0 {
			return x
		}
	}
	return nil
}

// searchSome evaluates selectors on some messages and reports whether to go on, with what.
func (xs *selectorIndexes) searchSome(t searchTurn) (next searchTurn, more bool) {
	q := xs.q
	next.done = func() {}
	q.mu.Lock()
	if !xs.searchWanted() || !q.may.search(xs.b.sub) {
		xs.active = false
		xs.notifyIfComplete()
		q.mu.Unlock()
		t.done()
		return next, false
	}
	q.ns.ownActions.Add(1)
	if t.have == nil && xs.unevaluated.n == 0 {
		t.index = xs.nextToBackfill()
	}
	var missing bodyList
	switch i := slices.Index(xs.incomplete, t.index); {
	case t.index == nil:
		missing = xs.catchUp(t.have)
	case i >= 0:
		if missing = xs.backfill(t.index, t.have); len(missing.ids) == 0 && t.index.seen != seenAll {
			xs.incomplete = append(slices.Delete(xs.incomplete, i, i+1), t.index) // they take turns
		}
	}
	xs.wake()
	q.mu.Unlock()
	t.done()
	if len(missing.ids) == 0 {
		return next, true
	}
	done := q.ns.common.enterSearch(missing.bytes)
	read, err := q.bodies.readByID(missing.ids)
	if err == nil {
		return searchTurn{t.index, read, done}, true
	}
	done()
	q.ns.logger.Error("messages could not be read for selectors; trying again", "entity", q.path, "error", err)
	q.mu.Lock()
	defer q.mu.Unlock()
	xs.active, xs.paused = false, true
	q.ns.clock.At(instant(q.alarm.later()), func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		xs.paused = false
		xs.search()
	})
	return next, false
}

// catchUp evaluates the selectors on messages that came when their bodies were on disk only, as backfill does.
func (xs *selectorIndexes) catchUp(have bodiesRead) (missing bodyList) {
	var passing *entry
	for _, seq := range xs.unevaluated.first(peekChunk) {
		e := xs.b.show(seq, &passing)
		if e == nil || e.state != Active {
			xs.unevaluated.remove(seq)
			continue
		}
		if body, known := have.of(e); known {
			xs.evaluate(e, body)
		} else {
			missing.add(e.body)
		}
	}
	xs.notifyIfComplete()
	return missing
}

// largeSearches is how many searches of a process may have bodies of more than quantumBytes in memory at a time.
const largeSearches = 4

// enterSearch waits until so many bytes of bodies may be read for selectors.
func (c *common) enterSearch(bytes int) (done func()) {
	if bytes <= 2*quantumBytes {
		return func() {}
	}
	c.searches <- struct{}{}
	return func() { <-c.searches }
}

// readByID reads bodies and waits for them.
func (b *bodies) readByID(ids []int64) (bodiesRead, error) {
	read := &BodyRead{IDs: ids}
	if err := await(func(done Completion) {
		read.Done = done
		b.q.ns.journal.ReadBodies(read)
	}); err != nil {
		return nil, err
	}
	bodies := make(bodiesRead, len(ids))
	for i, id := range ids {
		bodies[id] = read.Bodies[i]
	}
	return bodies, nil
}
