package amqpserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"minibus/amqpserver/cbs"
	"minibus/amqpserver/management"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
)

// errEnded says that an injected fault has ended the link or the connection: nothing is left to answer.
var errEnded = errors.New("an injected fault has ended the link or the connection")

// errDropped ends a connection without a close.
var errDropped = errors.New("the connection was cut by an injected fault")

// attempt describes an operation of the link's client for faults.
func (l *link) attempt(op emulator.Operation) *emulator.Attempt {
	return &emulator.Attempt{Operation: op, Entity: l.queue, Path: l.node.path, Sub: l.node.sub, Client: l.client()}
}

// hit returns the fault that hits an operation of the link's client; nil: none. Without faults it reads one flag.
func (l *link) hit(op emulator.Operation) *emulator.Fault {
	ns := l.s.c.ns
	if !ns.Faults().Any() {
		return nil
	}
	return ns.Faults().Hit(l.attempt(op))
}

// inject carries out what a fault does instead of an operation. It returns the error to answer with, errEnded if it has
// ended the link or connection, or nil if the operation goes on.
func (l *link) inject(fault *emulator.Fault, op emulator.Operation) error {
	if fault == nil {
		return nil
	}
	switch fault.Options().Kind {
	case emulator.FaultThrottle, emulator.FaultRefuse:
		return fault.Error(l.attempt(op))
	case emulator.FaultDetach:
		l.detach(l.amqpError(fault.Error(l.attempt(op))))
		return errEnded
	}
	return l.s.c.inject(fault, l.attempt(op))
}

// inject is link.inject for what concerns the whole connection.
func (c *conn) inject(fault *emulator.Fault, a *emulator.Attempt) error {
	switch fault.Options().Kind {
	case emulator.FaultDrop:
		c.log.Info("connection cut", "reason", fault.String())
		c.dead = errDropped
	case emulator.FaultClose:
		e := fault.Error(a)
		condition := management.Condition(e.Code)
		if fault.Condition() == "connection-forced" {
			condition = amqp.CondForced
		}
		c.close(connErrorf(condition, "%s", e.Text))
	case emulator.FaultExpireToken:
		c.tokens.expireTokens(fault)
	default:
		return nil
	}
	return errEnded
}

// hitAttach lets a fault hit the attach of a link for messages, which is not there yet.
func (l *link) hitAttach() error {
	op := emulator.OperationAttachSender
	if l.role == frames.RoleReceiver {
		op = emulator.OperationAttachReceiver
	}
	if l.node.kind != nodeEntity {
		return nil
	}
	fault := l.hit(op)
	switch {
	case fault == nil:
		return nil
	case fault.Options().Kind == emulator.FaultDetach:
		return fault.Error(l.attempt(op))
	}
	return l.inject(fault, op)
}

// hitTaken lets faults hit the deliveries that the link has taken from an index on. Those before a hit one are
// written.
func (o *outgoingLink) hitTaken(from int) {
	for i := from; i < len(o.taken); i++ {
		fault := o.hit(emulator.OperationReceive)
		if fault == nil {
			continue
		}
		o.giveBack(i)
		o.write()
		if err := o.inject(fault, emulator.OperationReceive); err != nil && !errors.Is(err, errEnded) {
			o.detach(o.amqpError(err))
		}
		return
	}
}

// hitSettlement lets a fault hit the settlement of a delivery. It returns a fault that concerns the answer. over says
// that the settlement is answered, or gets no answer: the message stays locked.
func (ds *deliveries) hitSettlement(id serial, u unsettled, v *verdict) (fault *emulator.Fault, over bool) {
	ns := ds.s.c.ns
	if !ns.Faults().Any() {
		return nil, false
	}
	a := u.link.attempt(emulator.OperationSettle)
	a.Locks = true
	a.Session = u.link.accept != nil
	a.Tokens = []emulator.LockToken{u.lock.Token()}
	if fault = ns.Faults().Hit(a); fault == nil || fault.Options().After {
		return fault, false
	}
	err := u.link.inject(fault, emulator.OperationSettle)
	switch {
	case errors.Is(err, errEnded):
		return nil, true
	case err != nil && v.transaction != nil:
		ds.refuseIn(id, u, v, err)
		return nil, true
	case err != nil:
		op := settleOp{s: ds.s, id: id, quiet: v.quiet, link: u.link}
		op.answerWith(err)
		return nil, true
	}
	fault.TakeLocks(u.link.queue, a.Tokens)
	return fault, false
}

// hitRequest lets a fault hit a request to $management. It returns the fault if that concerns the operation itself, and
// the error to answer with, or errEnded if no answer follows.
func (in *incomingLink) hitRequest(m *message.Message) (*emulator.Fault, error) {
	ns := in.s.c.ns
	if !ns.Faults().Any() {
		return nil, nil
	}
	a := in.attempt("")
	management.Attempt(m, a)
	fault := ns.Faults().Hit(a)
	if fault != nil && fault.Options().After {
		return nil, nil // it is about links that messages take
	}
	return fault, in.inject(fault, a.Operation)
}

// hitToken lets a fault hit a token that is put for a path. over says that no answer follows.
func (in *incomingLink) hitToken(path string) (refused *cbs.Status, over bool) {
	ns := in.s.c.ns
	if !ns.Faults().Any() {
		return nil, false
	}
	n := parseAddress(path)
	a := &emulator.Attempt{Operation: emulator.OperationAuthenticate, Path: n.path, Sub: n.sub, Client: in.client()}
	a.Entity, _ = ns.Entity(n.path) // nil: there is none
	fault := ns.Faults().Hit(a)
	if fault == nil {
		return nil, false
	}
	err := in.inject(fault, a.Operation)
	if err == nil || errors.Is(err, errEnded) {
		return nil, err != nil
	}
	e := amqpErrorOf(fault.Error(a))
	return &cbs.Status{Code: management.Status(fault.Error(a)), Condition: e.condition, Text: e.text}, false
}

// expireTokens forgets the connection's tokens, or those for the entity that the fault names, as if they had expired.
// It detaches the links that needed them (ERR-3), and does so even where tokens are not checked.
func (k *credentials) expireTokens(fault *emulator.Fault) {
	path, _ := entitypath.CutSubQueue(strings.ToLower(fault.Options().Entity))
	for held := range k.held {
		if path == "" || path == held || held == "" || strings.HasPrefix(path, held+"/") {
			delete(k.held, held)
		}
	}
	for l := range k.c.sessions.links {
		if l.state != linkAttached || l.queue == nil || path != "" && !strings.EqualFold(l.queue.Path(), path) {
			continue
		}
		l.forceDetach("RenewToken", fmt.Sprintf("The token has expired (%s).", fault.Source()))
	}
}

// starved reports whether an injected fault keeps messages from the link.
func (l *link) starved(op emulator.Operation) bool {
	ns := l.s.c.ns
	if !ns.Faults().Any() {
		l.starvedBy = 0
		return false
	}
	l.starvedBy = ns.Faults().Starves(l.attempt(op), l.starvedBy)
	return l.starvedBy != 0
}

// faultsChanged lets a new fault hit what is connected, and finds out which links are starved from now on.
func (c *conn) faultsChanged(injected *emulator.Fault) {
	if c.state != stateOpen {
		return
	}
	if injected != nil && slices.Contains(injected.Options().Operations, emulator.OperationNow) {
		c.hitNow(injected)
	}
	for l := range c.sessions.links {
		if l.state != linkAttached || l.node.kind != nodeEntity {
			continue
		}
		switch x := l.self.(type) {
		case *incomingLink:
			if x.starved(emulator.OperationSend) && x.credit > 0 {
				x.credit = 0
				x.writeFlow()
			}
			x.topUp()
		case *outgoingLink:
			x.due = true
			c.runQueue.add(x)
		}
	}
}

// hitNow lets a fault hit the connection, or its links for messages.
func (c *conn) hitNow(fault *emulator.Fault) {
	detaches := fault.Options().Kind == emulator.FaultDetach
	links := 0
	for l := range c.sessions.links {
		if l.state != linkAttached || l.node.kind != nodeEntity {
			continue
		}
		links++
		a := l.attempt(emulator.OperationNow)
		switch {
		case !fault.Concerns(a):
		case !detaches: // once for the connection
			if fault.TryHit(a) {
				_ = c.inject(fault, a) // errEnded
			}
			return
		case fault.TryHit(a):
			_ = l.inject(fault, emulator.OperationNow) // errEnded
		}
	}
	a := &emulator.Attempt{Operation: emulator.OperationNow, Client: c.client()}
	if links == 0 && !detaches && fault.TryHit(a) {
		_ = c.inject(fault, a) // errEnded
	}
}

// faultsChanged tells the connections of a namespace.
func (s *Server) faultsChanged(ns *emulator.Namespace, injected *emulator.Fault) {
	for _, c := range s.openIn(ns) {
		c.post(func() { c.faultsChanged(injected) })
	}
}

// maxDelayed is how many delayed answers a connection keeps before it reads nothing more.
const maxDelayed = 10_000

// delayedAnswers are the answers of a connection that an injected fault delays, in the order in which they are due.
// Those of a link keep their order: an answer waits for the delayed ones before it. A nil pointer has none. The loop
// owns them, and the connection's timer wakes it for the first.
type delayedAnswers struct {
	list []delayedAnswer
	last map[*link]time.Time // when the last answer of a link is due
}

type delayedAnswer struct {
	at   time.Time
	link *link
	send func()
}

// delay keeps an answer back if a fault or the order of the link's answers says so. It reports whether it does; then
// send is called later.
func (c *conn) delay(l *link, fault *emulator.Fault, send func()) bool {
	var delay time.Duration
	if fault != nil {
		delay = fault.Options().Delay
	}
	at := time.Now().Add(delay)
	if c.delayed != nil {
		if last := c.delayed.last[l]; at.Before(last) {
			at = last
		}
	}
	if c.draining || l.left || l.s.left || c.state != stateOpen || !at.After(time.Now()) {
		return false
	}
	if c.delayed == nil {
		c.delayed = &delayedAnswers{last: make(map[*link]time.Time)}
	}
	i, _ := slices.BinarySearchFunc(c.delayed.list, at, func(a delayedAnswer, at time.Time) int {
		if a.at.After(at) {
			return 1
		}
		return -1 // behind those that are due at the same time
	})
	c.delayed.list = slices.Insert(c.delayed.list, i, delayedAnswer{at, l, send})
	c.delayed.last[l] = at
	c.armTimer()
	return true
}

// sendDelayed sends those of the delayed answers that are ready.
func (c *conn) sendDelayed(ready func(*delayedAnswer) bool) {
	if c.delayed == nil {
		return
	}
	var due []delayedAnswer
	c.delayed.list = slices.DeleteFunc(c.delayed.list, func(a delayedAnswer) bool {
		if !ready(&a) {
			return false
		}
		due = append(due, a)
		return true
	})
	left := make(map[*link]time.Time)
	for _, a := range c.delayed.list {
		left[a.link] = a.at
	}
	if c.delayed.last = left; len(left) == 0 {
		c.delayed = nil
	}
	for _, a := range due {
		a.send()
	}
}

// due returns when the first answer is due; zero: there is none.
func (la *delayedAnswers) due() time.Time {
	if la == nil {
		return time.Time{}
	}
	return la.list[0].at
}

// sendAllDelayed sends all of them, since the connection ends.
func (c *conn) sendAllDelayed() { c.sendDelayed(func(*delayedAnswer) bool { return true }) }
