package rawclient

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/go-amqp"

	"minibus/internal/amqp/frames"
)

// Txn is the id of a transaction; nil means none.
type Txn []byte

// Session is an AMQP session. With a coordinator and links to entities in one session, it acts as a client with
// transactions over several entities; a plain client has its coordinator in another session.
type Session struct {
	c         *Conn
	channel   uint16
	window    uint32 // transfers that the server may have under way
	handles   uint32
	sent      uint32                    // the next delivery-id
	next      uint32                    // the server's next transfer-id
	attached  map[string]*frames.Attach // answers by link name
	detached  []*frames.Detach          // in the order of arrival
	receivers map[uint32]*Receiver      // by the server's handle
	answers   []*frames.Disposition     // not yet taken by answer
}

// handle takes a frame from the server to this session.
func (s *Session) handle(f frame) error {
	switch body := f.body.(type) {
	case *frames.Attach:
		s.attached[body.LinkName] = body
		s.detached = slices.DeleteFunc(s.detached, func(d *frames.Detach) bool { return d.Handle == body.Handle })
	case *frames.Flow:
		if r := s.receivers[body.Handle]; r != nil && body.HasHandle && body.Drain {
			r.drained, r.taken, r.credit = true, body.DeliveryCount, body.LinkCredit
		}
	case *frames.Detach:
		s.detached = append(s.detached, body)
	case *frames.Disposition:
		s.answers = append(s.answers, body)
	case *frames.Transfer:
		s.next++
		if r := s.receivers[body.Handle]; r != nil {
			return r.collect(body, f.payload)
		}
	case *frames.End:
		if body.Error != nil {
			return fmt.Errorf("the server ended the session: %w", body.Error)
		}
		return errors.New("the server ended the session")
	}
	return nil
}

// attach opens a link. A refusal is the server's error, a *frames.Error.
func (s *Session) attach(a *frames.Attach) (*frames.Attach, error) {
	if a.LinkName == "" {
		a.LinkName = fmt.Sprintf("link %d of session %d", s.handles, s.channel)
	}
	delete(s.attached, a.LinkName) // of a link that has ended
	a.Handle = s.handles
	s.handles++
	if err := s.c.send(s.channel, a); err != nil {
		return nil, err
	}
	err := s.c.await(time.Now().Add(patience), func() bool { return s.attached[a.LinkName] != nil })
	if err != nil {
		return nil, err
	}
	answer := s.attached[a.LinkName]
	source := a.Role == frames.RoleReceiver && answer.Source != nil
	target := a.Role == frames.RoleSender && (answer.Target != nil || answer.Coordinator != nil)
	if source || target {
		return answer, nil
	}
	if err := s.c.await(time.Now().Add(patience), func() bool { return s.detachOf(answer.Handle) != nil }); err != nil {
		return nil, err
	}
	if d := s.detachOf(answer.Handle); d.Error != nil {
		return nil, d.Error
	}
	return nil, errors.New("the link was refused without an error")
}

// detach ends a link, and waits for the answer.
func (s *Session) detach(handle, remote uint32, closed bool) error {
	if err := s.c.send(s.channel, &frames.Detach{Handle: handle, Closed: closed}); err != nil {
		return err
	}
	err := s.c.await(time.Now().Add(patience), func() bool { return s.detachOf(remote) != nil })
	if err != nil {
		return fmt.Errorf("detach: %w", unanswered(err))
	}
	if d := s.detachOf(remote); d.Error != nil {
		return fmt.Errorf("detach: %w", d.Error)
	}
	return nil
}

// unanswered keeps a missing answer apart from a missing message.
func unanswered(err error) error {
	if errors.Is(err, ErrNothing) {
		return errors.New("the server does not answer")
	}
	return err
}

func (s *Session) detachOf(handle uint32) *frames.Detach {
	for _, d := range s.detached {
		if d.Handle == handle {
			return d
		}
	}
	return nil
}

// Sender is a link to an entity.
type Sender struct {
	Address string // of the target in the server's answer

	s      *Session
	handle uint32
	remote uint32 // the server's handle
}

// Sender opens a link to an entity.
func (s *Session) Sender(address string) (*Sender, error) {
	return s.AttachSender(&frames.Attach{Target: &frames.Target{Address: address, HasAddress: true}})
}

// Coordinator is a link that declares and discharges transactions.
type Coordinator struct{ sender *Sender }

// Coordinator opens a link to the transaction coordinator.
func (s *Session) Coordinator() (*Coordinator, error) {
	sender, err := s.AttachSender(&frames.Attach{Coordinator: &frames.Coordinator{}})
	return &Coordinator{sender}, err
}

// AttachSender opens a link to the target of an attach.
func (s *Session) AttachSender(a *frames.Attach) (*Sender, error) {
	a.Role = frames.RoleSender
	a.HasInitialDeliveryCount = true
	a.Source = &frames.Source{}
	sender := &Sender{s: s, handle: s.handles}
	answer, err := s.attach(a)
	if err != nil {
		return nil, fmt.Errorf("attach sender: %w", err)
	}
	sender.remote = answer.Handle
	if answer.Target != nil {
		sender.Address = answer.Target.Address
	}
	return sender, nil
}

// Detach ends the link, for good if closed, and waits for the answer.
func (l *Sender) Detach(closed bool) error { return l.s.detach(l.handle, l.remote, closed) }

// Send sends a message, perhaps as part of a transaction, and waits for the answer. A refusal is a *frames.Error.
func (l *Sender) Send(m *amqp.Message, txn Txn) error {
	encoded, err := m.MarshalBinary()
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	state, err := l.transfer(encoded, m.Format, txn)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	if _, ok := outcome(state, txn).(*frames.Accepted); !ok {
		return fmt.Errorf("send: %w", refusal(state))
	}
	return nil
}

// transfer sends an encoded message and returns the state in the server's answer.
func (l *Sender) transfer(encoded []byte, format uint32, txn Txn) (frames.DeliveryState, error) {
	id := l.s.sent
	l.s.sent++
	t := &frames.Transfer{
		Handle: l.handle, DeliveryID: id, HasDeliveryID: true, DeliveryTag: fmt.Append(nil, id),
		MessageFormat: format, HasMessageFormat: true,
	}
	if txn != nil {
		t.State = &frames.TransactionalState{TxnID: txn}
	}
	if err := l.s.c.send(l.s.channel, t, encoded...); err != nil {
		return nil, err
	}
	return l.s.answer(frames.RoleReceiver, id)
}

// answer waits for the state of a delivery from the other end of its link.
func (s *Session) answer(role frames.Role, id uint32) (state frames.DeliveryState, err error) {
	err = s.c.await(time.Now().Add(patience), func() bool {
		for _, d := range s.answers {
			last := d.First
			if d.HasLast {
				last = d.Last
			}
			if d.Role == role && d.First <= id && id <= last {
				state = d.State
				s.answers = nil // only one delivery at a time waits for an answer
				return true
			}
		}
		return false
	})
	return state, err
}

// Declare opens a transaction.
func (c *Coordinator) Declare() (Txn, error) {
	state, err := c.sender.transfer((&frames.Declare{}).AppendTo(nil), 0, nil)
	if err != nil {
		return nil, fmt.Errorf("declare: %w", err)
	}
	declared, ok := state.(*frames.Declared)
	if !ok {
		return nil, fmt.Errorf("declare: %w", refusal(state))
	}
	return declared.TxnID, nil
}

// Discharge commits a transaction, or rolls it back. A refusal is a *frames.Error.
func (c *Coordinator) Discharge(txn Txn, fail bool) error {
	state, err := c.sender.transfer((&frames.Discharge{TxnID: txn, Fail: fail}).AppendTo(nil), 0, nil)
	if err != nil {
		return fmt.Errorf("discharge: %w", err)
	}
	if _, ok := state.(*frames.Accepted); !ok {
		return fmt.Errorf("discharge: %w", refusal(state))
	}
	return nil
}

// outcome returns the outcome in a state, inside of a transaction's state if there is one.
func outcome(state frames.DeliveryState, txn Txn) frames.DeliveryState {
	if inside, ok := state.(*frames.TransactionalState); ok && string(inside.TxnID) == string(txn) {
		return inside.Outcome
	}
	if txn != nil {
		return nil
	}
	return state
}

// refusal returns the error in a state.
func refusal(state frames.DeliveryState) error {
	if inside, ok := state.(*frames.TransactionalState); ok {
		state = inside.Outcome
	}
	if rejected, ok := state.(*frames.Rejected); ok && rejected.Error != nil {
		return rejected.Error
	}
	if state == nil {
		return errors.New("the server's answer has no state")
	}
	return fmt.Errorf("the server answered with %s", state.Name())
}
