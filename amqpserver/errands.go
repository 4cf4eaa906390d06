package amqpserver

import (
	"sync"
	"sync/atomic"

	"minibus/internal/amqp/frames"
)

// errand is work for a link that waits for the store: making or deleting an entity. It is done off the loop.
type errand struct {
	do   func() error
	then func(error) // on the loop, after do
	undo func()      // instead of then if the connection has ended and do has succeeded; may be nil, may wait
	err  error
}

// run is the event that follows do.
func (e *errand) run(*conn) { e.then(e.err) }

// drop takes back what was done for a connection that has ended.
func (e *errand) drop() {
	if e.err == nil && e.undo != nil {
		e.undo()
	}
}

// maxErrands is how many errands a connection has under way before its peer must wait.
const maxErrands = 512

// errands are those of one connection. They are done one after another, on a goroutine that lives as long as there are
// any: changes of a namespace's entities take turns anyway, and so a link's deletion follows its creation.
type errands struct {
	c    *conn
	left atomic.Int64 // not yet done

	mu      sync.Mutex
	waiting []*errand
	running bool
	ended   sync.WaitGroup
}

// add hands an errand to the goroutine. Only the loop calls it, and the end of the connection before it waits.
func (es *errands) add(e *errand) {
	es.left.Add(1)
	es.mu.Lock()
	defer es.mu.Unlock()
	es.waiting = append(es.waiting, e)
	if !es.running {
		es.running = true
		es.ended.Go(es.run)
	}
}

func (es *errands) run() {
	for {
		es.mu.Lock()
		if len(es.waiting) == 0 {
			es.running = false
			es.mu.Unlock()
			return
		}
		e := es.waiting[0]
		es.waiting[0] = nil
		es.waiting = es.waiting[1:]
		es.mu.Unlock()
		es.work(e)
	}
}

func (es *errands) work(e *errand) {
	defer es.c.recoverPanic("errand")
	e.err = e.do()
	es.left.Add(-1)
	if !es.c.mailbox.post(e) {
		e.drop()
	}
}

// pendingLink keeps the handle of a link whose attach waits for an errand (JMS-4).
type pendingLink struct {
	link
	flowed *frames.Flow // the client's last one; nil: none
}

func (p *pendingLink) flow(f *frames.Flow) {
	last := *f
	p.flowed = &last
}

func (*pendingLink) detached() bool { return true }
func (*pendingLink) release()       {}

// attachAfter does an errand, and then opens the link and answers the attach. The errand's undo runs if the
// link has gone meanwhile.
func (s *session) attachAfter(a *frames.Attach, n node, e *errand, open func() error) {
	c := s.c
	p := &pendingLink{link: s.newLink(a, n)}
	p.opening = a
	s.put(p)
	e.then = func(err error) {
		gone := p.released
		if !gone {
			s.dropPending(p)
			if err == nil {
				err = open()
			}
		}
		if gone || err != nil {
			c.errands.add(&errand{do: func() error { e.drop(); return nil }, then: func(error) {}})
		}
		switch opened := s.links.get(a.Handle); {
		case gone:
		case err != nil:
			s.refuseLink(a, err)
		case opened != nil && p.flowed != nil:
			opened.self.flow(p.flowed)
		}
	}
	c.errands.add(e)
}

// dropPending makes room for the link that a pending one was to become.
func (s *session) dropPending(p *pendingLink) {
	p.released = true
	s.links = s.links.without(p.handle)
	s.c.sessions.linked--
	s.c.srv.links.Add(-1)
	s.c.srv.linksTotal.Add(-1)
}

// follow does an errand whose answer the link's detach waits for. failed is called with an error.
func (l *link) follow(do func() error, failed func(error)) {
	c := l.s.c
	l.addOutstanding()
	c.errands.add(&errand{do: do, then: func(err error) {
		if err != nil {
			failed(err)
		}
		l.answered()
	}})
}
