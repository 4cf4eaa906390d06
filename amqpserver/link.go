package amqpserver

import (
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// linkState is the stage of a link's end.
type linkState uint8

const (
	linkAttached  linkState = iota
	linkClosing             // our detach waits for answers that come first
	linkDetaching           // we have sent detach; the peer's detach frees the handle
)

// link holds what all kinds of links have in common.
type link struct {
	// immutable
	s      *session
	handle uint32 // the peer's and ours
	name   string
	role   frames.Role // of the peer
	node   node
	queue  *emulator.Entity // nil for $cbs
	rights []right          // what it needs as long as it lives

	state    linkState
	left     bool   // the peer has sent detach
	cause    *fault // why we end the link; nil: we do not
	owed     int    // answers that follow their commits
	unwatch  func()
	attached time.Time
	passed   int64     // deliveries begun
	active   time.Time // last traffic (LOCK-19)
	released bool      // it holds nothing in the domain

	opening *frames.Attach // the peer's attach while it is not answered; else nil
}

func (l *link) base() *link { return l }

// touch notes traffic.
func (l *link) touch() { l.active = l.s.c.now }

// entity returns the path for logs and error texts.
func (l *link) entity() string {
	if l.queue != nil {
		return l.queue.Path()
	}
	return l.node.path
}

// watch detaches the link when its entity is changed or deleted (LOCK-17, DEL-1). The domain calls back from any goroutine.
func (l *link) watch(e endpoint) {
	if l.queue == nil {
		return
	}
	box, s := &l.s.c.box, l.s
	l.unwatch = l.queue.Watch(l.node.sub, func(err error) {
		box.post(eventFunc(func(*conn) {
			f := faultOf(err)
			f.entity = l.entity()
			s.detach(e, f)
		}))
	})
}

// refusedLink keeps the handle of a refused link until the peer's detach arrives.
type refusedLink struct{ link }

func (*refusedLink) flow(*frames.Flow) {}
func (*refusedLink) detached() bool    { return true }
func (*refusedLink) release()          {}

// put adds a link to the session.
func (s *session) put(e endpoint) {
	l := e.base()
	s.links = s.links.with(e)
	s.handles = max(s.handles, l.handle+1)
	s.c.links++
	s.c.everLinked = true
	l.touch()
	if !l.released {
		l.attached = l.active
		s.c.srv.links.Add(1)
		s.c.srv.linksTotal.Add(1)
	}
}

// free removes a link from the session.
func (s *session) free(handle uint32) {
	s.links = s.links.without(handle)
	s.c.unlinked(1)
}

// unlinked counts links that have gone.
func (c *conn) unlinked(n int) {
	c.links -= n
	if c.links == 0 {
		c.linkless = c.now
	}
}

// releaseLink gives back what a link holds.
func (s *session) releaseLink(e endpoint) {
	l := e.base()
	if l.released {
		return
	}
	l.released = true
	s.c.srv.links.Add(-1)
	s.c.logLink(e)
	if l.unwatch != nil {
		l.unwatch()
	}
	e.release()
}

// detach ends a link with an error. Frames for it are discarded from now on, and its handle stays in use until the peer's
// detach arrives.
func (s *session) detach(e endpoint, f fault) {
	l := e.base()
	if s.released || l.released {
		return // the link ended by itself meanwhile
	}
	s.c.logEnd("link", f)
	s.endLink(e, f)
}

// endLink is detach for an error that is logged already.
func (s *session) endLink(e endpoint, f fault) {
	l := e.base()
	if s.released || l.released {
		return
	}
	l.state, l.cause = linkClosing, &f
	s.releaseLink(e)
	if l.opening != nil {
		s.c.write(s.channel, reply(l.opening)) // without source and target: the link was not created
		l.opening = nil
	}
	s.sendDetach(l)
}

// handleDetach answers the peer's detach, always as closed: the service does not suspend links
// (amqp-data-plane 4.6).
func (s *session) handleDetach(p *frames.Detach) error {
	e, err := s.endpoint(p.Handle)
	if err != nil {
		return err
	}
	l := e.base()
	if p.Error != nil {
		s.c.log.Debug("link detached by the client", "link", l.name, "entity", l.node.String(),
			"condition", string(p.Error.Condition), "reason", p.Error.Description)
	}
	if l.left {
		return sessionErrorf(amqp.CondUnattachedHandle, "The link with handle %d is detached already.", l.handle)
	}
	l.left = true
	switch l.state {
	case linkDetaching:
		s.free(l.handle)
	case linkAttached:
		l.state = linkClosing
		if e.detached() {
			s.finishDetach(e)
		}
	}
	return nil
}

// finishDetach answers the peer's detach.
func (s *session) finishDetach(e endpoint) {
	s.releaseLink(e)
	s.sendDetach(e.base())
}

// sendDetach writes the detach of a released link once all its answers are written: after it nothing may refer to the link's
// deliveries, for the peer has forgotten them [AMQP 2.6.6].
func (s *session) sendDetach(l *link) {
	if l.owed == 0 && !s.released {
		s.writeDetach(l)
	}
}

// detachNow answers the peer's detach. Answers that are still owed are dropped.
func (s *session) detachNow(e endpoint) {
	s.releaseLink(e)
	s.writeDetach(e.base())
}

// mute reports whether our detach has been written: nothing may refer to the link's deliveries any more.
func (l *link) mute() bool { return l.state == linkDetaching }

func (s *session) writeDetach(l *link) {
	s.flushOutcomes()
	d := &frames.Detach{Handle: l.handle, Closed: true}
	if l.cause != nil {
		d.Error = s.c.wireError(*l.cause)
	}
	l.state = linkDetaching
	s.c.write(s.channel, d)
	if l.left {
		s.free(l.handle)
	}
}

// owe counts an answer that follows a commit.
func (l *link) owe() {
	l.owed++
	l.s.owed++
	l.s.c.outstanding++
}

// paid counts an answer that has been given, and writes the detach or end that waited for it.
func (l *link) paid() {
	s := l.s
	l.owed--
	s.owed--
	s.c.outstanding--
	if l.state == linkClosing && l.released {
		s.sendDetach(l)
	}
	if s.closing {
		s.sendEnd()
	}
}
