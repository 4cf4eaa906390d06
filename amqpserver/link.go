package amqpserver

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/printable"
)

// linkState is the stage of a link's end.
type linkState uint8

const (
	linkAttached  linkState = iota
	linkClosing             // our detach waits for answers that come first
	linkDetaching           // we have sent detach; the peer has forgotten its deliveries, and its own frees the handle
)

// link holds what all kinds of links have in common.
type link struct {
	// immutable
	s           *session
	self        endpoint         // the link with its kind, set by put
	handle      uint32           // the peer's and ours
	knownClient *emulator.Client // names the client, once that was asked for
	number      int64            // among the links of the connection, for those who look at it
	name        string
	role        frames.Role // of the peer
	node        node
	queue       *emulator.Entity // nil for $cbs
	rights      []right          // what it needs as long as it lives

	state       linkState
	left        bool       // the peer has sent detach
	leftForGood bool       // it has closed the link by that
	cause       *amqpError // why we end the link; nil: we do not
	outstanding int        // answers that follow their commits
	unwatch     func()
	attached    time.Time
	passed      int64          // deliveries begun
	active      time.Time      // last traffic (LOCK-19)
	released    bool           // it holds nothing in the domain
	outlives    bool           // a detach that does not close it leaves something behind: JMS's durable subscriptions
	temporary   bool           // it has made the queue or topic of its address, which goes with it
	starvedBy   int64          // the injected fault that starves it; 0: none
	opening     *frames.Attach // the peer's attach while it is not answered; else nil
}

func (l *link) base() *link { return l }

func (l *link) touch() { l.active = l.s.c.now }

// entity returns the path for logs and error texts.
func (l *link) entity() string {
	if l.queue != nil {
		return l.queue.Path()
	}
	return l.node.path
}

// client names the client of the link. It is made once.
func (l *link) client() *emulator.Client {
	if l.knownClient == nil {
		l.knownClient = l.s.c.client()
		l.knownClient.Link = printable.Clip(l.name, maxProperty)
		l.knownClient.Number = l.number
	}
	return l.knownClient
}

// watch detaches the link when its entity is changed or deleted (LOCK-17, DEL-1). The domain calls back from any
// goroutine.
func (l *link) watch() {
	if l.queue != nil {
		l.unwatch = l.queue.Watch(l.node.sub, func(err error) { l.detachSoon(err, l.queue) })
	}
}

// detachSoon lets the loop detach the link with an error about an entity.
func (l *link) detachSoon(err error, q *emulator.Entity) {
	l.s.c.post(func() {
		failure := amqpErrorOf(err)
		failure.entity = q.Path()
		if failure.condition == amqp.CondNotFound { // the domain has a line about the deletion
			l.s.c.log.Debug("link closed", "entity", failure.entity, "reason", failure.text)
			l.endWith(failure)
			return
		}
		l.detach(failure)
	})
}

// amqpError translates an error and adds the link's entity.
func (l *link) amqpError(err error) amqpError {
	failure := amqpErrorOf(err)
	if failure.entity == "" {
		failure.entity = l.entity()
	}
	return failure
}

// refusedLink keeps the handle of a refused link until the peer's detach arrives.
type refusedLink struct{ link }

func (*refusedLink) flow(*frames.Flow) {}
func (*refusedLink) detached() bool    { return true }
func (*refusedLink) release()          {}

func (s *session) put(e endpoint) {
	l := e.base()
	l.self = e
	s.links = s.links.with(l)
	s.handles = max(s.handles, l.handle+1)
	s.c.sessions.linked++
	s.c.sessions.attached = true
	l.touch()
	if !l.released {
		l.attached = l.active
		s.c.srv.links.Add(1)
		s.c.srv.linksTotal.Add(1)
	}
}

func (s *session) free(l *link) {
	s.lastEnded = l.name
	s.links = s.links.without(l.handle)
	s.c.sessions.unlinked(1, s.c.now)
}

// releaseOnce gives back what the link holds.
func (l *link) releaseOnce() {
	if l.released {
		return
	}
	l.released = true
	l.s.c.srv.links.Add(-1)
	l.log()
	if l.unwatch != nil {
		l.unwatch()
	}
	l.self.release()
}

// log writes the one line about the link when it ends: the client, the number of messages, and how long the link
// lasted. Links to $cbs, and those that only carry replies, say nothing about what an application does and are logged
// for debugging. The other lines are rate-limited.
func (l *link) log() {
	c := l.s.c
	level := slog.LevelInfo
	if _, carriesReplies := l.self.(*replyLink); carriesReplies || l.node.kind == nodeCBS {
		level = slog.LevelDebug
	}
	if !c.log.Enabled(noContext, level) || !c.log.may(level, "link") {
		return
	}
	client := "receives"
	if l.role == frames.RoleSender {
		client = "sends"
	}
	c.log.Log(noContext, level, "link", "entity", l.node.String(), "client", client, "messages", l.passed,
		"duration", c.now.Sub(l.attached).Round(time.Millisecond), "container", c.peer.containerID)
}

// detach ends the link with an error. Frames for it are discarded from now on, and its handle stays in use until the
// peer's detach arrives.
func (l *link) detach(failure amqpError) {
	if l.s.released || l.released {
		return // the link ended by itself meanwhile
	}
	l.s.c.log.ended("link", failure)
	l.endWith(failure)
}

// endWith is detach for an error that is logged already.
func (l *link) endWith(failure amqpError) {
	if l.s.released || l.released {
		return
	}
	l.state, l.cause = linkClosing, &failure
	l.finishDetach()
}

// forceDetach detaches the link as the service does; users search for its words.
func (l *link) forceDetach(code, details string) {
	text := fmt.Sprintf("The link '%s' is force detached. Code: %s. Details: %s", l.name, code, details)
	l.detach(amqpError{condition: amqp.CondDetachForced, entity: l.entity(), text: text})
}

// handleDetach answers the peer's detach, as closed unless a durable subscription outlives it: the service does not
// suspend links (amqp-data-plane 4.6).
func (s *session) handleDetach(p *frames.Detach) error {
	l, err := s.linkOf(p.Handle)
	if err != nil {
		return err
	}
	if p.Error != nil {
		s.c.log.Debug("link detached by the client", "link", l.name, "entity", l.node.String(),
			"condition", string(p.Error.Condition), "reason", p.Error.Description)
	}
	if l.left {
		return sessionErrorf(amqp.CondUnattachedHandle, "The link with handle %d is detached already.", l.handle)
	}
	l.left, l.leftForGood = true, p.Closed
	s.c.sendDelayed(func(a *delayedAnswer) bool { return a.link == l }) // the client waits for no delay any more
	switch l.state {
	case linkDetaching:
		s.free(l)
	case linkAttached:
		l.state = linkClosing
		if l.self.detached() {
			l.finishDetach()
		}
	}
	return nil
}

// finishDetach releases the link, and lets our detach follow its answers.
func (l *link) finishDetach() {
	l.releaseOnce()
	l.sendDetach()
}

// sendDetach writes the detach of a released link once all its answers are written: after it nothing may refer to the
// link's deliveries, for the peer has forgotten them [AMQP 2.6.6].
func (l *link) sendDetach() {
	if l.outstanding == 0 && !l.s.released {
		l.detachNow()
	}
}

// detachNow writes our detach. Outstanding answers are dropped. A peer that still waits for its attach gets the refusal
// first: it knows no link with our handle before that [AMQP 2.6.3].
func (l *link) detachNow() {
	l.releaseOnce()
	l.s.flushOutcomes()
	if l.opening != nil {
		l.s.write(reply(l.opening)) // without source and target: the link was not created
		l.opening = nil
	}
	d := &frames.Detach{Handle: l.handle, Closed: !l.outlives || !l.left || l.leftForGood}
	if l.cause != nil {
		d.Error = l.s.c.wireError(*l.cause)
	}
	l.state = linkDetaching
	l.s.write(d)
	if l.left {
		l.s.free(l)
	}
}

// addOutstanding counts an answer that follows a commit.
func (l *link) addOutstanding() {
	l.outstanding++
	l.s.outstanding++
	l.s.c.outstanding++
}

// answered counts an answer that has been given, and writes the detach or end that waited for it.
func (l *link) answered() {
	s := l.s
	l.outstanding--
	s.outstanding--
	s.c.outstanding--
	if l.state == linkClosing && l.released {
		l.sendDetach()
	}
	if s.closing {
		s.sendEnd()
	}
}

// linkTable holds the links of a session in the order of their handles, which are the peer's and ours. It grows with
// the number of links and not with their handles: the peer chooses those, and high ones cost it nothing.
type linkTable []*link

// get returns the link with a handle, or nil.
func (t linkTable) get(handle uint32) *link {
	if handle < uint32(len(t)) && t[handle].handle == handle {
		return t[handle] // the usual case: peers number their links from 0
	}
	if i, found := t.find(handle); found {
		return t[i]
	}
	return nil
}

func (t linkTable) find(handle uint32) (int, bool) {
	return slices.BinarySearchFunc(t, handle, func(l *link, handle uint32) int {
		return int(int64(l.handle) - int64(handle))
	})
}

// with returns the table with one more link, whose handle must be free.
func (t linkTable) with(l *link) linkTable {
	i, _ := t.find(l.handle)
	return slices.Insert(t, i, l)
}

// without returns a copy of the table without the link with a handle. A loop over the old table may go on.
func (t linkTable) without(handle uint32) linkTable {
	i, found := t.find(handle)
	if !found {
		return t
	}
	return slices.Concat(t[:i], t[i+1:])
}
