package emulator

import "slices"

// search sets a goroutine to look for matches, if none is at it and a consumer waits for the search. It lives as long
// as one does.
func (in *sieves) search() {
	if in.active || in.paused || !in.wanted() || !in.maySearch() {
		return
	}
	in.active = true
	in.q.ns.background.add()
	go func() {
		defer in.q.ns.background.done()
		next := sieveTurn{done: func() {}}
		for more := true; more; {
			next, more = in.searchSome(next)
		}
	}()
}

// sieveTurn says what a search does next.
type sieveTurn struct {
	of   *sieve           // for which it looks; nil: it judges what came with its body on disk only
	have map[int64][]byte // the bodies that it has read for that; nil: it has not begun
	done func()           // lets another search read, when these are judged
}

// maySearch reports whether the entity is in service.
func (in *sieves) maySearch() bool {
	q := in.q
	return !q.alarm.stopped && q.ns.stage.Load() == stageThere && q.may.receive(in.b.sub) == nil
}

// wanted reports whether a consumer waits for the search.
func (in *sieves) wanted() bool {
	waits := func(x *sieve) bool { return x.line.first != nil }
	if in.unjudged.n > 0 && slices.ContainsFunc(in.all, waits) {
		return true
	}
	return in.next() != nil
}

// next returns a sieve with a consumer that waits until it has found more, or nil.
func (in *sieves) next() *sieve {
	for _, x := range in.behind {
		if x.line.first != nil && x.readyUpTo(1) == 0 {
			return x
		}
	}
	return nil
}

// searchSome judges some messages and reports whether to go on, with what.
func (in *sieves) searchSome(t sieveTurn) (next sieveTurn, more bool) {
	q := in.q
	next.done = func() {}
	q.mu.Lock()
	if !in.wanted() || !in.maySearch() {
		in.active = false
		in.tell()
		q.mu.Unlock()
		t.done()
		return next, false
	}
	q.ns.ownActions.Add(1)
	if t.have == nil && in.unjudged.n == 0 {
		t.of = in.next()
	}
	var missing bodyList
	switch i := slices.Index(in.behind, t.of); {
	case t.of == nil:
		missing = in.catchUp(t.have)
	case i >= 0:
		if missing = in.walk(t.of, t.have); len(missing.ids) == 0 && t.of.seen != judgedAll {
			in.behind = append(slices.Delete(in.behind, i, i+1), t.of) // they take turns
		}
	}
	in.wake()
	q.mu.Unlock()
	t.done()
	if len(missing.ids) == 0 {
		return next, true
	}
	done := q.ns.common.enterSearch(missing.bytes)
	read, err := q.bodies.readByID(missing.ids)
	if err == nil {
		return sieveTurn{t.of, read, done}, true
	}
	done()
	q.ns.logger.Error("messages could not be read for selectors; trying again", "entity", q.path, "error", err)
	q.mu.Lock()
	defer q.mu.Unlock()
	in.active, in.paused = false, true
	q.ns.clock.At(instant(q.alarm.later()), func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		in.paused = false
		in.search()
	})
	return next, false
}

// catchUp judges messages that came when their bodies were on disk only, as walk does.
func (in *sieves) catchUp(have map[int64][]byte) (missing bodyList) {
	var passing *entry
	for _, seq := range in.unjudged.first(peekChunk) {
		e := in.b.show(seq, &passing)
		if e == nil || e.state != Active {
			in.unjudged.remove(seq)
			continue
		}
		body, known := e.body.data, true
		if body == nil {
			body, known = have[e.body.id]
		}
		if known {
			in.judge(e, body)
		} else {
			missing.add(e.body)
		}
	}
	in.tell()
	return missing
}

// largeSearches is how many searches of a process may have bodies of more than quantumBytes in memory at a time.
const largeSearches = 4

// enterSearch waits until so many bytes of bodies may be read to be judged.
func (c *common) enterSearch(bytes int) (done func()) {
	if bytes <= 2*quantumBytes {
		return func() {}
	}
	c.searches <- struct{}{}
	return func() { <-c.searches }
}

// readByID reads bodies and waits for them. Those that are damaged or gone are nil.
func (b *bodies) readByID(ids []int64) (map[int64][]byte, error) {
	read := &BodyRead{IDs: ids}
	if err := await(func(done Completion) {
		read.Done = done
		b.q.ns.journal.ReadBodies(read)
	}); err != nil {
		return nil, err
	}
	bodies := make(map[int64][]byte, len(ids))
	for i, id := range ids {
		bodies[id] = read.Bodies[i]
	}
	return bodies, nil
}
