package emulator

import "minibus/internal/amqp/message"

// Standing is the state of a message as people see it. Unlike [State], which the journal stores, it tells locked
// messages apart.
type Standing uint8

// The standings.
const (
	StandingActive Standing = iota
	StandingLocked          // an active or deferred one
	StandingDeferred
	StandingScheduled
)

// standing returns how the message stands.
func (e *entry) standing() Standing {
	switch {
	case e.mark == markLocked:
		return StandingLocked
	case e.state == Deferred:
		return StandingDeferred
	case e.state == Scheduled:
		return StandingScheduled
	}
	return StandingActive
}

// MessageView shows a message to somebody who only looks, as it was at one moment.
type MessageView struct {
	Sequence      int64
	FirstSequence int64 // at its first submission, if that was another one; else 0
	Standing      Standing
	State         State
	Enqueued      int64 // ms
	Expires       int64 // ms; 0: never
	Scheduled     int64 // ms; for when, of scheduled ones; else 0
	DeliveryCount uint32
	Size          int64   // bytes of the message as it was sent
	Reason        string  // of the dead-lettering
	Source        string  // where it was dead-lettered before it was forwarded
	LockedUntil   int64   // ms; of locked ones; else 0
	LockedBy      *Client // nil: unknown, the broker itself, or not locked
	ByBroker      bool    // the broker delays its redelivery, to try again what failed

	d *Delivery
}

// viewLocked notes how an entry stands.
func (ms Messages) viewLocked(e *entry) *MessageView {
	s := &MessageView{Sequence: e.seq, FirstSequence: e.first, Standing: e.standing(), State: e.state,
		Enqueued: e.enqueued, Expires: e.expires(), Scheduled: e.extras().due,
		DeliveryCount: e.count, Size: int64(e.body.size), Reason: e.extras().reason, Source: e.extras().source,
		d: newPeekDelivery(ms.q, e, nil)}
	s.d.withState = true
	s.d.body = e.body.data
	if s.Standing == StandingLocked {
		s.LockedUntil, s.ByBroker = e.lock.expires(), e.lock.retries || e.lock.blocksSession
		if c := e.lock.holder; c != nil {
			s.LockedBy = c.client
		}
	}
	return s
}

// HeldBy says in words who has locked the message.
func (s *MessageView) HeldBy() string {
	switch {
	case s.ByBroker:
		return "the broker, which tries again what failed"
	case s.LockedBy == nil:
		return "a client of which nothing more is known"
	}
	return s.LockedBy.String()
}

// Load reads the content if it is not in memory. It fails with CodeMessageNotFound if the message has been removed
// meanwhile.
func (s *MessageView) Load() error {
	if err := s.d.q.bodies.readAll([]*Delivery{s.d}); err != nil {
		return err
	}
	if s.d.body == nil {
		return s.d.q.Messages().missing(s.d.seq)
	}
	return nil
}

// Sections returns the message as its receivers get it, without its body, and the sections of the body as they were
// sent. The content must have been loaded, as that of what [Messages.Browse] shows is.
func (s *MessageView) Sections() (head, body message.Message, err error) {
	if body, err = message.Scan(s.d.body); err != nil {
		return head, body, err
	}
	p, bare := s.d.patch(&body), body
	bare.Body = message.Span{}
	head, err = message.Scan(p.Append(nil, &bare))
	return head, body, err
}

// Get returns a message of a sub-queue by its number. It locks, moves and reads nothing; [MessageView.Load] reads the
// content.
func (ms Messages) Get(sub SubQueue, seq int64) (*MessageView, error) {
	q := ms.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.use(); err != nil {
		return nil, err
	}
	var found *MessageView
	q.subQueue(sub).look(seq, func(e *entry) bool {
		if e.seq == seq && e.mark == markPending {
			return true // its old self may follow
		}
		if e.seq == seq {
			found = ms.viewLocked(e)
		}
		return false
	})
	if found == nil {
		return nil, ms.missing(seq)
	}
	return found, nil
}

func (ms Messages) missing(seq int64) *Error {
	return errorf(CodeMessageNotFound, ms.q.path, "There is no message with the sequence number %d.", seq)
}
