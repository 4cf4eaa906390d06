package rawclient

import (
	"errors"
	"fmt"
	"time"

	"github.com/Azure/go-amqp"

	amqptypes "minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// Receiver is a link from an entity, in peek-lock mode unless RemovingReceiver opened it.
type Receiver struct {
	s       *Session
	handle  uint32
	remote  uint32 // the server's handle
	taken   uint32 // deliveries so far
	credit  uint32 // granted and not used
	drained bool   // the server has answered a drain
	partial *Delivery
	ready   []*Delivery
}

// Delivery is a message. It is locked until it is settled, unless its link receives and deletes.
type Delivery struct {
	Message amqp.Message

	id      uint32
	encoded []byte
}

// Receiver opens a link from an entity, in peek-lock mode. It has no credit yet.
func (s *Session) Receiver(address string) (*Receiver, error) {
	return s.AttachReceiver(&frames.Attach{
		RcvSettleMode: 1, HasRcvSettleMode: true, Source: &frames.Source{Address: address, HasAddress: true},
	})
}

// RemovingReceiver opens a link that receives and deletes. sessionID names the session, and is "" for an entity without
// sessions. The link has no credit yet.
func (s *Session) RemovingReceiver(address, sessionID string) (*Receiver, error) {
	const settled = 1 // by the sender
	source := &frames.Source{Address: address, HasAddress: true}
	if sessionID != "" {
		source.Filter = amqptypes.Map{{Key: amqptypes.Symbol("com.microsoft:session-filter"), Value: sessionID}}
	}
	return s.AttachReceiver(&frames.Attach{SndSettleMode: settled, HasSndSettleMode: true, Source: source})
}

// AttachReceiver opens a link from the source of an attach, under the attach's name if it has one. The link has no
// credit yet.
func (s *Session) AttachReceiver(a *frames.Attach) (*Receiver, error) {
	a.Role, a.Target = frames.RoleReceiver, &frames.Target{}
	r := &Receiver{s: s, handle: s.handles}
	answer, err := s.attach(a)
	if err != nil {
		return nil, fmt.Errorf("attach receiver: %w", err)
	}
	r.remote = answer.Handle
	s.receivers[r.remote] = r
	return r, nil
}

// Open returns the unused credit.
func (r *Receiver) Open() uint32 { return r.credit }

// Credit lets the server send n more messages.
func (r *Receiver) Credit(n uint32) error {
	r.credit += n
	return r.flow(false)
}

// Drain takes the unused credit back, and waits for the answer. Receive then returns what came before it.
func (r *Receiver) Drain() error {
	r.drained = false
	if err := r.flow(true); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	if err := r.s.c.await(time.Now().Add(patience), func() bool { return r.drained }); err != nil {
		return fmt.Errorf("drain: %w", unanswered(err))
	}
	return nil
}

// Detach ends the link, for good if closed, and waits for the answer.
func (r *Receiver) Detach(closed bool) error {
	delete(r.s.receivers, r.remote)
	return r.s.detach(r.handle, r.remote, closed)
}

func (r *Receiver) flow(drain bool) error {
	return r.s.c.send(r.s.channel, &frames.Flow{
		IncomingWindow: r.s.window, NextIncomingID: r.s.next, HasNextIncomingID: true,
		OutgoingWindow: window, NextOutgoingID: r.s.sent, Handle: r.handle, HasHandle: true,
		DeliveryCount: r.taken, HasDeliveryCount: true, LinkCredit: r.credit, HasLinkCredit: true, Drain: drain,
	})
}

// collect takes one frame of a delivery.
func (r *Receiver) collect(t *frames.Transfer, payload []byte) error {
	if r.partial == nil {
		r.partial = &Delivery{id: t.DeliveryID}
	}
	d := r.partial
	d.encoded = append(d.encoded, payload...)
	if t.More {
		return nil
	}
	r.partial = nil
	r.taken++
	r.credit--
	if err := d.Message.UnmarshalBinary(d.encoded); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	r.ready = append(r.ready, d)
	return nil
}

// Receive waits for the next message. It returns [ErrNothing] if none came in time.
func (r *Receiver) Receive(wait time.Duration) (*Delivery, error) {
	if err := r.s.c.await(time.Now().Add(wait), func() bool { return len(r.ready) > 0 }); err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	d := r.ready[0]
	r.ready = r.ready[1:]
	return d, nil
}

// ReceiveOne waits for the next message as a JMS client without a prefetch does: it grants credit for one message, and
// takes the credit back if none comes in time.
func (r *Receiver) ReceiveOne(wait time.Duration) (*Delivery, error) {
	if r.credit == 0 {
		if err := r.Credit(1); err != nil {
			return nil, fmt.Errorf("receive: %w", err)
		}
	}
	d, err := r.Receive(wait)
	if !errors.Is(err, ErrNothing) {
		return d, err
	}
	if err := r.Drain(); err != nil {
		return nil, err
	}
	return r.Receive(0)
}

// Forget settles a message as part of a transaction, and waits for no answer: a transacted JMS client knows the message
// no longer.
func (r *Receiver) Forget(d *Delivery, as frames.DeliveryState, txn Txn) error {
	return r.s.c.send(r.s.channel, &frames.Disposition{
		Role: frames.RoleReceiver, First: d.id, Settled: true, State: &frames.TransactionalState{TxnID: txn, Outcome: as},
	})
}

// Settle sends the outcome of a message, perhaps as part of a transaction, and waits for the server's answer, which
// must be the same. A refusal is a *frames.Error. After a rollback the message is still locked, but its delivery is
// settled on the link: only its token on $management can settle it then.
func (r *Receiver) Settle(d *Delivery, as frames.DeliveryState, txn Txn) error {
	state := as
	if txn != nil {
		state = &frames.TransactionalState{TxnID: txn, Outcome: as}
	}
	disposition := &frames.Disposition{Role: frames.RoleReceiver, First: d.id, Last: d.id, HasLast: true, State: state}
	if err := r.s.c.send(r.s.channel, disposition); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	got, err := r.s.answer(frames.RoleSender, d.id)
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	if o := outcome(got, txn); o == nil || o.Name() != as.Name() || isError(o) && !isError(as) {
		return fmt.Errorf("settle: %w", refusal(got))
	}
	return nil
}

func isError(state frames.DeliveryState) bool {
	rejected, ok := state.(*frames.Rejected)
	return ok && rejected.Error != nil
}
