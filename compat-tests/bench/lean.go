package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/Azure/go-amqp"

	"minibus/internal/amqp/frames"
)

// Handles of the two links of a lean connection.
const (
	leanSender uint32 = iota
	leanReceiver
)

// leanWindow is the number of transfers announced to the broker, more than any run has.
const leanWindow = 1 << 30

// A lean connection is a client without a library: one goroutine, frames that are encoded once, and answers that are counted
// and not looked at further. What a run takes with it is the broker's share and the kernel's.
type lean struct {
	nc      net.Conn
	in      []byte // in[r:w] is read and not yet taken
	r, w    int
	out     []byte // not yet written
	message []byte // encoded
	sent    uint32 // the next delivery-id

	transfer    frames.Transfer    // of the frame that next returned, with its kind
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
	l := &lean{nc: nc, in: make([]byte, 256<<10)}
	if l.message, err = r.newMessage().MarshalBinary(); err == nil {
		err = l.open(r.options, u.Hostname())
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("open a connection: %w", err)
	}
	return l, nil
}

func (l *lean) open(o options, host string) error {
	if err := l.sasl(o); err != nil {
		return err
	}
	settle := uint8(amqp.ReceiverSettleModeSecond)
	if o.forget {
		settle = uint8(amqp.ReceiverSettleModeFirst)
	}
	for _, p := range []frames.Performative{
		&frames.Open{ContainerID: "bench", Hostname: host, MaxFrameSize: 256 << 10, HasMaxFrameSize: true},
		&frames.Begin{IncomingWindow: leanWindow, OutgoingWindow: leanWindow, HandleMax: 7, HasHandleMax: true},
		&frames.Attach{LinkName: "out", Handle: leanSender, Role: frames.RoleSender, HasInitialDeliveryCount: true,
			Source: &frames.Source{}, Target: &frames.Target{Address: o.target, HasAddress: true}},
		&frames.Attach{LinkName: "in", Handle: leanReceiver, Role: frames.RoleReceiver, RcvSettleMode: settle, HasRcvSettleMode: true,
			Source: &frames.Source{Address: o.source, HasAddress: true}, Target: &frames.Target{}},
	} {
		l.append(p)
		if err := l.flush(); err != nil {
			return err
		}
		if err := l.await(p.Name()); err != nil {
			return err
		}
	}
	return nil
}

// sasl goes through the SASL layer and the protocol header of AMQP.
func (l *lean) sasl(o options) error {
	start := &frames.SASLInit{Mechanism: "ANONYMOUS"}
	if o.user != "" {
		start = &frames.SASLInit{Mechanism: "PLAIN", InitialResponse: fmt.Appendf(nil, "\x00%s\x00%s", o.user, o.password)}
	}
	if err := l.header("AMQP\x03\x01\x00\x00"); err != nil {
		return err
	}
	l.out = frames.AppendSASLFrame(l.out, start)
	if err := l.flush(); err != nil {
		return err
	}
	if err := l.await((&frames.SASLOutcome{}).Name()); err != nil {
		return err
	}
	return l.header("AMQP\x00\x01\x00\x00")
}

func (l *lean) header(h string) error {
	l.out = append(l.out, h...)
	if err := l.flush(); err != nil {
		return err
	}
	if err := l.fill(len(h)); err != nil {
		return err
	}
	if got := l.in[l.r : l.r+len(h)]; string(got) != h {
		return fmt.Errorf("the broker answered with the header %x", got)
	}
	l.r += len(h)
	return nil
}

// await takes frames until one of that name comes. It fails if the broker ends something meanwhile.
func (l *lean) await(name string) error {
	for {
		p, err := l.rare()
		if err != nil {
			return err
		}
		switch p := p.(type) {
		case *frames.SASLOutcome:
			if p.Code != 0 {
				return fmt.Errorf("the broker refused the user: code %d", p.Code)
			}
		case *frames.Detach, *frames.End, *frames.Close:
			return fmt.Errorf("the broker answered %s with %s: %+v", name, p.Name(), p)
		}
		if p != nil && p.Name() == name {
			return nil
		}
	}
}

func (l *lean) append(p frames.Performative) { l.out = frames.AppendFrame(l.out, 0, p) }

// send appends a transfer.
func (l *lean) send() {
	var start int
	l.out, start = frames.BeginFrame(l.out, frames.TypeAMQP, 0)
	t := frames.Transfer{Handle: leanSender, DeliveryID: l.sent, HasDeliveryID: true, HasMessageFormat: true,
		DeliveryTag: []byte{byte(l.sent >> 24), byte(l.sent >> 16), byte(l.sent >> 8), byte(l.sent)}}
	l.sent++
	l.out = append(t.AppendTo(l.out), l.message...)
	l.out = frames.EndFrame(l.out, start)
}

// credit lets so many more deliveries come than came so far.
func (l *lean) credit(taken, more uint32) {
	l.append(&frames.Flow{HasNextIncomingID: true, NextIncomingID: taken, IncomingWindow: leanWindow, NextOutgoingID: l.sent, OutgoingWindow: leanWindow,
		Handle: leanReceiver, HasHandle: true, DeliveryCount: taken, HasDeliveryCount: true, LinkCredit: more, HasLinkCredit: true})
}

// accept appends a disposition of a range of deliveries.
func (l *lean) accept(first, last uint32, settled bool) {
	l.append(&frames.Disposition{Role: frames.RoleReceiver, First: first, Last: last, HasLast: last != first, Settled: settled, State: &frames.Accepted{}})
}

func (l *lean) flush() error {
	_, err := l.nc.Write(l.out)
	l.out = l.out[:0]
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// fill reads until n bytes are there.
func (l *lean) fill(n int) error {
	if l.w-l.r >= n {
		return nil
	}
	if l.r == l.w || l.r+n > len(l.in) {
		l.w, l.r = copy(l.in, l.in[l.r:l.w]), 0
	}
	for l.w-l.r < n {
		got, err := l.nc.Read(l.in[l.w:])
		if l.w += got; err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
	return nil
}

// frame returns the body of the next frame. It is valid until the next call.
func (l *lean) frame() ([]byte, error) {
	if err := l.fill(frames.HeaderSize); err != nil {
		return nil, err
	}
	h, err := frames.ParseHeader(l.in[l.r:l.w])
	if err != nil {
		return nil, err
	}
	if int(h.Size) > len(l.in) {
		return nil, errors.New("the broker sent a frame that is too large")
	}
	if err := l.fill(int(h.Size)); err != nil {
		return nil, err
	}
	body := l.in[l.r+h.BodyStart() : l.r+int(h.Size)]
	l.r += int(h.Size)
	return body, nil
}

// more reports whether a whole frame has been read already.
func (l *lean) more() bool {
	h, err := frames.ParseHeader(l.in[l.r:l.w])
	return err == nil && int(h.Size) <= l.w-l.r
}

func (l *lean) rare() (frames.Performative, error) {
	body, err := l.frame()
	if err != nil {
		return nil, err
	}
	p, _, err := frames.DecodeBody(bytes.Clone(body))
	return p, err
}

// next returns the next frame that is a transfer or a disposition.
func (l *lean) next() (leanKind, error) {
	for {
		body, err := l.frame()
		switch {
		case err != nil:
			return leanOther, err
		case frames.IsTransfer(body):
			_, err := l.transfer.Decode(body)
			return leanTransfer, err
		case l.disposition.Decode(body) == nil:
			if _, ok := l.disposition.State.(*frames.Accepted); !ok && !l.disposition.Settled {
				return leanOther, fmt.Errorf("the broker answered with the state %v", l.disposition.State)
			}
			return leanDisposition, nil
		}
		p, _, err := frames.DecodeBody(bytes.Clone(body))
		if err != nil {
			return leanOther, err
		}
		switch p.(type) {
		case *frames.Detach, *frames.End, *frames.Close:
			return leanOther, fmt.Errorf("the broker sent %s: %+v", p.Name(), p)
		}
	}
}

// answered returns how many deliveries the disposition is about.
func (l *lean) answered() uint32 {
	if !l.disposition.HasLast {
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
