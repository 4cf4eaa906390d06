package amqpserver_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// script turns the bytes of a fuzz input into frames. Small numbers are likely, so that frames refer to each other.
type script struct{ data []byte }

func (s *script) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *script) bool() bool { return s.byte()&1 == 1 }

// number is mostly small, and sometimes at the ends of the circle.
func (s *script) number() uint32 {
	switch b := s.byte(); {
	case b < 0xe0:
		return uint32(b % 8)
	case b < 0xf0:
		return 1<<32 - 1 - uint32(b&0xf)
	default:
		return uint32(s.byte())<<8 | uint32(s.byte())
	}
}

func (s *script) bytes() []byte {
	n := min(int(s.byte()), len(s.data))
	b := s.data[:n]
	s.data = s.data[n:]
	return b
}

var fuzzAddresses = []string{
	"q", "q/$deadletterqueue", "q/$management", "$cbs", "nosuch", "amqps://h/q", "/Q", "", "s", "s/$management",
	"s/$deadletterqueue", "q2",
}

func (s *script) address() string { return fuzzAddresses[int(s.byte())%len(fuzzAddresses)] }

func (s *script) attach() *frames.Attach {
	handle, mode := s.number(), s.byte()
	a := amqptest.SenderAttach(handle, s.address())
	if s.bool() {
		a = amqptest.ReceiverAttach(handle, s.address())
	}
	a.SndSettleMode, a.HasSndSettleMode = mode%3, mode&4 != 0
	switch mode >> 4 {
	case 1:
		a.Source = nil
	case 2:
		a.Target = nil
	case 3:
		a.Target, a.Coordinator = nil, &frames.Coordinator{}
	case 4:
		a.Properties = amqp.Map{{Key: amqp.Symbol("k"), Value: s.bytes()}}
	case 5, 6, 7, 8:
		s.filter(a)
	case 9:
		a.Properties = amqp.Map{{Key: amqp.Symbol("com.microsoft:transfer-destination-address"), Value: s.address()}}
	case 10, 11, 12, 13, 14, 15:
		s.jms(a)
	}
	return a
}

// jms makes an attach one of a JMS client: a temporary queue or topic, the relay, a lookup, a browser, a selector, or a
// consumer of a topic.
func (s *script) jms(a *frames.Attach) {
	what := s.byte()
	switch {
	case a.Role == frames.RoleSender && what%4 == 0:
		a.Target = &frames.Target{}
	case a.Role == frames.RoleSender:
		a.Target = &frames.Target{Dynamic: true, Capabilities: []amqp.Symbol{"temporary-topic"}[:what%2]}
	case what&1 != 0:
		a.Source.DistributionMode = "copy"
	case what&2 != 0:
		selecting(a, "n > 0 OR JMSPriority BETWEEN 1 AND 9")
	case what&4 != 0:
		a.LinkName, a.Source = fmt.Sprintf("sub|%d", what), nil
	default:
		all := []amqp.Symbol{"topic", "shared", "global"}
		*a = *consumerAttach(a.Handle, fmt.Sprintf("sub|%d", what&8), "t", all[:1+what>>4%3]...)
		a.Source.Durable = uint32(what >> 6 & 1)
	}
}

// filter adds a session filter to an attach.
func (s *script) filter(a *frames.Attach) {
	if a.Role != frames.RoleReceiver || a.Source == nil {
		return
	}
	var id any
	switch s.byte() % 4 {
	case 1:
		id = "a"
	case 2:
		id = ""
	case 3:
		id = s.bytes()
	}
	if s.bool() {
		id = amqp.Described{Descriptor: uint64(0x137000000C), Value: id}
	}
	a.Source.Filter = amqp.Map{{Key: filterKey, Value: id}}
	a.Properties = amqp.Map{{Key: amqp.Symbol("com.microsoft:timeout"), Value: s.number() * 1000}}
}

// transaction returns the id of a transaction, usually one that an earlier declare has opened: they are numbered.
func (s *script) transaction() []byte {
	if n := s.byte(); n < 0xf0 {
		return fmt.Appendf(nil, "c1.%d", n%5)
	}
	return s.bytes()
}

func (s *script) state() frames.DeliveryState {
	switch s.byte() % 8 {
	case 0:
		return nil
	case 1:
		return &frames.Accepted{}
	case 2:
		return &frames.Released{}
	case 3:
		return &frames.Modified{UndeliverableHere: s.bool(), MessageAnnotations: amqp.Map{{Key: "k", Value: s.bytes()}}}
	case 4:
		return &frames.Rejected{Error: &frames.Error{Condition: "x",
			Info: amqp.Map{{Key: "DeadLetterReason", Value: string(s.bytes())}}}}
	case 5:
		return &frames.TransactionalState{TxnID: s.transaction(), Outcome: s.outcome()}
	case 6:
		return &frames.Received{}
	}
	return &frames.Rejected{}
}

func (s *script) outcome() frames.DeliveryState {
	return []frames.DeliveryState{
		nil, &frames.Accepted{}, &frames.Released{}, &frames.Rejected{}, &frames.Modified{},
		&frames.Modified{UndeliverableHere: true},
	}[s.byte()%6]
}

// control returns a message to the coordinator.
func (s *script) control() []byte {
	if s.bool() {
		return (&frames.Discharge{TxnID: s.transaction(), Fail: s.bool()}).AppendTo(nil)
	}
	return (&frames.Declare{}).AppendTo(nil)
}

func (s *script) transfer() (*frames.Transfer, []byte) {
	flags := s.byte()
	t := &frames.Transfer{
		Handle: s.number(), DeliveryID: s.number(), HasDeliveryID: flags&1 == 0, More: flags&2 != 0,
		Aborted: flags&4 != 0,
		Settled: flags&8 != 0, HasMessageFormat: true,
	}
	if flags&16 != 0 {
		t.MessageFormat = 0x80013700
	}
	if flags&64 != 0 {
		t.State = &frames.TransactionalState{TxnID: s.transaction()}
	}
	if flags&128 != 0 {
		return t, s.control()
	}
	payload := s.bytes()
	switch {
	case flags&32 == 0:
		payload = amqptest.Message(string(payload))
	case len(payload) > 0 && payload[0] < 8:
		payload = sessionMessage("a", string(payload))
	}
	return t, payload
}

func (s *script) flow() *frames.Flow {
	flags := s.byte()
	return &frames.Flow{
		NextIncomingID: s.number(), HasNextIncomingID: flags&1 == 0, IncomingWindow: s.number() * 16,
		Handle: s.number(), HasHandle: flags&2 == 0, DeliveryCount: s.number(), HasDeliveryCount: flags&4 == 0,
		LinkCredit: s.number(), HasLinkCredit: flags&8 == 0, Drain: flags&16 != 0, Echo: flags&32 != 0,
	}
}

// frame appends the next frame of the script.
func (s *script) frame(dst []byte) []byte {
	kind, channel := s.byte(), uint16(s.byte()%3)
	var p frames.Performative
	switch kind % 12 {
	case 0:
		p = &frames.Begin{NextOutgoingID: s.number(), IncomingWindow: s.number() * 16, HandleMax: s.number(),
			HasHandleMax: s.bool()}
	case 1, 2, 3:
		p = s.attach()
	case 4, 5:
		p = s.flow()
	case 6, 7:
		t, payload := s.transfer()
		dst, start := frames.BeginFrame(dst, frames.TypeAMQP, channel)
		return frames.EndFrame(append(t.AppendTo(dst), payload...), start)
	case 8:
		p = &frames.Disposition{Role: frames.Role(!s.bool()), First: s.number(), Last: s.number(), HasLast: s.bool(),
			Settled: s.bool(), State: s.state()}
	case 9:
		p = &frames.Detach{Handle: s.number(), Closed: s.bool()}
	case 10:
		if kind > 200 {
			p = &frames.End{}
			break
		}
		return append(dst, frames.Heartbeat...)
	default:
		switch kind {
		case 11:
			return append(dst, s.bytes()...) // anything
		case 23:
			p = &frames.Close{}
		case 35:
			p = &frames.Open{ContainerID: "again"}
		default:
			return dst
		}
	}
	return frames.AppendFrame(dst, channel, p)
}

// FuzzSession plays random frames to a server, which must neither panic nor leak, and must serve other clients
// meanwhile.
func FuzzSession(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', 1, 0, 1, 4, 0, 1, 0, 4,
		0, 0, 1, 7, 1, 0, 7})
	f.Add([]byte("\x01\x00\x00\x00\x02\x00\x06\x00\x02\x00\x00\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x06\x00\x00\x00\x00\x04bbbb\x09\x00\x00\x01"))
	f.Add([]byte("\x03\x00\x01\x05\x03\x01\x00\x04\x00\x00\x00\x00\x01\x00\x07\x08\x00\x01\x00\x07\x01\x00\x01\x0a\x00"))
	// A waiting accept, credit, a message for it, an abandon; the same for a named session, with a settlement in no
	// transaction.
	f.Add([]byte("\x01\x00\x00\x50\x08\x01\x08\x00\x00\x07\x04\x00\x00\x00\x07\x00\x00\x05\x01\x00\x01\x00\x08\x00" +
		"\x06\x00\x20\x01\x00\x02\x01x\x08\x00\x00\x00\x00\x00\x00\x03\x00\x00"))
	f.Add([]byte("\x01\x00\x00\x50\x08\x01\x08\x01\x01\x07\x04\x00\x00\x00\x07\x00\x00\x05\x01\x00\x01\x00\x08\x00" +
		"\x06\x00\x20\x01\x00\x02\x01x\x08\x00\x00\x00\x00\x00\x00\x05\x00\x01\x09\x00\x00\x01"))
	// A temporary queue, a consumer of a topic, a browser, a selector, a lookup; the first two leave.
	f.Add([]byte("\x01\x00\x00\xa0\x00\x00\x01\x01\x00\x01\xa0\x00\x01\x00\x01\x00\x02\xa0\x00\x01\x01" +
		"\x01\x00\x03\xa0\x00\x01\x02\x01\x00\x04\xa0\x00\x01\x04\x09\x00\x00\x01\x09\x00\x01\x00"))
	// A control link, a declare, a send in the transaction, a discharge.
	f.Add([]byte("\x01\x00\x00\x30\x00\x00\x01\x00\x01\x00\x00\x00\x06\x00\x80\x00\x00\x00\x06\x00\x40\x01\x01\x01\x02hi\x06\x00\x80\x00\x02\x01\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// On real time: a busy loop would stop fake time.
		watchdog := time.AfterFunc(20*time.Second, func() {
			stacks := make([]byte, 1<<20)
			panic(fmt.Sprintf("no end after 20 seconds with %q\n%s", data, stacks[:runtime.Stack(stacks, true)]))
		})
		defer watchdog.Stop()
		synctest.Test(t, func(t *testing.T) { playScript(t, data) })
	})
}

func playScript(t *testing.T, data []byte) {
	var trace strings.Builder
	b := newBench(t, func(o *amqpserver.Options) { o.Trace = &trace })
	q, err := b.ns.Entity("q")
	if err != nil {
		t.Fatal(err)
	}
	b.queue("q2", emulator.QueueOptions{})
	b.topic()
	s := b.queue("s", emulator.QueueOptions{RequiresSession: true, LockDuration: 10 * time.Second})
	client, server := amqptest.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.server.ServeConn(server)
	}()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	stream := append([]byte(nil), amqptest.HeaderAMQP...)
	stream = frames.AppendFrame(stream, 0, &frames.Open{ContainerID: "fuzz", MaxFrameSize: 512, HasMaxFrameSize: true})
	stream = frames.AppendFrame(stream, 0, &frames.Begin{IncomingWindow: 100, OutgoingWindow: 100})
	for s := (&script{data}); len(s.data) > 0; {
		stream = s.frame(stream)
	}
	if _, err := client.Write(stream); err != nil && len(stream) == 0 {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Second)
	_ = client.Close()
	<-ended
	if log := b.log.String(); strings.Contains(log, "panic") {
		t.Fatalf("panic:\n%s\n%s", log, trace.String())
	}
	for _, id := range []string{"", "a"} { // no link holds a session any more
		if c, err := s.Sessions().Accept(id, emulator.Accept{Notify: func() {}, Lost: func(error) {}}); err != nil {
			t.Errorf("accept session %q: %v", id, err)
		} else {
			c.Close()
		}
	}
	for _, path := range b.paths() { // what lives only as long as its link is gone
		if strings.HasPrefix(path, "jms-temp-") || strings.HasSuffix(path, "$ND") {
			t.Errorf("%s is left", path)
		}
	}
	// No link waits for messages any more: new messages are available to all.
	before := q.Counts().Active
	b.send(t, b.client(t), "q", "x")
	time.Sleep(10 * time.Minute) // all locks have expired
	if got := q.Counts(); got.Active+got.DeadLetter < before+1 {
		t.Errorf("counts %+v after a message was sent to %d", got, before)
	}
	c, err := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if q.Counts().Active > q.Counts().Deferred && len(c.Take(nil, 1)) != 1 {
		t.Errorf("nothing can be received: counts %+v", q.Counts())
	}
	c.Close()
}
