package emulator

// Attached is a receiver of an entity as it is at the moment: a consumer, or an accept that waits for a session.
type Attached struct {
	Client    *Client // nil: unknown
	Sub       SubQueue
	Mode      ReceiveMode
	Since     int64   // ms
	Session   *string // that it holds; nil: none
	Until     int64   // ms; end of the session's lock
	Available int     // messages that it could have now: of its session, or of the sub-queue
	Asking    bool    // it waits for messages, or is about to take some
	Accepting bool    // it waits for a session
	Selector  string  // of the messages that it takes; empty: any
}

// attachment is what the entity keeps of a receiver. The entity's mutex is held.
type attachment interface{ attachedLocked() Attached }

// attachments are the receivers of an entity. Its mutex guards them.
type attachments map[attachment]struct{}

func (as *attachments) add(a attachment) {
	if *as == nil {
		*as = make(attachments)
	}
	(*as)[a] = struct{}{}
}

func (as attachments) remove(a attachment) { delete(as, a) }

func (as attachments) listLocked() []Attached {
	list := make([]Attached, 0, len(as))
	for a := range as {
		list = append(list, a.attachedLocked())
	}
	return list
}

// EachAttached calls f for each receiver of each entity. f must not wait.
func (ns *Namespace) EachAttached(f func(*Entity, Attached)) {
	for _, q := range ns.catalog.entities(anyKind) {
		for _, a := range q.Attached() {
			f(q, a)
		}
	}
}

// Attached returns the receivers of the entity, in no order.
func (q *Entity) Attached() []Attached {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.attached.listLocked()
}

// watcher is a link that wants to know when its entity changes.
type watcher struct {
	sub    SubQueue
	notify func(error)
}

// Watch calls notify when the queue is updated, with an error of CodeDetached (LOCK-17), or deleted, with
// CodeNotFound (DEC-18), until cancel is called. A queue that is deleted already says so at once. notify runs on any
// goroutine, possibly under the queue's mutex: it must only post.
func (q *Entity) Watch(sub SubQueue, notify func(error)) (cancel func()) {
	w := &watcher{sub: sub, notify: notify}
	q.mu.Lock()
	if q.watchers == nil {
		q.watchers = make(watchers)
	}
	q.watchers[w] = struct{}{}
	if q.deleted { // since the watcher looked it up
		notify(q.may.missing())
	}
	q.mu.Unlock()
	return func() {
		q.mu.Lock()
		delete(q.watchers, w)
		q.mu.Unlock()
	}
}

// watchers are the links that want to know when their entity changes. The entity's mutex guards them.
type watchers map[*watcher]struct{}

func (ws watchers) tell(err error) {
	for w := range ws {
		w.notify(err)
	}
}
