package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/url"
	"time"

	"minibus/compat-tests/rawclient"
	"minibus/internal/amqp/frames"
)

// Handles of the two links of a lean connection.
const (
	leanSender uint32 = iota
	leanReceiver
)

// leanFrame bounds the frames that the broker may send, in bytes.
const leanFrame = 256 << 10

// leanWindow is the number of transfers announced to the broker, more than any run has.
const leanWindow = 1 << 30

// A lean connection is a client without a library: one goroutine, frames that are encoded once, and answers that are
// counted and not looked at further. What a run takes with it is the broker's share and the kernel's. Its numbers wrap
// around, as those of AMQP do: some brokers begin just before that.
type lean struct {
	*rawclient.Wire
	message  []byte // encoded
	sent     uint32 // the next delivery-id, and the next transfer-id
	tag      [4]byte
	outgoing frames.Transfer // of the message that send appends
	window   uint32          // the first transfer-id that the broker's session does not take yet
	granted  uint32          // the first delivery-id that the broker's link does not take yet

	incoming uint32 // the transfer-id of the frame that comes next
	counted  uint32 // the delivery-count of the receiving link as it was attached
	came     uint32 // deliveries that have begun
	delivery uint32 // the delivery-id of the last one

	transfer    frames.Transfer    // of the frame that take returned, with its kind
	disposition frames.Disposition // the same
}

type leanKind uint8

const (
	leanOther leanKind = iota
	leanTransfer
	leanDisposition
)

// dialLean connects, and attaches a sender and a receiver.
func (r *runner) dialLean() (*lean, error) {
	u, err := url.Parse(r.options.url)
	if err != nil {
		return nil, fmt.Errorf("parse url: %w", err)
	}
	nc, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", u.Host, err)
	}
	l := &lean{Wire: rawclient.NewWire(nc, leanFrame)}
	l.outgoing = frames.Transfer{Handle: leanSender, HasDeliveryID: true, HasMessageFormat: true, DeliveryTag: l.tag[:]}
	if l.message, err = r.newMessage().MarshalBinary(); err == nil {
		err = l.open(r.options, u.Hostname())
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("open a connection: %w", err)
	}
	return l, nil
}

// open opens the connection, its session and its links. The receiver is attached as one that settles first: RabbitMQ knows no
// other, and answers it all the same when it does not settle, as Minibus does.
func (l *lean) open(o options, host string) error {
	if err := l.SASL(o.user, o.password); err != nil {
		return err
	}
	if err := l.AMQP(); err != nil {
		return err
	}
	out := &frames.Attach{
		LinkName: "out", Handle: leanSender, Role: frames.RoleSender, HasInitialDeliveryCount: true,
		Source: &frames.Source{}, Target: &frames.Target{Address: o.target, HasAddress: true},
	}
	in := &frames.Attach{
		LinkName: "in", Handle: leanReceiver, Role: frames.RoleReceiver,
		Source: &frames.Source{Address: o.source, HasAddress: true}, Target: &frames.Target{},
	}
	for _, p := range []frames.Performative{
		&frames.Open{ContainerID: "bench", Hostname: host, MaxFrameSize: leanFrame, HasMaxFrameSize: true},
		&frames.Begin{IncomingWindow: leanWindow, OutgoingWindow: leanWindow, HandleMax: 7, HasHandleMax: true},
		out, in,
	} {
		l.Append(0, p)
		if err := l.Flush(); err != nil {
			return err
		}
		if err := l.awaitFrame(p.Name()); err != nil {
			return err
		}
	}
	return nil
}

// awaitFrame takes frames until one of that name comes. It fails if the broker ends something meanwhile.
func (l *lean) awaitFrame(name string) error {
	for {
		_, body, err := l.Next()
		if err != nil {
			return err
		}
		p, err := l.rare(body)
		if err != nil {
			return err
		}
		if p != nil && p.Name() == name {
			return nil
		}
	}
}

// rare decodes a frame that is none of those that come for each message, and keeps what it says about numbers, windows
// and credit. It fails if the broker ends something with it.
func (l *lean) rare(body []byte) (frames.Performative, error) {
	p, _, err := frames.DecodeBody(bytes.Clone(body))
	switch p := p.(type) {
	case *frames.Begin:
		l.incoming = p.NextOutgoingID
		l.window = l.sent + p.IncomingWindow
	case *frames.Attach:
		if p.Role == frames.RoleSender {
			l.counted = p.InitialDeliveryCount
		}
	case *frames.Flow:
		l.window = p.NextIncomingID + p.IncomingWindow
		if p.HasHandle && p.Handle == leanSender {
			l.granted = p.DeliveryCount + p.LinkCredit
		}
	case *frames.Detach, *frames.End, *frames.Close:
		return nil, fmt.Errorf("the broker sent %s: %+v", p.Name(), p)
	}
	return p, err
}

// maySend reports whether the broker takes another transfer.
func (l *lean) maySend() bool {
	return int32(l.window-l.sent) > 0 && int32(l.granted-l.sent) > 0
}

// send appends a transfer.
func (l *lean) send() {
	binary.BigEndian.PutUint32(l.tag[:], l.sent)
	l.outgoing.DeliveryID = l.sent
	l.sent++
	l.Append(0, &l.outgoing, l.message...)
}

// credit lets so many more deliveries come than came so far.
func (l *lean) credit(more uint32) {
	l.Append(0, &frames.Flow{
		HasNextIncomingID: true, NextIncomingID: l.incoming, IncomingWindow: leanWindow,
		NextOutgoingID: l.sent, OutgoingWindow: leanWindow, Handle: leanReceiver, HasHandle: true,
		DeliveryCount: l.counted + l.came, HasDeliveryCount: true, LinkCredit: more, HasLinkCredit: true,
	})
}

// accept appends a disposition of the last deliveries, which came whole.
func (l *lean) accept(last, count uint32, settled bool) {
	l.Append(0, &frames.Disposition{
		Role: frames.RoleReceiver, First: last - count + 1, Last: last, HasLast: count > 1,
		Settled: settled, State: &frames.Accepted{},
	})
}

// take returns the next frame.
func (l *lean) take() (leanKind, error) {
	_, body, err := l.Next()
	switch {
	case err != nil:
		return leanOther, err
	case frames.IsTransfer(body):
		return leanTransfer, l.takeTransfer(body)
	case l.disposition.Decode(body) == nil:
		if _, ok := l.disposition.State.(*frames.Accepted); !ok {
			return leanOther, fmt.Errorf("the broker answered with the state %v", l.disposition.State)
		}
		return leanDisposition, nil
	}
	_, err = l.rare(body)
	return leanOther, err
}

func (l *lean) takeTransfer(body []byte) error {
	begun := !l.transfer.More
	if _, err := l.transfer.Decode(body); err != nil {
		return err
	}
	l.incoming++
	if begun {
		l.delivery = l.transfer.DeliveryID
		l.came++
	}
	return nil
}

// await takes frames until one of a kind comes.
func (l *lean) await(kind leanKind) error {
	for {
		if got, err := l.take(); err != nil || got == kind {
			return err
		}
	}
}

// answered returns how many deliveries the frame that take returned is about if it is a disposition.
func (l *lean) answered(kind leanKind) uint32 {
	switch {
	case kind != leanDisposition:
		return 0
	case !l.disposition.HasLast:
		return 1
	}
	return l.disposition.Last - l.disposition.First + 1
}

// sinceOf adds the time since a moment.
func (s *series) sinceOf(then time.Time) { s.add(time.Since(then)) }

// sinceThen adds the time since *then to a series, and sets *then to now.
func (s *series) sinceThen(then *time.Time) {
	now := time.Now()
	s.add(now.Sub(*then))
	*then = now
}
